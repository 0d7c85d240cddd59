"""SIGTERM reaches the handler in every state of the loop."""

import os
import re
import signal
import textwrap
import time
from pathlib import Path

import pytest

STOPPED = """
    import os, sys, time
    print("imported", flush=True)

    class Handler:
        def begin(self, job):
            print("begun", flush=True)

        def epoch(self, job, epoch, streams):
            for chunk in streams["train"]:
                print("reading", flush=True)
            print("read", flush=True)

        def end(self, job):
            print("saved", job.stopping, time.time(), flush=True)
"""


@pytest.mark.parametrize("prefetch", [0, 1 << 20], ids=["plain", "prefetch"])
@pytest.mark.parametrize("state", ["no fifo", "no writer", "no byte", "a pause", "bytes for ever"])
def test_sigterm_ends_any_wait_and_lets_the_handler_save(host, outer_python, state, prefetch):
    """StopTrainingJob sends SIGTERM, then SIGKILL after 120 seconds."""
    job = host(STOPPED, python=outer_python, epochs=3, prefetch=prefetch)
    if state == "no writer":
        os.mkfifo(job.data / "train_0")
    elif state == "no byte":
        job.feed("train", [], linger=20)
    elif state == "a pause":
        job.feed("train", [b"x"], linger=20)
    elif state == "bytes for ever":
        job.feed("train", iter(lambda: bytes(1 << 16), None))
    job.start()
    awaited = "reading\n" if state in ("a pause", "bytes for ever") else "begun\n"
    assert awaited in iter(job.process.stdout.readline, "")
    time.sleep(0.15)  # into the wait
    sent = time.time()
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 0, job.err
    answer = re.search(r"saved True ([\d.]+)", job.out)
    assert float(answer[1]) - sent < 5, "SIGTERM was noticed too late"
    assert job.out.index("read\n") < answer.start()
    if state != "no fifo":
        assert re.search(r"^Stopped in epoch 0; read \d+ bytes; time: ", job.out, re.MULTILINE)
        assert job.metrics()[0]["end"] == "stopped"
    assert "Completed" not in job.out
    assert job.err == ""


@pytest.mark.parametrize("prefetch", [0, 1 << 20], ids=["plain", "prefetch"])
@pytest.mark.parametrize("state", ["no fifo", "no byte", "some flow"])
def test_sigterm_ends_the_waits_for_several_channels(host, outer_python, state, prefetch):
    handler = """
        import time
        from smspec_runtime import pipe

        class Handler:
            def epoch(self, job, epoch, streams):
                print("begun", flush=True)
                for name, item in pipe.merge(streams):
                    pass

            def end(self, job):
                print("saved", job.stopping, time.time(), flush=True)
    """
    job = host(handler, channels=["a", "b", "c"], python=outer_python, epochs=3, prefetch=prefetch)
    if state != "no fifo":
        job.feed("a", [], linger=20)
        job.feed("b", iter(lambda: bytes(1 << 12), None) if state == "some flow" else [], linger=20)
    job.start()
    assert job.process.stdout.readline() == "begun\n"
    time.sleep(0.15)  # into the wait
    sent = time.time()
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 0, job.err
    assert float(re.search(r"saved True ([\d.]+)", job.out)[1]) - sent < 5, "SIGTERM was noticed too late"
    assert job.err == ""


def test_sigterm_during_computation_ends_the_epoch(host):
    """The handler's own work is not interrupted; what it reads next ends."""
    handler = """
        import time

        class Handler:
            def epoch(self, job, epoch, streams):
                for number, line in enumerate(streams["train"]):
                    print("working", number, flush=True)
                    until = time.monotonic() + 1
                    while time.monotonic() < until:
                        pass
                print("stopped", streams["train"].stopped, flush=True)

            def end(self, job):
                print("saved", flush=True)
    """
    job = host(handler, read={"train": "lines"}, epochs=5)
    job.feed("train", [b"line\n" * 1000])
    job.start()
    assert job.process.stdout.readline() == "working 0\n"
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 0, job.err
    assert job.out.splitlines()[0] == "stopped True"
    assert job.out.splitlines()[-1] == "saved"


def test_sigterm_during_import_ends_the_job(host):
    job = host("import time\nprint('importing', flush=True)\ntime.sleep(1)\n" + textwrap.dedent(STOPPED))
    job.start()
    assert job.process.stdout.readline() == "importing\n"
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 0, job.err
    assert job.out == "imported\n"


def test_sigterm_does_not_hide_an_error(host):
    handler = """
        def handler(job, epoch, streams):
            print("up", flush=True)
            list(streams["train"])
            raise RuntimeError("while saving")
    """
    job = host(handler).start("author:handler")
    assert job.process.stdout.readline() == "up\n"
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 1
    assert job.err.endswith("RuntimeError: while saving\n")


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_do_not_stop_the_handler(host, start):
    """A pool ends its workers with SIGTERM: they must die of it, and the job must not."""
    handler = """
        import multiprocessing, time

        def work():
            time.sleep(60)

        def handler(job, epoch, streams):
            train = iter(streams["train"])
            next(train)
            worker = multiprocessing.get_context("START").Process(target=work)
            worker.start()
            time.sleep(0.3)
            worker.terminate()
            worker.join(10)
            print("worker", worker.exitcode, sum(map(len, train)), job.stopping)
    """
    job = host(handler.replace("START", start))
    job.feed("train", [bytes(1 << 18)] * 8)
    assert job.start("author:handler").end() == 0, job.err
    assert re.search(r"worker -15 \d+ False", job.out), job.out + job.err
    assert job.metrics()[0]["bytes"] == 1 << 21


def test_waiting_uses_little_cpu(host):
    """A wait sleeps in the kernel."""
    job = host(STOPPED).start()
    assert "begun\n" in iter(job.process.stdout.readline, "")
    time.sleep(0.3)

    def ticks():
        return sum(map(int, Path(f"/proc/{job.process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))

    before = ticks()
    time.sleep(1)
    assert ticks() - before <= 5  # of 100
    job.process.send_signal(signal.SIGTERM)
    assert job.end() == 0

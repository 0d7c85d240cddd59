"""Readers without the loop: channels of the job and paths."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from support.pipe.fifo_writers import Writer, descriptors_of, eventually
from support.pipe.pipe_host import RUNTIME, Host


@pytest.fixture
def script(tmp_path):
    """Run a script in a host with the Pipe channel `train`."""
    processes = []

    def start(text, python=sys.executable, **settings):
        host = Host(tmp_path / "ml", text, python=python, **settings)
        environment = dict(os.environ, SAGEMAKER_BASE_DIR=str(host.root), PYTHONPATH=str(RUNTIME))
        host.process = subprocess.Popen(
            [python, "author.py"],
            cwd=host.root / "code",
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(host.process)
        return host

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def wait_until_it_has_opened(host):
    """Create the first FIFO without a writer, wait until the script opens it, and return its path."""
    path = host.data / "train_0"
    os.mkfifo(path)
    eventually(lambda: descriptors_of(path, host.process.pid), "the script to open its FIFO")
    return path


def test_channel_has_epochs(script, any_python):
    host = script(
        """
        import smspec_runtime
        channel = smspec_runtime.job().channel("train")
        for stream in channel.epochs(2):
            print(list(stream), stream.origin)
        for stream in channel.epochs(1):
            print(list(stream), stream.origin)
        """,
        python=any_python,
        read={"train": "lines"},
    )
    host.feed("train", [b"a\nb\n"], [b"c\n"], [b"d\n"])
    assert host.end() == 0, host.err
    assert host.out.splitlines() == [
        "[b'a\\n', b'b\\n'] channel `train`, epoch 0",
        "[b'c\\n'] channel `train`, epoch 1",
        "[b'd\\n'] channel `train`, epoch 2",
    ]


def test_leaving_an_epoch_early_releases_its_writer(script):
    host = script(
        """
        import smspec_runtime
        for stream in smspec_runtime.job().channel("train").epochs(2):
            print(len(next(iter(stream))) > 0)
        """
    )
    writers = host.feed("train", *[[bytes(1 << 20)] * 64] * 2)
    assert host.end() == 0, host.err
    assert host.out == "True\nTrue\n"
    assert [writer.join() or writer.broken for writer in writers] == [True, True]


def test_file_channel_has_no_epochs(script):
    host = script(
        """
        import smspec_runtime
        list(smspec_runtime.job().channel("side").epochs(1))
        """,
        channels=["train", "side"],
    )
    assert host.end() == 1
    assert "ValueError: channel `side` is in File mode" in host.err


@pytest.mark.parametrize("how", ["job.stopping", "its own handler"])
def test_script_handling_sigterm_is_woken(script, any_python, how):
    """A handler that only sets a flag leaves its program waiting in read or open (PEP 475)."""
    ask = {
        "job.stopping": "job.stopping",
        "its own handler": "signal.signal(signal.SIGTERM, lambda number, frame: print('heard'))",
    }
    host = script(
        """
        import signal, time
        import smspec_runtime
        job = smspec_runtime.job()
        ASK
        print("up", flush=True)
        for stream in job.channel("train").epochs(5):
            list(stream)
            print(stream.stopped, time.time())
        """.replace("ASK", ask[how]),
        python=any_python,
    )
    assert host.process.stdout.readline() == "up\n"
    wait_until_it_has_opened(host)
    sent = time.time()
    host.process.send_signal(signal.SIGTERM)
    assert host.end() == 0, host.err
    (noticed,) = re.findall("True (.*)", host.out)
    assert float(noticed) - sent < 5  # without being woken it would wait for minutes


def test_script_not_handling_sigterm_dies(script):
    host = script(
        """
        import smspec_runtime
        print("up", flush=True)
        for stream in smspec_runtime.job().channel("train").epochs(5):
            list(stream)
        """
    )
    assert host.process.stdout.readline() == "up\n"
    wait_until_it_has_opened(host)
    host.process.send_signal(signal.SIGTERM)
    assert host.end() == -signal.SIGTERM


def test_other_signals_do_not_stop_a_stream(script):
    host = script(
        """
        import signal
        import smspec_runtime
        signal.signal(signal.SIGUSR1, lambda number, frame: print("usr1", flush=True))
        print("up", flush=True)
        for stream in smspec_runtime.job().channel("train").epochs(1):
            print(b"".join(map(bytes, stream)))
        """
    )
    assert host.process.stdout.readline() == "up\n"
    path = wait_until_it_has_opened(host)
    host.process.send_signal(signal.SIGUSR1)
    assert host.process.stdout.readline() == "usr1\n"
    Writer(path, [b"data"])
    assert host.end() == 0, host.err
    assert host.out == "b'data'\n"


def test_streams_can_be_read_in_threads(script, any_python):
    """Only the main thread may ask to hear signals; the others wait just as well."""
    host = script(
        """
        import threading
        import smspec_runtime.pipe
        job = smspec_runtime.job()
        found = []

        def read(epoch):
            with smspec_runtime.pipe.open("{}_{}".format(job.channel("train").path, epoch)) as stream:
                found.append(b"".join(map(bytes, stream)))

        threads = [threading.Thread(target=read, args=(epoch,)) for epoch in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(sorted(found))
        """,
        python=any_python,
    )
    host.feed("train", [b"a"], [b"b"], [b"c"], pause=0.05)
    assert host.end() == 0, host.err
    assert host.out == "[b'a', b'b', b'c']\n"


def test_event_loop_keeps_its_wakeup_descriptor(script):
    """asyncio asks to hear signals as well; it is left alone."""
    host = script(
        """
        import asyncio, os, signal
        import smspec_runtime.pipe

        async def main():
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: heard.set_result("heard"))
            heard = asyncio.get_running_loop().create_future()
            list(smspec_runtime.pipe.open(__file__))
            os.kill(os.getpid(), signal.SIGUSR1)
            print(await asyncio.wait_for(heard, 10))

        asyncio.run(main())
        """
    )
    assert host.end() == 0, host.err
    assert host.out == "heard\n"


def test_open_reads_a_fifo_by_path(tmp_path):
    from smspec_runtime import pipe

    writer = Writer(tmp_path / "train_0", [b"x\n"], create=True)
    assert list(pipe.open(str(tmp_path / "train_0"), read="lines")) == [b"x\n"]
    writer.join()

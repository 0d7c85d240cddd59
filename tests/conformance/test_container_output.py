"""Standard output and standard error arrive unchanged."""

import hashlib
import os
import random
import sys
import time

import pytest

from support.runtime.container import Container, wait_until


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def without_our_lines(stderr):
    return b"".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(b"smspec: "))


def test_standard_error_is_relayed_byte_for_byte(any_python, tmp_path):
    """No decoding, no stripping: indentation, control characters and broken UTF-8 included."""
    container = Container(tmp_path / "ml", any_python)
    noise = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(6000))
    script = """
import hashlib, os
noise = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(6000))
for start in range(0, len(noise), 777):
    os.write(2, noise[start:start + 777])
"""
    stderr = container.run_script(script).stderr
    assert hashlib.sha256(stderr[stderr.index(noise[:50]) :]).digest() == hashlib.sha256(noise).digest()


def test_standard_output_is_inherited(container):
    """It is the very file that the container was started with."""
    target = container.base / "stdout"
    with open(target, "wb") as file:
        done = container.run_script("import os; os.write(1, b'%d\\n\\xff\\n' % os.fstat(1).st_ino)", stdout=file)
    assert done.status == 0
    assert target.read_bytes() == b"%d\n\xff\n" % target.stat().st_ino


def test_standard_error_arrives_immediately(container):
    """Also what has no line feed yet: a progress bar."""
    script = "import sys, time; sys.stderr.write('10%'); sys.stderr.flush(); time.sleep(30)"
    with container.start_script(script) as process:
        os.set_blocking(process.stderr.fileno(), False)
        seen = bytearray()

        def arrived():
            seen.extend(process.stderr.read() or b"")
            return seen.endswith(b"10%")

        wait_until(arrived, 20)
        process.terminate()
        process.communicate(timeout=60)


def test_relay_does_not_wait_for_background_children(container):
    """A background child that keeps standard error open delays the end by a second at most."""
    script = """
import os, time
if os.fork() == 0:
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    time.sleep(30)
"""
    begun = time.monotonic()
    assert container.run_script(script).status == 0
    assert time.monotonic() - begun < 20


def test_stalled_reader_does_not_delay_signals(container):
    """With a full relay, SIGTERM must still reach the script."""
    script = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"seen\\n"), os._exit(0)))
os.write(1, b"ready\\n")
while True:
    os.write(2, b"x" * 65536)
"""
    with container.start_script(script) as process:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(0.3)  # Nothing to wait for: the point is that nothing happens any more.
        process.terminate()
        assert process.stdout.readline() == b"seen\n"
        assert process.wait(timeout=10) == 0
        process.stderr.close()


def test_million_short_lines_are_relayed(container):
    """Memory does not grow with the output: only its end is kept."""
    script = "import sys\nfor n in range(200000): sys.stderr.write('Exception %d\\n' % n)\nsys.exit(1)"
    begun = time.monotonic()
    done = container.run_script(script)
    assert time.monotonic() - begun < 20
    assert without_our_lines(done.stderr).count(b"\n") == 200_000
    assert done.failure.startswith("ExecuteUserScriptError: Exception 199999\n")


def test_fifty_megabytes_of_noise_are_relayed(container):
    """On both streams at once: not a byte lost, added or changed, and nothing grows."""
    script = """
import hashlib, os, random, sys, threading
def write(descriptor, seed):
    noise = random.Random(seed)
    digest = hashlib.sha256()
    for _ in range(25 << 4):
        piece = noise.getrandbits(8 << 16).to_bytes(1 << 16, "big")
        digest.update(piece)
        while piece:
            piece = piece[os.write(descriptor, piece):]
    return digest.hexdigest()
other = threading.Thread(target=lambda: write(1, "out"))
other.start()
digest = write(2, "err")
other.join()
with open(os.environ["SM_OUTPUT_DATA_DIR"] + "/digest", "w") as file:
    file.write(digest)
"""

    def noise(seed):
        source = random.Random(seed)
        return b"".join(source.getrandbits(8 << 16).to_bytes(1 << 16, "big") for _ in range(25 << 4))

    targets = {name: container.base / name for name in ("stdout", "stderr")}
    with open(targets["stdout"], "wb") as stdout, open(targets["stderr"], "wb") as stderr:
        assert container.run_script(script, stdout=stdout, stderr=stderr).status == 0
    assert targets["stdout"].read_bytes() == noise("out")
    before, mark, relayed = targets["stderr"].read_bytes().partition(b"-- train.py\n")
    assert mark and before.startswith(b"smspec: ")
    assert relayed == noise("err")


def test_script_may_close_its_standard_error(container):
    """Training goes on; it is not taken for its end."""
    script = (
        "import os, time; os.write(2, b'bye'); os.close(2); time.sleep(0.5); print('done', flush=True); os._exit(6)"
    )
    done = container.run_script(script)
    assert (done.status, done.stdout) == (6, b"done\n")
    assert done.failure.startswith("ExecuteUserScriptError: bye\nExitCode 6\n")


def test_unfinished_last_line_is_relayed(container):
    """Remaining data in the pipe is read when the script dies, with or without a line feed."""
    done = container.run_script("import os; os.write(2, b'x' * 60000 + b'\\nlast wor'); os._exit(1)")
    assert done.stderr.split(b"smspec: the job failed")[0].endswith(b"x\nlast wor")
    assert done.failure.startswith("ExecuteUserScriptError: last wor\n")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_closed_reader_does_not_end_the_job(container, stream):
    """A collector of logs that dies closes its end: neither we nor the program, on standard error, must notice."""
    script = """
import os, signal, sys, time
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
os.write(1, b"ready\\n")
os.write(2, b"ready\\n")
time.sleep(0.3)
for _ in range(100):
    os.write(2, b"x" * 10000 + b"\\n")
os.write(2, b"ValueError: the reason\\n")
os._exit(7)
"""
    with container.start_script(script) as process:
        gone = getattr(process, stream)
        while b"ready" not in gone.readline():
            pass
        gone.close()
        other = process.stderr if stream == "stdout" else process.stdout
        other.read()
        assert process.wait(60) == 7
    assert container.failure.startswith("ExecuteUserScriptError: ValueError: the reason\nExitCode 7\n")


def test_stalled_reader_does_not_delay_the_end(container):
    """The status and the reason are written although the output is not read."""
    script = """
import os
os.set_blocking(2, False)
try:
    while True:
        os.write(2, b"y" * 1000 + b"\\n")
except BlockingIOError:
    pass
os._exit(8)
"""
    with container.start_script(script) as process:
        assert process.wait(30) == 8
        process.stderr.close()
    assert "\nExitCode 8\n" in container.failure


def test_script_inherits_only_standard_streams(container):
    """Nothing leaks into it but the three standard streams."""
    container.write("code/show.sh", "#!/bin/sh\nls /proc/self/fd\n")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "show.sh"})
    assert done.stdout.split() == [b"0", b"1", b"2", b"3"]  # 3 is the directory that ls reads.
    assert sys.platform == "linux"

"""Standard output and standard error: whatever the program writes arrives as it was written."""

import hashlib
import os
import sys
import time

import pytest

from container import Container, wait_until


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


def test_standard_error_arrives_at_once(container):
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


def test_the_relay_does_not_wait_for_whoever_holds_the_pipe(container):
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
    assert time.monotonic() - begun < 5


def test_a_reader_that_stalls_does_not_keep_signals_from_the_program(container):
    """Nobody reads our standard error, the relay is full: SIGTERM must get through all the same."""
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


def test_a_million_short_lines(container):
    """Nothing grows with what a program says: only the end is kept."""
    script = "import sys\nfor n in range(200000): sys.stderr.write('Exception %d\\n' % n)\nsys.exit(1)"
    begun = time.monotonic()
    done = container.run_script(script)
    assert time.monotonic() - begun < 20
    assert without_our_lines(done.stderr).count(b"\n") == 200_000
    assert done.failure.startswith("ExecuteUserScriptError: Exception 199999\n")


def test_the_program_has_no_descriptors_of_ours(container):
    """Nothing leaks into it but the three standard streams."""
    container.write("code/show.sh", "#!/bin/sh\nls /proc/self/fd\n")
    done = container.run(environ={"SAGEMAKER_PROGRAM": "show.sh"})
    assert done.stdout.split() == [b"0", b"1", b"2", b"3"]  # 3 is the directory that ls reads.
    assert sys.platform == "linux"

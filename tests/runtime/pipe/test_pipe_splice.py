"""The reader moves data from the FIFO to a pipe of its own where the system allows it."""

import errno
import gc
import os
import shutil
import subprocess
import sys
import tempfile

import pytest

from smspec_runtime.pipe.fifo import PIPE_SIZE, SIDE_SIZE, enlarge
from smspec_runtime.pipe.stop_waits import Wake
from smspec_runtime.pipe.stream import Stream
from support.pipe import pipe_formats as formats
from support.pipe.fifo_writers import Writer, eventually
from support.pipe.pipe_host import RUNTIME

PREFETCH = pytest.mark.parametrize("prefetch", [0, 1 << 20], ids=["plain", "prefetch"])


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "train_0")
    return str(tmp_path / "train_0")


def stream_of(path, prefetch=0, wake=None):
    return Stream(path, "chunks", (), prefetch, channel="train", epoch=0, wake=wake)


def content(stream):
    return b"".join(map(bytes, stream.chunks()))


@pytest.mark.skipif(not hasattr(os, "splice"), reason="os.splice comes with Python 3.10")
def test_writer_continues_while_the_reader_works(fifo):
    """Bytes are moved aside before they are copied, so the first byte that is read makes room for many."""
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    held, more = enlarge(reader), SIDE_SIZE // 2
    writer = Writer(fifo, [bytes(held), bytes(more)])
    eventually(lambda: writer.written == held, "a full FIFO")
    stream = stream_of(fifo)
    assert stream.readinto(bytearray(1)) == 1
    writer.join()
    assert writer.written == held + more
    assert len(content(stream)) == held + more - 1
    os.close(reader)


@PREFETCH
def test_reader_works_without_splice(fifo, prefetch, monkeypatch):
    """Python 3.8 and 3.9 lack it, and a user whose pipes are used up gets ones too small for it to help."""
    data = formats.pattern(3 << 20)
    monkeypatch.delattr(os, "splice", raising=False)
    writer = Writer(fifo, [data])
    assert content(stream_of(fifo, prefetch)) == data
    writer.join()


@PREFETCH
def test_epoch_leaves_no_descriptor_open(fifo, prefetch):
    gc.collect()  # of earlier tests
    before = os.listdir("/proc/self/fd")
    for _ in range(2):
        writer = Writer(fifo, [bytes(1 << 20)])
        stream = stream_of(fifo, prefetch, wake=Wake())
        assert len(content(stream)) == 1 << 20
        writer.join()
        del stream
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == len(before)


@PREFETCH
def test_reader_works_at_the_pipe_limit(prefetch):
    """64 of 1 MiB; what is too small to move bytes aside is left unused."""
    directory = tempfile.TemporaryDirectory()
    os.chmod(directory.name, 0o755)
    path = os.path.join(directory.name, "train_0")
    os.mkfifo(path)
    os.chmod(path, 0o666)
    data = formats.pattern(3 << 20)
    child = os.fork()
    if not child:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setuid(65533)  # not the nobody of another test: pipes are counted per user
            held = [os.pipe() for _ in range(80)]
            assert min(enlarge(reader) for reader, _ in held) < PIPE_SIZE
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # else the writer's open would wait for ever
            Writer(path, [data])
            stream = stream_of(path, prefetch)
            assert content(stream) == data
            os.close(descriptor)
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    directory.cleanup()


DRAIN = """
import os, sys, threading
from smspec_runtime import pipe

path, prefetch = sys.argv[1], int(sys.argv[2])
data = os.urandom(3_000_001)


def write():
    with open(path, "wb", buffering=0) as fifo:
        for start in range(0, len(data), 300_007):  # each is written whole, as it fits or the write blocks
            fifo.write(data[start : start + 300_007])


threading.Thread(target=write, daemon=True).start()
stream, got, size = pipe.open(path, prefetch=prefetch), bytearray(), 1
while True:
    buffer = bytearray(size)
    count = stream.readinto(buffer)
    if not count:
        break
    got += buffer[:count]
    size = size * 7 % 99_991 + 1
assert bytes(got) == data and stream.end == "eof" and stream.stats.bytes == len(data)
"""


@PREFETCH
@pytest.mark.parametrize(("error", "first"), [("EPERM", "1"), ("ENOSYS", "3"), ("EINVAL", "2+3")])
@pytest.mark.skipif(not hasattr(os, "splice"), reason="os.splice comes with Python 3.10")
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_reader_works_where_splice_is_forbidden(fifo, tmp_path, error, first, prefetch):
    """Profiles of seccomp answer EPERM or ENOSYS; from the call refused on, bytes are read as they were before."""
    log = tmp_path / "calls"
    injection = f"splice:error={error}:when={first}"
    words = ["strace", "-f", "-qq", "-o", log, "-e", "trace=splice", "-e", f"inject={injection}"]
    words += [sys.executable, "-c", DRAIN, fifo, str(prefetch)]
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": str(RUNTIME)}, capture_output=True, text=True, timeout=60
    )
    if "PTRACE" in done.stderr:
        pytest.skip("this machine does not let strace look")
    assert done.returncode == 0, done.stderr
    assert log.read_text().count("(INJECTED)") == 1


@pytest.mark.skipif(not hasattr(os, "splice"), reason="os.splice comes with Python 3.10")
def test_reader_works_without_a_free_descriptor(fifo, monkeypatch):
    data = formats.pattern(1 << 20)

    def too_many():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    writer, stream = Writer(fifo, [data]), stream_of(fifo, wake=Wake())
    monkeypatch.setattr(os, "pipe", too_many)
    assert content(stream) == data
    writer.join()

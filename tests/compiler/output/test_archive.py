"""Archives: readable by common tools and equal on every machine."""

import gzip
import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.output.atomic_file import OutputFailed
from smspec.output.contents import chunks, stored_gzip
from smspec.render.tree import ArchiveFile, CopiedFile
from support.render.plan_samples import SOURCE_FILES, listing

ROOT = Path(__file__).parents[3]
DIGEST = "2160b5bce4351713367b0b7f2d0b5b5473a54db97367edcbe23a5320bc1aa5f7"
"""Of the archive of `SOURCE_FILES`: it may only change on purpose."""


def archive(tmp_path):
    members = tuple(CopiedFile(path=file.path, file=file) for file in listing(tmp_path / "made", SOURCE_FILES).files)
    return ArchiveFile(path="sourcedir.tar.gz", members=members)


def packed(tmp_path):
    return b"".join(chunks(archive(tmp_path), {}))


@given(st.lists(st.binary(max_size=100_000), max_size=5))
def test_gzip_reads_stored_blocks(parts):
    assert gzip.decompress(b"".join(stored_gzip(parts))) == b"".join(parts)


@pytest.mark.parametrize("size", [0, 1, 65534, 65535, 65536, 131070, 131071])
def test_boundaries_of_stored_blocks_are_right(size):
    content = b"a" * size
    assert gzip.decompress(b"".join(stored_gzip([content]))) == content
    assert gzip.decompress(b"".join(stored_gzip(content[i : i + 1] for i in range(min(size, 10))))) == content[:10]


def test_tarfile_reads_the_archive(tmp_path):
    with tarfile.open(fileobj=io.BytesIO(packed(tmp_path)), mode="r:gz") as tar:
        members = {member.name: member for member in tar}
        read = {name: tar.extractfile(member).read() for name, member in members.items()}
    assert read == SOURCE_FILES
    assert list(members) == sorted(SOURCE_FILES, key=str.encode)
    assert {(m.mtime, m.uid, m.gid, m.uname, m.gname, m.type) for m in members.values()} == {
        (0, 0, 0, "", "", tarfile.REGTYPE)
    }
    assert {name for name, member in members.items() if member.mode == 0o755} == {"bin/go"}
    assert {member.mode for member in members.values()} == {0o755, 0o644}


def test_gnu_tar_reads_the_archive(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(packed(tmp_path))
    (tmp_path / "out").mkdir()
    done = subprocess.run(["tar", "-xzf", "../a.tar.gz"], cwd=tmp_path / "out", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    out = tmp_path / "out"
    assert {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()} == SOURCE_FILES


def test_bytes_do_not_depend_on_the_machine(tmp_path, any_python):
    """Packed again by every Python, in another place and time zone, with another umask and hash seed."""
    script = (
        "import os, pathlib, sys\n"
        "if sys.version_info < (3, 10): sys.exit('too old for the compiler')\n"
        "os.umask(0o077)\n"
        "from support.render.plan_samples import SOURCE_FILES, listing\n"
        "from smspec.output.contents import chunks\n"
        "from smspec.render.tree import ArchiveFile, CopiedFile\n"
        "files = listing(pathlib.Path(sys.argv[1]), SOURCE_FILES).files\n"
        "archive = ArchiveFile(path='a', members=tuple(CopiedFile(path=f.path, file=f) for f in files))\n"
        "sys.stdout.buffer.write(b''.join(chunks(archive, {})))\n"
    )
    roots = (str(ROOT / name) for name in ("tests", "compiler", "runtime", "schemas"))
    environment = {"PYTHONPATH": os.pathsep.join(roots), "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C.UTF-8"}
    words = [any_python, "-c", script, tmp_path / "elsewhere"]
    done = subprocess.run(words, env=environment, capture_output=True)
    if b"too old" in done.stderr:
        pytest.skip("the compiler starts at Python 3.10")
    assert done.stderr == b""
    assert done.stdout == packed(tmp_path)
    assert hashlib.sha256(done.stdout).hexdigest() == DIGEST


def test_changed_member_is_reported(tmp_path):
    made = archive(tmp_path)
    (tmp_path / "made/train.py").write_bytes(b"print('tampered')\n")
    with pytest.raises(OutputFailed, match="changed while"):
        b"".join(chunks(made, {}))

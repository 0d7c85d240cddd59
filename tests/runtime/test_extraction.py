"""Archives extract only files and directories, and nothing outside."""

import gzip
import hashlib
import os
import subprocess
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from smspec.source import ListedFile, Listing
from smspec_runtime import extraction
from smspec_runtime.extraction import digest, extract, plain_name
from smspec_runtime.refusal import Refused
from support.runtime.code_archives import RUNTIME, extract_elsewhere, member, tree, write_archive

HOSTILE = {
    "parent": [member("../evil", content=b"x")],
    "deep parent": [member("a/../../../evil", content=b"x")],
    "absolute": [member("/tmp/smspec-evil", content=b"x")],
    "backslashes": [member("..\\..\\evil", content=b"x")],
    "double slash": [member("//tmp//evil", content=b"x")],
    "link then file": [member("out", tarfile.SYMTYPE, "/tmp"), member("out/evil", content=b"x")],
    "link chain": [
        member("a", tarfile.SYMTYPE, "."),
        member("a/b", tarfile.SYMTYPE, ".."),
        member("a/b/c", content=b"x"),
    ],
    "link to outside": [member("passwd", tarfile.SYMTYPE, "/etc/passwd")],
    "hard link to outside": [member("passwd", tarfile.LNKTYPE, "../../../etc/passwd")],
    "hard link through link": [member("l", tarfile.SYMTYPE, "/etc"), member("p", tarfile.LNKTYPE, "l/passwd")],
    "link over directory": [
        member("d", tarfile.DIRTYPE),
        member("d", tarfile.SYMTYPE, "/tmp"),
        member("d/x", content=b"x"),
    ],
    "fifo": [member("pipe", tarfile.FIFOTYPE)],
    "character device": [member("null", tarfile.CHRTYPE)],
    "block device": [member("sda", tarfile.BLKTYPE)],
    "setuid": [member("su", mode=0o6777, content=b"x")],
    "nameless": [member("", content=b"x")],
    "dots": [member("..", content=b"x"), member(".", tarfile.DIRTYPE)],
    "file as directory": [member("f", content=b"x"), member("f/g", content=b"y")],
    "directory as file": [member("d", tarfile.DIRTYPE), member("d", content=b"x")],
    "very deep": [member("x/" * 3000 + "f", content=b"x")],
    "long component": [member("x" * 300, content=b"x")],
    "drive letter": [member("C:\\evil", content=b"x"), member("C:/../../evil", content=b"x")],
    "path in a header": [member("f", content=b"x", pax={"path": "../../evil"})],
    "path in a global header": [member("f", content=b"x")],
    "size in a header": [member("f", content=b"x", pax={"size": "9999999"})],
    "link path in a header": [member("l", tarfile.SYMTYPE, "f", pax={"linkpath": "/etc/passwd"})],
    "long name": [member("../" * 60 + "evil", content=b"x")],
    "link to itself": [member("l", tarfile.SYMTYPE, "l"), member("l/x", content=b"x")],
    "hard link to itself": [member("l", tarfile.LNKTYPE, "l")],
    "hard link, then a file through it": [
        member("a", content=b"x"),
        member("b", tarfile.LNKTYPE, "a"),
        member("b", content=b"y"),
    ],
    "hard link to a link": [
        member("a/b", tarfile.DIRTYPE),
        member("a/b/l", tarfile.SYMTYPE, "../../.."),
        member("m", tarfile.LNKTYPE, "a/b/l"),
        member("m/evil", content=b"x"),
    ],
    "link longer than a path may be": [
        *(member("/".join(["d" * 247] * depth), tarfile.DIRTYPE) for depth in range(1, 16)),
        *(member("/".join([*["d" * 247] * depth, "s"]), tarfile.SYMTYPE, "d" * 247) for depth in range(15)),
        member("/".join(["s"] * 16) + "/" + "l" * 254, tarfile.SYMTYPE, "../" * 16),
        member("escape", tarfile.SYMTYPE, "/".join(["s"] * 16) + "/" + "l" * 254 + "/../../../.."),
        member("escape/evil", content=b"x"),
    ],
    "file over a link": [member("l", tarfile.SYMTYPE, "/tmp/smspec-evil"), member("l", content=b"x")],
    "nobody may read": [member("d", tarfile.DIRTYPE, mode=0), member("d/f", mode=0, content=b"x")],
    "sticky directories": [member("d", tarfile.DIRTYPE, mode=0o7777), member("d/f", content=b"x")],
    "contiguous": [member("c", tarfile.CONTTYPE, content=b"x")],
    "unknown kind": [member("z", b"Z", content=b"x")],
    "line break": [member("a\n../b", content=b"x"), member("\x1b[2J", content=b"x")],
    "not UTF-8": [member("\udcff\udcfe", content=b"x")],
}


def test_hostile_archive_stays_inside_without_special_files(any_python, tmp_path):
    """Whatever Python unpacks, and in either form of names."""
    assert len(HOSTILE) >= 37
    before = set(os.listdir("/tmp"))
    archives = {}
    for number, name in enumerate(HOSTILE):
        for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
            directory = tmp_path / f"{number}-{form}" / "in" / name
            directory.mkdir(parents=True)
            common = {"path": "../../evil"} if "global" in name else {}
            path = tmp_path / f"{number}-{form}" / "a.tar.gz"
            archives[write_archive(path, HOSTILE[name], form=form, pax_headers=common)] = directory
    extract_elsewhere(any_python, archives)
    for directory in archives.values():
        assert sorted(os.listdir(directory.parents[1])) == ["a.tar.gz", "in"], directory
        assert os.listdir(directory.parent) == [directory.name], directory
        assert set(tree(directory).values()) <= {"file", "dir"}, directory
        for parent, _, files in os.walk(directory):
            for file in files:
                status = os.stat(os.path.join(parent, file))
                assert not status.st_mode & 0o7022, directory
                assert status.st_nlink == 1, directory
    assert not {"evil", "x", "smspec-evil"} & (set(os.listdir("/tmp")) - before)


def test_sparse_file_ends_the_job(any_python, tmp_path):
    """The archive contains a header of ten terabytes and no data."""
    (tmp_path / "holes").touch()
    os.truncate(tmp_path / "holes", 10 << 40)
    command = [
        "tar",
        "--sparse",
        "--hole-detection=seek",
        "-C",
        str(tmp_path),
        "-czf",
        str(tmp_path / "a.tar.gz"),
        "holes",
    ]
    subprocess.run(command, check=True)
    (tmp_path / "out").mkdir()
    (said,) = extract_elsewhere(any_python, {tmp_path / "a.tar.gz": tmp_path / "out"})
    assert "`holes` in the archive is neither a file, a directory nor a link" in said
    assert tree(tmp_path / "out") == {}


@pytest.mark.parametrize("name", ["first", "middle", "last"])
def test_damaged_header_is_not_the_end(any_python, name, tmp_path):
    """The standard library skips what follows a damaged header without a word."""
    members = [member(each, content=b"x" * 600) for each in ("first", "middle", "last")]
    archive = Path(write_archive(tmp_path / "a.tar.gz", members, "w"))
    archive.write_bytes(gzip.compress(archive.read_bytes().replace(name.encode() + b"\0", b"other\0")))
    (tmp_path / "out").mkdir()
    (said,) = extract_elsewhere(any_python, {archive: tmp_path / "out"})
    assert "damaged header" in said


def test_files_directories_and_permissions_are_extracted(any_python, tmp_path):
    """Also a member that comes twice, an empty directory, and the bit that makes a script run."""
    members = [
        member("./src/", tarfile.DIRTYPE, mode=0o755),
        member("./src/train.py", mode=0o664, content=b"old"),
        member("src/run.sh", mode=0o777, content=b"#!/bin/sh\n"),
        member("src/empty", tarfile.DIRTYPE),
        member("src/train.py", mode=0o444, content=b"new"),
        member("odd", mode=0o055, content=b"x" * 3_000_000),
    ]
    archive = write_archive(tmp_path / "a.tar.gz", members)
    directory = tmp_path / "out"
    directory.mkdir()
    script = "import sys; from smspec_runtime.extraction import extract; print(len(extract(*sys.argv[1:])))"
    command = [any_python, "-c", script, archive, directory]
    environ = {**os.environ, "PYTHONPATH": RUNTIME}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert done.stdout == "3\n", done.stderr
    assert tree(directory) == {
        "src": "dir",
        "src/train.py": "file",
        "src/run.sh": "file",
        "src/empty": "dir",
        "odd": "file",
    }
    assert (directory / "src/train.py").read_text() == "new"
    assert oct((directory / "src/train.py").stat().st_mode & 0o777) == "0o644"
    assert oct((directory / "src/run.sh").stat().st_mode & 0o777) == "0o755"
    assert oct((directory / "odd").stat().st_mode & 0o777) == "0o644"
    assert (directory / "odd").stat().st_size == 3_000_000


def test_bomb_is_rejected_before_it_fills_the_disk(tmp_path):
    archive = write_archive(tmp_path / "a.tar.gz", [member("zeros", content=bytes(100 << 20))])
    assert os.path.getsize(archive) < 200_000
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="unpacks to more than"):
        extract(archive, str(tmp_path / "out"))


def test_bomb_in_a_header_is_rejected(tmp_path):
    """The standard library reads a PAX header whole before any member is seen."""
    info, _ = member("x")
    info.pax_headers = {"comment": "0" * (100 << 20)}
    archive = write_archive(tmp_path / "a.tar.gz", [(info, b"")])
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="maximum is 1048576"):
        extract(archive, str(tmp_path / "out"))


@pytest.mark.parametrize("name", ["../train.py", "/train.py", "a/../train.py", "a\\..\\b", ".."])
def test_name_leading_outside_is_rejected(tmp_path, name):
    archive = write_archive(tmp_path / "a.tar.gz", [member("train.py", content=b"own"), member(name, content=b"x")])
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="lies outside of the code directory"):
        extract(archive, str(tmp_path / "out"))
    assert (tmp_path / "out/train.py").read_bytes() == b"own"


@pytest.mark.parametrize(
    "kind",
    [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, b"S", b"V", b"Z"],
    ids=["fifo", "character device", "block device", "sparse", "volume", "unknown"],
)
def test_special_file_ends_the_job(tmp_path, kind):
    archive = write_archive(tmp_path / "a.tar.gz", [member("l", kind, "train.py")])
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="neither a file, a directory nor a link"):
        extract(archive, str(tmp_path / "out"))


def long_names(count, name):
    """Return so many extended headers of GNU in a row, and a member."""
    head = tarfile.TarInfo("about")
    head.type, head.size = tarfile.GNUTYPE_LONGNAME, len(name)
    about = head.tobuf(tarfile.GNU_FORMAT) + name + bytes(-len(name) % 512)
    return about * count + tarfile.TarInfo("short").tobuf() + bytes(1024)


def test_consecutive_headers_are_read(any_python, tmp_path):
    """The standard library calls itself for each."""
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(long_names(5000, b"train.py")))
    (tmp_path / "out").mkdir()
    assert extract_elsewhere(any_python, {tmp_path / "a.tar.gz": tmp_path / "out"}) == [None]
    assert os.listdir(tmp_path / "out") == ["train.py"]


def test_headers_are_limited(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(long_names(33, b"x" + bytes((1 << 20) - 1))))
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="33554432 in all"):
        extract(str(tmp_path / "a.tar.gz"), str(tmp_path / "out"))


def records(size):
    """Return a pax header of so many bytes: many records, each of a key of its own, and a path."""
    return b"".join(b"17 k%07d=abcd\n" % number for number in range(size // 17 - 1)) + b"17 path=train.py\n"


@pytest.mark.parametrize(
    ("kind", "body", "times"),
    [
        (b"x", records(1 << 20), 1),  # it takes long to read many of these; one, kept as records, is too much already
        (b"g", records(1 << 20), 1),
        (b"x", b"1048576 comment=" + b"x" * ((1 << 20) - 17) + b"\n", 8),
        (b"x", b"1048576 path=" + b"x" * ((1 << 20) - 14) + b"\n", 8),
        (b"L", b"x" * (1 << 20), 8),
        (b"K", b"x" * (1 << 20), 8),
    ],
    ids=["records", "records for all", "a long comment", "a long path", "a long name", "a long link"],
)
def test_headers_use_no_memory(tmp_path, kind, body, times):
    """A megabyte about one file, once or several times."""
    head = tarfile.TarInfo("about")
    head.type, head.size = kind, len(body)
    about = head.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % 512)
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(about * times + tarfile.TarInfo("short").tobuf() + bytes(1024)))
    (tmp_path / "out").mkdir()
    tracemalloc.start()
    try:
        extract(str(tmp_path / "a.tar.gz"), str(tmp_path / "out"))
    except Refused as refusal:
        assert "longer than 4096 characters" in str(refusal)
    else:
        assert len(os.listdir(tmp_path / "out")) == 1
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 6 << 20


def test_too_many_members_are_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(extraction, "MEMBERS", 10)
    archive = write_archive(tmp_path / "a.tar.gz", [member(f"f{number}") for number in range(11)])
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="more than 10 members"):
        extract(archive, str(tmp_path / "out"))


def test_wrong_checksum_is_detected(tmp_path):
    """The standard library stops reading before it."""
    archive = Path(write_archive(tmp_path / "a.tar.gz", [member("f", content=b"x" * 1000)]))
    content = archive.read_bytes()
    archive.write_bytes(content[:-8] + bytes([content[-8] ^ 1]) + content[-7:])
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="CRC"):
        extract(str(archive), str(tmp_path / "out"))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_archive_is_rejected_or_extracted(seed, tmp_path):
    """Damaged bytes anywhere raise only `Refused`."""
    archive = Path(
        write_archive(tmp_path / "a.tar.gz", [member(f"d/f{n}", content=b"abc" * n) for n in range(20)], "w")
    )
    damaged = bytearray(archive.read_bytes())
    for step in range(5):
        damaged[(seed * 7919 + step * 104729) % len(damaged)] = (seed * 31 + step * 17) % 256
    archive.write_bytes(gzip.compress(bytes(damaged)))
    (tmp_path / "out").mkdir()
    try:
        extract(str(archive), str(tmp_path / "out"))
    except Refused as refusal:
        assert str(archive) in str(refusal) or "archive" in refusal.message
    assert set(tree(tmp_path / "out").values()) <= {"file", "dir"}


def test_digest_equals_that_of_the_compiler(tmp_path):
    """Of paths as UTF-8 bytes in order, executable bits and contents, whatever the order in the archive."""
    sources = {
        "b/z.py": (0o644, b"z"),
        "b.py": (0o600, b""),
        "b/run": (0o755, b"#!"),
        "é": (0o777, b"1"),
        "\uffff": (0, b""),
    }
    members = [member(f"./{name}", mode=mode, content=content) for name, (mode, content) in sources.items()]
    (tmp_path / "out").mkdir()
    found = digest(extract(write_archive(tmp_path / "a.tar.gz", members), str(tmp_path / "out")))
    files = [
        ListedFile(
            path=name,
            origin="",
            executable=bool(mode & 0o100),
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for name, (mode, content) in sorted(sources.items(), key=lambda item: item[0].encode())
    ]
    assert found == Listing(files=tuple(files)).digest


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("a/b", "a/b"),
        ("./a", "a"),
        ("a//b/", "a/b"),
        ("", ""),
        ("...", "..."),
    ],
)
def test_plain_names_are_normalized(name, plain):
    assert plain_name(name) == plain

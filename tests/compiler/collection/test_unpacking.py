"""Archives of a result: what is unpacked equals what was packed, and nothing else is written anywhere."""

import gzip
import io
import os
import random
import socket
import stat
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.collection import tar_reader
from smspec.collection.result_tree import ResultRefused, ResultTree, StoredFile, StoredResult
from smspec.collection.tar_reader import unpack
from support.smspec_command import smspec


def packed(*members, kind=tarfile.PAX_FORMAT):
    """Return a .tar.gz of (name, content or type, link target)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=kind) as archive:
        for name, content, *target in members:
            member = tarfile.TarInfo(name)
            member.mode = 0o6777
            if isinstance(content, bytes) and not target:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
                continue
            member.type = content
            member.linkname = target[0] if target else ""
            archive.addfile(member)
    return buffer.getvalue()


def unpacked(archive, root, block=7):
    """Unpack an archive that arrives in blocks; return the tree, and the warnings."""
    blocks = [archive[at : at + block] for at in range(0, len(archive), block)]
    file = StoredFile(name="model.tar.gz", size=len(archive), blocks=lambda: iter(blocks))
    result = StoredResult(job="job", status="Completed", hosts=1, place="s3://b/", files=(file,))
    warnings = []
    root.mkdir(exist_ok=True)
    tree = ResultTree(str(root), warnings.append)
    unpack(result, tree, warnings.append, lambda _: None)
    return tree, warnings


def contents(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@given(
    st.dictionaries(st.text("aä-/.", min_size=1, max_size=150), st.binary(max_size=2000), max_size=6),
    st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]),
    st.integers(1, 5000),
)
def test_unpacked_equals_packed(tmp_path_factory, files, kind, block):
    usable = {}
    for name, content in files.items():
        path = "/".join(f"d{step}" for step in name.split("/")) + "f"
        if not any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in usable):
            usable[path] = content
    root = tmp_path_factory.mktemp("result")
    unpacked(packed(*usable.items(), kind=kind), root, block)
    assert contents(root) == {f"model/{path}": content for path, content in usable.items()}


@pytest.mark.parametrize(
    "members",
    [
        [("/etc/passwd", b"x")],
        [("../out", b"x")],
        [("a/../../out", b"x")],
        [("a", tarfile.LNKTYPE, "../out")],
        [("a", tarfile.LNKTYPE, "missing")],
        [("a", b"x"), ("a/b", b"x")],
        [("a/b", b"x"), ("a", b"x")],
        [("a", tarfile.SYMTYPE, "."), ("a/b", b"x")],
        [("a", tarfile.SYMTYPE, "/tmp"), ("a", b"x")],
    ],
    ids=str,
)
def test_unsafe_member_is_refused(tmp_path, members):
    with pytest.raises(ResultRefused):
        unpacked(packed(*members), tmp_path / "root")
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


@pytest.mark.parametrize("target", ["/etc/passwd", "../../out", "missing", "self", "../../root/../out", "up/up/out"])
def test_link_out_of_the_result_is_left_out(tmp_path, target):
    (tmp_path / "out").write_text("of others")
    members = [("self", tarfile.SYMTYPE, target), ("up", tarfile.SYMTYPE, ".."), ("a", b"x")]
    tree, warnings = unpacked(packed(*members), tmp_path / "root")
    assert not (tmp_path / "root/model/self").is_symlink() and "model/self" not in tree.links
    assert any(f"`model/self` is a link to `{target}`, which is not there" in text for text in warnings)


def test_chained_links_out_of_the_result_are_left_out(tmp_path):
    (tmp_path / "out").mkdir()
    members = [("d/e/f", b"x"), ("a", tarfile.SYMTYPE, "d/e"), ("d/e/b", tarfile.SYMTYPE, "../../../../out")]
    tree, warnings = unpacked(packed(*members, ("c", tarfile.SYMTYPE, "a/b")), tmp_path / "root")
    assert set(tree.links) == {"model/a"} and len(warnings) == 2


def test_link_within_the_result_stays_one(tmp_path):
    members = [("latest", tarfile.SYMTYPE, "steps/9"), ("steps/9", b"x"), ("same", tarfile.LNKTYPE, "steps/9")]
    tree, warnings = unpacked(packed(*members), tmp_path / "root")
    assert os.readlink(tmp_path / "root/model/latest") == "steps/9"
    assert (tmp_path / "root/model/same").read_bytes() == b"x" and warnings == []
    assert tree.digests["model/same"] == tree.digests["model/steps/9"]


@pytest.mark.parametrize(
    "kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE], ids=["fifo", "character device", "block device"]
)
def test_devices_and_fifos_are_left_out(tmp_path, kind):
    _, warnings = unpacked(packed(("x", kind, ""), ("a", b"1")), tmp_path / "root")
    assert contents(tmp_path / "root") == {"model/a": b"1"}
    assert warnings == ["`model/x` is not a file, directory, or link; smspec skips it"]


def test_modes_are_those_of_new_files(tmp_path):
    unpacked(packed(("a", b"x")), tmp_path / "root")
    mode = (tmp_path / "root/model/a").stat().st_mode
    assert stat.S_IMODE(mode) & 0o7022 == 0 and mode & stat.S_IXUSR


def test_later_file_of_a_name_stays(tmp_path):
    unpacked(packed(("a", b"old"), ("./a", b"new"), ("b", tarfile.LNKTYPE, "a"), ("a", b"last")), tmp_path / "root")
    assert contents(tmp_path / "root") == {"model/a": b"last", "model/b": b"new"}


WHOLE = packed(("a", random.Random(0).randbytes(3000)), ("b", b"x" * 3000))


@pytest.mark.parametrize("end", [0, 1, 9, 400, len(WHOLE) // 2, len(WHOLE) - 9, len(WHOLE) - 1])
def test_truncated_archive_is_refused(tmp_path, end):
    with pytest.raises(ResultRefused, match=r"`model.tar.gz` is damaged"):
        unpacked(WHOLE[:end], tmp_path / "root")


@pytest.mark.parametrize("at", [0, 12, 1500, len(WHOLE) - 6, len(WHOLE) - 2])
def test_changed_byte_is_found(tmp_path, at):
    """`tarfile` accepts a wrong checksum at the end of a gzip file."""
    changed = WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :]
    with pytest.raises(ResultRefused, match="is damaged"):
        unpacked(changed, tmp_path / "root")


def test_several_gzip_members_are_one_archive(tmp_path):
    plain = gzip.decompress(WHOLE)
    unpacked(gzip.compress(plain[:700]) + b"\0\0" + gzip.compress(plain[700:]) + bytes(9), tmp_path / "root")
    assert len(contents(tmp_path / "root")) == 2


def test_bomb_ends_before_the_disk_is_full(tmp_path, monkeypatch):
    free = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((free.f_frsize, free.f_frsize, *[20_000] * 8)))
    with pytest.raises(OSError, match="no room for 100,000,000 more bytes"):
        unpacked(packed(("zeros", bytes(100_000_000))), tmp_path / "root", 4096)
    assert contents(tmp_path / "root") == {}


def test_members_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(tar_reader, "MOST_MEMBERS", 3)
    with pytest.raises(ResultRefused, match="more than 3 members"):
        unpacked(packed(*((str(number), b"") for number in range(4))), tmp_path / "root")


def test_huge_header_is_refused(tmp_path):
    head = tarfile.TarInfo("x")
    head.size = 1 << 40
    head.type = tarfile.XHDTYPE
    with pytest.raises(ResultRefused, match="an extended header is too large"):
        unpacked(gzip.compress(head.tobuf(tarfile.GNU_FORMAT)), tmp_path / "root")


@given(st.binary(max_size=600))
def test_any_bytes_end_in_a_refusal_or_a_tree(tmp_path_factory, content):
    try:
        unpacked(gzip.compress(content, mtime=0), tmp_path_factory.mktemp("any"))
    except ResultRefused:
        pass


def test_archive_without_files_is_reported(tmp_path):
    _, warnings = unpacked(packed(), tmp_path / "root", 700)
    assert contents(tmp_path / "root") == {} and "`model.tar.gz` contains no files" in warnings[0]


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        (bytes(4 << 20), "MiB of zeros after its end"),
        (gzip.decompress(WHOLE) + bytes(4 << 20), "MiB of zeros after its end"),
        (gzip.decompress(WHOLE) + gzip.decompress(WHOLE), "data after its end"),
        (bytes(1024) + b"x", "data after its end"),
        (bytes(100), "a header has a wrong checksum"),
        (b"", "a header has a wrong checksum"),
        (b"x" * 1024, "a header"),
    ],
    ids=["zeros", "zeros after the end", "two archives", "hidden data", "a part of a block", "nothing", "no header"],
)
def test_malformed_archive_is_refused(tmp_path, plain, reason):
    with pytest.raises(ResultRefused, match=reason):
        unpacked(gzip.compress(plain), tmp_path / "root", 5000)


def test_bomb_of_zeros_is_not_read_to_its_end(tmp_path):
    bomb = gzip.compress(bytes(1 << 20)) * 5_000
    started = time.process_time()
    with pytest.raises(ResultRefused):
        unpacked(bomb, tmp_path / "root", 1 << 20)
    assert time.process_time() - started < 2


def replaced(directory, name, kind, outside):
    """Put a link, a FIFO, or a socket where a run has a file or a directory."""
    place = directory / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        place.symlink_to(outside)
    elif kind == "FIFO":
        os.mkfifo(place)
    else:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(place))


@pytest.mark.parametrize("kind", ["link", "FIFO", "socket"])
@pytest.mark.parametrize("name", ["model", "model.tar.gz", "model/w", "model/a/w", "output", "output/w"])
def test_runs_are_collected_without_links_and_devices(tmp_path, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    outside, run = tmp_path / "outside", tmp_path / "run"
    for directory in (outside, run / "model" / "kept", run / "output" / "kept"):
        directory.mkdir(parents=True)
        (directory / "file").write_text("secret" if directory == outside else "own")
    if name in ("model", "output"):
        (run / name).rename(tmp_path / "moved")
    replaced(Path("run"), name, kind, outside if "/" in name else outside / "file")
    (run / "run.json").write_text('{"kind": "smspec run", "job": "small-1", "status": "Completed"}')
    (run / "summary.json").write_text("[" * 100_000)
    done = smspec("collect", "./run")
    assert done.status == 0, done.err
    assert f"warning: `{name}` is not a file or directory; smspec skips it\n" in done.err
    found = contents(tmp_path / "collect" / "run")
    assert set(found.values()) - {found["manifest.json"]} == {b"own"}


def test_directory_named_like_an_archive_hides_no_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run/model.tar.gz").mkdir(parents=True)
    (tmp_path / "run/model").mkdir()
    (tmp_path / "run/model/w").write_text("own")
    (tmp_path / "run/run.json").write_text('{"kind": "smspec run", "job": "small-1", "status": "Completed"}')
    assert smspec("collect", "./run") == (0, "collect/run/model\n", "./run: 1 file, 3 B\n")

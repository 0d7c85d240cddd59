"""Links in an archive become copies of their targets; other links end the job."""

import gzip
import hashlib
import os
import tarfile
import time

import pytest

from smspec_runtime import extraction
from smspec_runtime.extraction import extract
from smspec_runtime.refusal import Refused
from support.runtime.code_archives import extract_elsewhere, link, member, tree, write_archive


def hard(name, target):
    return member(name, tarfile.LNKTYPE, target)


def directory(name):
    return member(name, tarfile.DIRTYPE, mode=0o755)


def file(name, content=b"x", mode=0o644):
    return member(name, content=content, mode=mode)


def unpacked(tmp_path, members, **form):
    """Return what an archive gives: path → content, or None for a directory."""
    (tmp_path / "out").mkdir()
    extract(write_archive(tmp_path / "a.tar.gz", members, **form), str(tmp_path / "out"))
    return contents(tmp_path / "out")


def contents(root):
    kinds = tree(root)
    assert set(kinds.values()) <= {"file", "dir"}
    assert all(os.lstat(root / path).st_nlink == 1 for path, kind in kinds.items() if kind == "file")
    return {path: (root / path).read_bytes() if kind == "file" else None for path, kind in kinds.items()}


ARRIVE = {
    "a link to a file": ([file("a"), link("l", "a")], {"a": b"x", "l": b"x"}),
    "before its target": ([link("l", "a"), file("a")], {"a": b"x", "l": b"x"}),
    "to a directory": ([file("d/a"), link("l", "d")], {"d": None, "d/a": b"x", "l": None, "l/a": b"x"}),
    "to a directory with a slash": ([file("d/a"), link("l", "d/")], {"d": None, "d/a": b"x", "l": None, "l/a": b"x"}),
    "to an empty directory": ([directory("d"), link("l", "d")], {"d": None, "l": None}),
    "a chain": ([link("l", "m"), link("m", "n"), link("n", "a"), file("a")], dict.fromkeys("almn", b"x")),
    "through a linked directory": (
        [link("l", "m/a"), link("m", "d"), file("d/a")],
        {"d": None, "d/a": b"x", "l": b"x", "m": None, "m/a": b"x"},
    ),
    "up from where a linked directory really is": (
        [link("l", "m/../b"), link("m", "d/e"), file("d/e/a"), file("d/b", b"right"), file("b", b"wrong")],
        {"d": None, "d/e": None, "d/e/a": b"x", "d/b": b"right", "b": b"wrong", "m": None, "m/a": b"x", "l": b"right"},
    ),
    "dots before names": ([directory("./"), file("./a"), link("./l", "./a")], {"a": b"x", "l": b"x"}),
    "up and down again": (
        [file("d/a"), link("e/l", "../d/../d/./a")],
        {"d": None, "d/a": b"x", "e": None, "e/l": b"x"},
    ),
    "a link within a linked directory": (
        [file("d/a"), link("d/l", "a"), link("m", "d")],
        {"d": None, "d/a": b"x", "d/l": b"x", "m": None, "m/a": b"x", "m/l": b"x"},
    ),
    "out of a linked directory, not of the archive": (
        [file("a"), link("d/e/l", "../../a"), link("m", "d/e")],
        {"a": b"x", "d": None, "d/e": None, "d/e/l": b"x", "m": None, "m/l": b"x"},
    ),
    "to the latest of a name": ([file("a", b"old"), link("l", "a"), file("a", b"new")], {"a": b"new", "l": b"new"}),
    "twice the same link": ([file("a"), link("l", "a"), link("l", "a")], {"a": b"x", "l": b"x"}),
    "a hard link": ([file("a"), hard("b", "a")], {"a": b"x", "b": b"x"}),
    "a hard link with dots": ([file("./d/a"), hard("./b", "./d/a")], {"d": None, "d/a": b"x", "b": b"x"}),
    "a hard link to a hard link": ([file("a"), hard("b", "a"), hard("c", "b")], dict.fromkeys("abc", b"x")),
    "a hard link to what is replaced then": (
        [file("a", b"old"), hard("b", "a"), file("a", b"new")],
        {"a": b"new", "b": b"old"},
    ),
    "a hard link to a link": ([file("a"), link("l", "a"), hard("m", "l")], dict.fromkeys("alm", b"x")),
    "a hard link to itself": ([file("a"), hard("a", "a")], {"a": b"x"}),
    "twice the same hard link": ([file("a"), hard("b", "a"), hard("b", "a")], dict.fromkeys("ab", b"x")),
    "a link to a hard link": ([link("l", "b"), file("a"), hard("b", "a")], dict.fromkeys("abl", b"x")),
    "backslashes": ([file("d\\a"), link("d\\l", "..\\d\\a")], {"d": None, "d/a": b"x", "d/l": b"x"}),
    "a name that looks like a way out": ([file("..."), link("l", "...")], {"...": b"x", "l": b"x"}),
    "a long name": (
        [file("d" * 150 + "/" + "a" * 150), link("l", "d" * 150 + "/" + "a" * 150)],
        {"d" * 150: None, "d" * 150 + "/" + "a" * 150: b"x", "l": b"x"},
    ),
}


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
@pytest.mark.parametrize("name", ARRIVE)
def test_links_are_extracted_as_copies(tmp_path, name, form):
    members, expected = ARRIVE[name]
    assert unpacked(tmp_path, members, form=form) == expected


OUT, NOWHERE, CIRCLE, AROUND = "which leads out of it", "which leads nowhere", "in a circle", "around itself"
PLACE, NO_FILE = "takes the place of another member", "which is no file before it"
OUTSIDE, MANY = "lies outside of the code directory", "unpacks to too many files and directories"
REFUSED = {
    "absolute": ([link("l", "/etc/passwd")], OUT),
    "absolute, to a directory of the archive": ([directory("tmp"), link("l", "/tmp")], OUT),
    "up": ([link("l", "../a")], OUT),
    "up from a directory": ([directory("d"), link("d/l", "../../a")], OUT),
    "up, though a name comes first": ([file("d/a"), link("l", "d/../../d/a")], OUT),
    "up with backslashes": ([link("l", "..\\..\\etc\\passwd")], OUT),
    "out and back by the name of the directory": ([file("a"), link("l", "../out/a")], OUT),
    "out through a link": (
        [link("l", "m/../../../a"), link("m", "d/e"), directory("d/e")],
        OUT,
    ),
    "out through a chain": ([link("l", "m"), link("m", "n"), link("n", "../x")], OUT),
    "through a link that leads out": ([link("l", "m/passwd"), link("m", "/etc")], OUT),
    "out by the last step": ([directory("d"), link("l", "d/../..")], OUT),
    "nowhere": ([link("l", "a")], NOWHERE),
    "empty": ([link("l", "")], AROUND),
    "below a file": ([file("a"), link("l", "a/b")], NOWHERE),
    "a file with a slash": ([file("a"), link("l", "a/")], NOWHERE),
    "a file with a dot": ([file("a"), link("l", "a/.")], NOWHERE),
    "up from a file": ([file("a"), link("l", "a/../a")], NOWHERE),
    "through what is not there": ([file("a"), link("l", "d/../a")], NOWHERE),
    "to itself": ([link("l", "l")], CIRCLE),
    "to each other": ([link("l", "m"), link("m", "l")], CIRCLE),
    "through itself": ([link("l", "l/a"), file("a")], CIRCLE),
    "through each other": ([link("l", "m/a"), link("m", "l/a"), file("a")], CIRCLE),
    "to the directory of the link": ([file("a"), link("l", ".")], AROUND),
    "to a directory above": ([file("d/e/a"), link("d/e/l", "../../d")], AROUND),
    "to the top": ([file("d/a"), link("d/l", "..")], AROUND),
    "directories in each other": ([file("d/a"), file("e/a"), link("d/l", "../e"), link("e/m", "../d")], AROUND),
    "around by a chain": ([link("d/l", "../m"), link("m", "n"), link("n", "d"), file("d/a")], AROUND),
    "a file in the place of a link": ([file("a"), link("l", "a"), file("l")], PLACE),
    "a link in the place of a file": ([file("a"), file("l"), link("l", "a")], PLACE),
    "a directory in the place of a link": ([directory("d"), link("l", "d"), directory("l")], PLACE),
    "a link in the place of a directory": ([directory("d"), directory("l"), link("l", "d")], PLACE),
    "a file through a link": ([directory("d"), link("l", "d"), file("l/a")], PLACE),
    "a link in the place of a file's directory": ([directory("d"), file("l/a"), link("l", "d")], PLACE),
    "a link through a link": ([directory("d"), link("l", "d"), link("l/m", "d")], PLACE),
    "two links of one name": ([file("a"), file("b"), link("l", "a"), link("l", "b")], PLACE),
    "a link in the place of a hard link": ([file("a"), hard("b", "a"), link("b", "a")], PLACE),
    "a file in the place of a hard link": ([file("a"), hard("b", "a"), file("b")], PLACE),
    "a hard link in the place of a file": ([file("a"), file("b"), hard("b", "a")], PLACE),
    "a hard link to another file": ([file("a"), file("b"), hard("c", "a"), hard("c", "b")], PLACE),
    "a hard link in the place of a link": ([file("a"), link("l", "a"), hard("l", "a")], PLACE),
    "a hard link through a link": ([file("d/a"), link("l", "d"), hard("l/b", "d/a")], PLACE),
    "a hard link to what comes later": ([hard("b", "a"), file("a")], NO_FILE),
    "a hard link to nothing": ([hard("b", "a")], NO_FILE),
    "a hard link to itself alone": ([hard("b", "b")], NO_FILE),
    "a hard link to a directory": ([directory("d"), hard("b", "d")], NO_FILE),
    "a hard link to the top": ([hard("b", ".")], NO_FILE),
    "a hard link to what a link leads to": ([file("d/a"), link("l", "d"), hard("b", "l/a")], NO_FILE),
    "a hard link out": ([hard("b", "../a")], OUTSIDE),
    "a hard link out by a way in": ([file("a"), hard("b", "d/../a")], OUTSIDE),
    "an absolute hard link": ([hard("b", "/etc/passwd")], OUTSIDE),
    "a hard link to a link, elsewhere": ([file("a"), file("d/a"), link("d/l", "../a"), hard("m", "d/l")], OUT),
    "a link without a name": ([file("a"), link(".", "a")], "neither a file, a directory nor a link"),
    "a link outside": ([file("a"), link("../l", "a")], OUTSIDE),
    "a path longer than a path may be": (
        [file("/".join(["d" * 100] * 30) + "/a"), link("/".join(["e" * 100] * 30) + "/l", "../" * 30 + "d" * 100)],
        "File name too long",
    ),
    "directories too deep": (
        [file("/".join("d" * 60) + "/a"), link("/".join("e" * 60) + "/l", "../" * 60 + "d")],
        "more than 100 deep",
    ),
    "a megabyte, a hundred times": (
        [file("a", bytes(1 << 20)), *(link(f"l{n}", "a") for n in range(100))],
        "to more than",
    ),
    "a megabyte, a hundred hard links": (
        [file("a", bytes(1 << 20)), *(hard(f"l{n}", "a") for n in range(100))],
        "to more than",
    ),
}


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT], ids=["pax", "gnu"])
def test_hostile_links_end_the_job(outer_python, tmp_path, form):
    """Each with its reason, and nothing outside of the directory is touched."""
    archives = {}
    for number, (members, _) in enumerate(REFUSED.values()):
        (tmp_path / str(number) / "in/out").mkdir(parents=True)
        (tmp_path / str(number) / "in/kept").write_bytes(b"kept")
        path = write_archive(tmp_path / str(number) / "a.tar.gz", members, form=form)
        archives[path] = tmp_path / str(number) / "in/out"
    before = set(os.listdir("/tmp"))
    began = time.monotonic()
    said = extract_elsewhere(outer_python, archives)
    assert time.monotonic() - began < 60
    for name, why, directory_of_it in zip(REFUSED, said, archives.values(), strict=True):
        assert why is not None and REFUSED[name][1] in why, (name, why)
        assert sorted(os.listdir(directory_of_it.parent)) == ["kept", "out"], name
        assert (directory_of_it.parent / "kept").read_bytes() == b"kept", name
        contents(directory_of_it)
    assert not {"evil", "a", "l"} & (set(os.listdir("/tmp")) - before)


@pytest.mark.parametrize("last", [file("40/f"), directory("40")], ids=["a file", "a directory"])
def test_doubling_links_are_rejected(tmp_path, last):
    doubled = [link(f"{level}/{name}", f"../{level + 1}") for level in range(40) for name in "ab"]
    with pytest.raises(Refused, match=MANY):
        unpacked(tmp_path, [*doubled, last])


def test_copy_has_the_mode_of_its_target(tmp_path):
    """Archives store mode 0777 for links."""
    members = [
        file("run", mode=0o755),
        file("plain", mode=0o640),
        link("l", "run"),
        link("m", "plain"),
        hard("h", "run"),
    ]
    unpacked(tmp_path, members)
    modes = {name: oct((tmp_path / "out" / name).stat().st_mode & 0o777) for name in "lmh"}
    assert modes == {"l": "0o755", "m": "0o640", "h": "0o755"}


def test_digest_covers_copies(tmp_path):
    (tmp_path / "out").mkdir()
    found = extract(
        write_archive(tmp_path / "a.tar.gz", [file("d/a", mode=0o755), link("l", "d")]), str(tmp_path / "out")
    )
    assert found == dict.fromkeys(["d/a", "l/a"], "x\0" + hashlib.sha256(b"x").hexdigest())


@pytest.mark.parametrize("order", [1, -1], ids=["forward", "backward"])
def test_long_chain_of_links_is_followed(outer_python, tmp_path, order):
    """Linux follows 40; without recursion, in either order, and each link is followed once."""
    chain = [link(f"l{number}", f"l{number + 1}") for number in range(4000)]
    (tmp_path / "out").mkdir()
    path = write_archive(tmp_path / "a.tar.gz", [*chain[::order], file("l4000")])
    assert extract_elsewhere(outer_python, {path: tmp_path / "out"}) == [None]
    assert set(contents(tmp_path / "out").values()) == {b"x"}
    assert len(os.listdir(tmp_path / "out")) == 4001


def test_links_through_links_are_fast(tmp_path):
    """A target goes through a link 500 times, that one through another, and so on."""
    steps = 500
    members = [directory("d"), link("l0", "d")]
    members += [link(f"l{number}", f"l{number - 1}/../" * steps + "d") for number in range(1, 500)]
    began = time.monotonic()
    assert len(unpacked(tmp_path, members[::-1])) == 501
    assert time.monotonic() - began < 20


def test_copies_are_limited(tmp_path, monkeypatch):
    """As members are: directories that no member names, too."""
    monkeypatch.setattr(extraction, "MEMBERS", 8)
    assert len(unpacked(tmp_path, [file("d/e/a"), link("l", "d"), link("m", "d/e")])) == 8
    (tmp_path / "more").mkdir()
    with pytest.raises(Refused, match=MANY):
        unpacked(tmp_path / "more", [file("d/e/a"), link("l", "d"), link("m", "d/e"), file("b")])


@pytest.mark.parametrize("count", [1 << 20, 20_000_000])
def test_archive_cut_inside_a_member_is_rejected(tmp_path, count):
    """A header declares more data than the archive contains, in every number format."""
    info = tarfile.TarInfo("a")
    info.size = count
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + b"x" * 700))
    (tmp_path / "out").mkdir()
    with pytest.raises(Refused, match="ends inside of a member"):
        extract(str(tmp_path / "a.tar.gz"), str(tmp_path / "out"))

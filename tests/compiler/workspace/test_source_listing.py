"""Files of a source that are delivered."""

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.source.real_file import open_real_directory
from smspec.workspace.source_listing import scan_source
from smspec.workspace.spec_reading import has_spec_key
from support.spec.source_tree import faults, write


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "repository/job/src"
    root.mkdir(parents=True)
    return root


def paths(root, *ignore, **options):
    return [file.path for file in scan_source(str(root), ignore, **options).listing.files]


def test_files_are_sorted_by_bytes_with_digest_and_mode(source):
    write(source, "b.py", "a/z.py", "a.py", "Z.py", "é.py", "a-b.py")
    (source / "a.py").chmod(0o755)
    found = scan_source(str(source)).listing.files
    assert [file.path for file in found] == ["Z.py", "a-b.py", "a.py", "a/z.py", "b.py", "é.py"]
    (script,) = [file for file in found if file.executable]
    assert (script.path, script.size, script.sha256) == ("a.py", 1, hashlib.sha256(b"x").hexdigest())
    assert script.origin == str(source / "a.py")


def test_digest_depends_only_on_names_contents_and_modes(source):
    write(source, "a.py", "b.py")
    before = scan_source(str(source)).listing.digest
    os.utime(source / "a.py", (0, 0))
    (source / "b.py").chmod(0o600)
    assert scan_source(str(source)).listing.digest == before
    (source / "b.py").chmod(0o700)
    executable = scan_source(str(source)).listing.digest
    (source / "b.py").rename(source / "c.py")
    renamed = scan_source(str(source)).listing.digest
    write(source, "a.py", content="y")
    assert len({before, executable, renamed, scan_source(str(source)).listing.digest}) == 4


def test_caches_and_build_files_are_excluded(source):
    write(
        source,
        "train.py",
        ".git/config",
        "pkg/__pycache__/a.pyc",
        "pkg/a.py",
        "pkg/.git",
        "smspec.lock",
        "a/smspec.lock",
    )
    write(source, ".smspec-tmp-1-00/Dockerfile")
    assert paths(source) == ["pkg/a.py", "train.py"]


@pytest.mark.parametrize(
    ("text", "is_spec"),
    [
        ("smspec: v1\nname: a\n", True),
        ("# comment\n---\nname: a\n'smspec' : v1\n", True),
        ('{name: a, "smspec": v1}', True),
        ("a: 1\n---\nsmspec: v1\n", True),
        ("smspec: v1\nname: [broken\n", True),
        ("job:\n  smspec: v1\n", False),
        ("- smspec: v1\n", False),
        ("- smspec\n- v1\n", False),
        ("tool: smspec\n", False),
        ("text: |\n  smspec: v1\n", False),
        ("? [smspec]\n: 1\n", False),
        ("name: [broken\nsmspec: v1\n", False),
        ("smspec\n", False),
        ("", False),
        ("[" * 100_000 + " smspec", False),
    ],
)
def test_specs_are_excluded_from_the_source(source, text, is_spec):
    assert has_spec_key(text.encode()) is is_spec
    write(source, "config.yaml", "config.yml", "notes.txt", content=text)
    assert paths(source) == (["notes.txt"] if is_spec else ["config.yaml", "config.yml", "notes.txt"])


@given(st.binary() | st.binary().map(lambda tail: b"smspec: v1\n" + tail) | st.binary().map(b"a: smspec\n".__add__))
def test_any_bytes_can_be_listed(content):
    assert has_spec_key(content) in (True, False)


def test_build_directory_is_excluded_from_the_source(source):
    """What comes out of a build never goes into the next one, whatever the directory is called."""
    write(source, "train.py", "build/job/Dockerfile", "out/Dockerfile", "mine/a.py")
    write(
        source, "build/job/manifest.json", "out/manifest.json", content='{"smspec": "1", "files": {"Dockerfile": "0"}}'
    )
    write(source, "mine/manifest.json", content='{"files": []}')
    assert paths(source) == ["mine/a.py", "mine/manifest.json", "train.py"]


def test_excluded_paths_are_skipped(source):
    write(source, "train.py", "run/model/a", "job.yaml")
    assert paths(source, exclude=(str(source / "run"), str(source / "job.yaml"))) == ["train.py"]


def test_gitignore_applies_at_every_level(source):
    (source.parents[1] / ".git").mkdir()
    write(source.parents[1], ".gitignore", content="*.log\n/job/src/data/\n")
    write(source.parent, ".gitignore", content="!keep.log\nsrc/old/\n")
    write(source, ".gitignore", content="tmp*\r\n!tmp_keep\n")
    write(source, "pkg/.gitignore", content="/local.py\n!x.log\n")
    write(
        source,
        "a.log",
        "keep.log",
        "data/a",
        "old/a",
        "tmp1",
        "tmp_keep",
        "pkg/local.py",
        "pkg/x.log",
        "pkg/deep/local.py",
    )
    assert paths(source) == [
        *(".gitignore", "keep.log", "pkg/.gitignore", "pkg/deep/local.py", "pkg/x.log", "tmp_keep")
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_listing_agrees_with_git(source):
    root = source.parents[1]
    subprocess.run(["git", "init", "-q", root], check=True)
    write(root, ".gitignore", content="*.pyc\nbuild/\n**/cache/**\n!cache/keep\n*~\n")
    write(source, ".gitignore", content="/only_here\nlogs/*\n!logs/important\nfoo/bar\n\\#odd\n")
    write(source, "a.py", "a.pyc", "build/x", "sub/build/y", "sub/cache/z", "b~", "only_here", "sub/only_here", "#odd")
    write(source, "logs/a", "logs/important", "foo/bar/b", "sub/foo/bar", "ünï.py")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        check=True,
        text=True,
    )
    assert paths(source) == sorted(listed.stdout.split("\0")[:-1], key=str.encode)


@pytest.mark.parametrize("pattern", ["*", "job/", "/job/src", "src"])
def test_ignored_source_directory_is_still_listed(source, pattern):
    (source.parents[1] / ".git").mkdir()
    write(source.parents[1], ".gitignore", content=f"{pattern}\n")
    write(source, "train.py")
    assert paths(source) == ["train.py"]


def test_parent_gitignore_applies_only_in_a_repository(source):
    write(source.parents[1], ".gitignore", content="*.log\n")
    write(source, "a.log")
    assert paths(source) == ["a.log"]


def test_dockerignore_applies(source):
    write(source, ".dockerignore", content="# comment\n**/*.md\n!README.md\ntests\n")
    write(source, "README.md", "docs/a.md", "tests/test_a.py", "pkg/tests/test_b.py", "train.py")
    assert paths(source) == [".dockerignore", "README.md", "pkg/tests/test_b.py", "train.py"]


def test_dockerignored_directories_are_not_walked(source, monkeypatch):
    """An environment in the source directory has tens of thousands of files."""
    write(source, ".dockerignore", content="packages\n")
    write(source, "train.py", "packages/lib/a.py")
    walked = []
    monkeypatch.setattr(
        "smspec.workspace.source_walk.open_real_directory",
        lambda path: walked.append(path) or open_real_directory(path),
    )
    assert paths(source) == [".dockerignore", "train.py"]
    assert walked == [str(source)]
    write(source, ".dockerignore", content="packages\n!packages/lib/a.py\n")
    assert paths(source) == [".dockerignore", "packages/lib/a.py", "train.py"]


def test_patterns_of_the_spec_apply(source):
    write(source, "tests/a.py", "pkg/tests/b.py", "a.ipynb", "train.py", "keep.ipynb")
    assert paths(source, "tests/", "*.ipynb", "!keep.ipynb") == ["keep.ipynb", "train.py"]


def test_negation_applies_only_within_its_ignore_file(source):
    """A `!` takes back what its own kind of file ignored; what anyone else ignores stays behind."""
    write(source, ".gitignore", content="a\n!b\n")
    write(source, ".dockerignore", content="b\n!a\n!c\n")
    write(source, "a", "b", "c", "d")
    assert paths(source, "c", "!a", "!b") == [".dockerignore", ".gitignore", "d"]


def test_links_are_listed_or_reported(source, tmp_path):
    write(tmp_path, "secret", "outside/a")
    write(source, "real.py", "pkg/a.py", ".git/config", "ignored.py", "wandb/a")
    write(source, ".gitignore", content="ignored.py\nignored_link\n")
    for name, target in {
        "link.py": "real.py",
        "absolute.py": source / "real.py",
        "chain.py": "link.py",
        "directory": "pkg",
        "ignored_link": "/etc/passwd",
        ".venv": "/usr",
        "pkg/self": "../pkg",
        "pkg/up": "..",
        "out": "../../../outside",
        "secret": tmp_path / "secret",
        "sneaky": "../src/../../../secret",
        "dangling": "nothing",
        "windows": "C:\\data\\a.py",
        "loop": "loop",
        "ping": "pong",
        "pong": "ping",
        "below_a_file": "real.py/a",
        "git": ".git/config",
        "to_ignored.py": "ignored.py",
        "to_default": "wandb/a",
        "root": ".",
        "new\nline": "/etc/hosts",
    }.items():
        (source / name).symlink_to(target)
    scanned = scan_source(str(source))
    found = {file.path: file.origin for file in scanned.listing.files}
    assert sorted(found) == [
        *(".gitignore", "absolute.py", "chain.py", "directory/a.py", "link.py", "pkg/a.py", "real.py")
    ]
    assert found["chain.py"] == str(source / "real.py")
    assert sorted((fault.kind, fault.path) for fault in scanned.faults) == [
        ("around", "directory/self"),
        ("around", "directory/up"),
        ("around", "root"),
        ("ignored", "git"),
        ("ignored", "to_default"),
        ("ignored", "to_ignored.py"),
        ("nowhere", "below_a_file"),
        ("nowhere", "dangling"),
        ("nowhere", "loop"),
        ("nowhere", "ping"),
        ("nowhere", "pong"),
        ("nowhere", "windows"),
        ("outside", "new\nline"),
        ("outside", "out"),
        ("outside", "secret"),
        ("outside", "sneaky"),
    ]
    assert {fault.path: fault.detail for fault in scanned.faults}["windows"] == "C:\\data\\a.py"


@pytest.mark.parametrize("ignored", ["", "link/", "link"])
@pytest.mark.parametrize("name", ["link", ".venv", "wandb"])
def test_links_outside_reveal_no_target(name, ignored, source, tmp_path):
    """The message is equal for a directory, an environment, a file, and a missing target."""
    (tmp_path / "repository/.git").mkdir()
    write(source, "train.py")
    write(source, ".gitignore", content=ignored)
    write(tmp_path, "environment/pyvenv.cfg", "directory/x", "file")
    said = set()
    for target in ("environment", "directory", "file", "nothing", "directory/../repository/job/src/train.py"):
        (source / name).symlink_to(tmp_path / target)
        scanned = scan_source(str(source))
        said.add((tuple((f.kind, f.path) for f in scanned.faults), scanned.left_out, len(scanned.listing.files)))
        (source / name).unlink()
    (faults, left_out, _) = said.pop()
    assert not said
    is_ignored = name == "link" and ignored
    assert faults == ((("outside", name),) if name == "link" and not is_ignored else ())
    assert [path for _, path in left_out] == ([] if name == "link" else [f"{name}/"])


@pytest.mark.slow
def test_multiplying_links_are_reported(source):
    """Each directory holds two links to the next: 2 to the 40th files."""
    for number in range(40):
        write(source, f"{number}/a")
        for name in "bc":
            (source / str(number) / name).symlink_to(f"../{number + 1}" if number < 39 else "../39/a")
    ((kind, _, why),) = faults(source)
    assert (kind, why) == ("unbounded", "links lead to directories more than 2,000 times")


def test_source_may_be_a_link(source, tmp_path):
    write(source, "train.py", "pkg/a.py")
    (source / "link").symlink_to("pkg")
    (tmp_path / "alias").symlink_to(source)
    assert paths(tmp_path / "alias") == ["link/a.py", "pkg/a.py", "train.py"]


def test_only_regular_files_are_listed(source):
    write(source, "train.py")
    os.mkfifo(source / "fifo")
    (source / "fifo_link").symlink_to("fifo")
    server = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(source)  # the name of a socket may have 108 bytes
    server.bind("socket")
    os.chdir(here)
    server.close()
    assert paths(source) == ["train.py"]
    assert faults(source) == [
        ("special", "fifo", "a FIFO"),
        ("special", "fifo_link", "a FIFO"),
        ("special", "socket", "a socket"),
    ]


def test_undecodable_name_is_reported(source):
    write(source, "train.py")
    with open(os.fsencode(source) + b"/caf\xe9.py", "w"):
        pass
    assert faults(source) == [("name", "caf\udce9.py", "")]
    assert paths(source, "caf*") == ["train.py"]
    assert faults(source, "caf*") == []


@pytest.mark.parametrize("unreadable", ["train.py", "pkg", "job.yaml"])
def test_unreadable_file_is_reported(unreadable):
    script = (
        "import os, sys\n"
        "from smspec.workspace.source_listing import scan_source\n"
        "if os.getuid() == 0: os.setresuid(65534, 65534, 65534)\n"
        "for fault in scan_source(sys.argv[1]).faults: print(fault.kind, fault.path, fault.detail)\n"
    )
    with tempfile.TemporaryDirectory() as directory:  # not below tmp_path, where only this user may look
        source = Path(directory)
        source.chmod(0o755)
        write(source, "train.py", "pkg/a.py", "job.yaml")
        (source / unreadable).chmod(0)
        done = subprocess.run([sys.executable, "-c", script, source], capture_output=True, text=True)
        (source / unreadable).chmod(0o755)
    assert done.stdout == f"unreadable {unreadable} Permission denied\n", done.stderr


def test_source_with_too_many_files_is_reported(source, monkeypatch):
    monkeypatch.setattr("smspec.workspace.source_walk.MOST_ENTRIES", 10)
    write(source, *(f"{number}.py" for number in range(10)))
    assert len(paths(source)) == 10
    write(source, "10.py")
    assert faults(source) == [("unbounded", "", "it has more than 10 files and directories")]
    assert paths(source) == []


@pytest.mark.parametrize("directory", ["/", "/usr", "/proc", "/proc/self", "/sys", "/dev", "/etc"])
def test_system_directories_are_not_walked(directory):
    before = time.process_time()
    assert faults(directory) == [("unbounded", "", "it is a directory of the operating system")]
    assert time.process_time() - before < 2  # walked or read, it takes many


def test_huge_file_is_not_read(source, monkeypatch):
    write(source, "train.py")
    with open(source / "data.bin", "wb") as file:
        file.truncate(64 << 30)
    before = time.process_time()
    assert faults(source) == [("unbounded", "", "it has more than 2 GiB")]
    assert time.process_time() - before < 2  # walked or read, it takes many


@pytest.mark.parametrize("name", [".gitignore", ".dockerignore", "pkg/manifest.json", "pkg/run.json"])
@pytest.mark.parametrize("kind", ["fifo", "device", "directory"])
def test_special_ignore_files_are_not_read(source, name, kind):
    """Reading a FIFO waits for its writer, and /dev/zero has no end."""
    write(source, "train.py", "pkg/a.py")
    if kind == "fifo":
        os.mkfifo(source / name)
    elif kind == "device":
        (source / name).symlink_to("/dev/zero")
    else:
        (source / name).mkdir()
    script = "import sys; from smspec.workspace.source_listing import scan_source; scan_source(sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, source], check=True, timeout=30)
    assert paths(source) == ["pkg/a.py", "train.py"]


def test_source_nested_too_deeply_is_reported(source, monkeypatch):
    monkeypatch.setattr("smspec.workspace.source_walk.MOST_LEVELS", 3)
    write(source, "1/2/train.py")
    assert paths(source) == ["1/2/train.py"]
    write(source, "1/2/3/train.py")
    assert faults(source) == [("unbounded", "", "its directories are nested deeper than 3 levels")]

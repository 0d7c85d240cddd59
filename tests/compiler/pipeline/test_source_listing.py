"""What of the author's directory travels, and what never does."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.pipeline.source_listing import list_source
from smspec.pipeline.spec_marker import has_spec_key


@pytest.fixture
def source(tmp_path):
    root = tmp_path / "repository/job/src"
    root.mkdir(parents=True)
    return root


def write(root, *paths, content="x"):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)


def paths(root, *ignore, **options):
    return [file.path for file in list_source(str(root), ignore, **options).files]


def test_files_come_in_the_order_of_their_bytes_with_digest_size_and_executable_bit(source):
    write(source, "b.py", "a/z.py", "a.py", "Z.py", "é.py", "a-b.py")
    (source / "a.py").chmod(0o755)
    found = list_source(str(source)).files
    assert [file.path for file in found] == ["Z.py", "a-b.py", "a.py", "a/z.py", "b.py", "é.py"]
    (script,) = [file for file in found if file.executable]
    assert (script.path, script.size, script.sha256) == ("a.py", 1, hashlib.sha256(b"x").hexdigest())
    assert script.origin == str(source / "a.py")


def test_the_digest_knows_names_contents_and_bits_and_nothing_else(source):
    write(source, "a.py", "b.py")
    before = list_source(str(source)).digest
    os.utime(source / "a.py", (0, 0))
    (source / "b.py").chmod(0o600)
    assert list_source(str(source)).digest == before
    (source / "b.py").chmod(0o700)
    executable = list_source(str(source)).digest
    (source / "b.py").rename(source / "c.py")
    renamed = list_source(str(source)).digest
    write(source, "a.py", content="y")
    assert len({before, executable, renamed, list_source(str(source)).digest}) == 4


def test_what_never_travels(source):
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
def test_yaml_with_the_key_at_the_top_is_a_spec_and_no_source(source, text, is_spec):
    assert has_spec_key(text.encode()) is is_spec
    write(source, "config.yaml", "config.yml", "notes.txt", content=text)
    assert paths(source) == (["notes.txt"] if is_spec else ["config.yaml", "config.yml", "notes.txt"])


@given(st.binary() | st.binary().map(lambda tail: b"smspec: v1\n" + tail) | st.binary().map(b"a: smspec\n".__add__))
def test_no_bytes_are_too_strange(content):
    assert has_spec_key(content) in (True, False)


def test_a_tree_that_smspec_wrote_is_no_source(source):
    """What comes out of a build never goes into the next one, whatever the directory is called."""
    write(source, "train.py", "build/job/Dockerfile", "out/Dockerfile", "mine/a.py")
    write(
        source, "build/job/manifest.json", "out/manifest.json", content='{"smspec": "1", "files": {"Dockerfile": "0"}}'
    )
    write(source, "mine/manifest.json", content='{"files": []}')
    assert paths(source) == ["mine/a.py", "mine/manifest.json", "train.py"]


def test_what_is_excluded_by_its_place(source):
    write(source, "train.py", "run/model/a", "job.yaml")
    assert paths(source, exclude=(str(source / "run"), str(source / "job.yaml"))) == ["train.py"]


def test_gitignore_at_every_level(source):
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
def test_git_would_take_the_same_files(source):
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
def test_a_source_that_is_itself_ignored_was_named_and_so_is_meant(source, pattern):
    (source.parents[1] / ".git").mkdir()
    write(source.parents[1], ".gitignore", content=f"{pattern}\n")
    write(source, "train.py")
    assert paths(source) == ["train.py"]


def test_gitignore_above_counts_only_in_a_repository(source):
    write(source.parents[1], ".gitignore", content="*.log\n")
    write(source, "a.log")
    assert paths(source) == ["a.log"]


def test_dockerignore(source):
    write(source, ".dockerignore", content="# comment\n**/*.md\n!README.md\ntests\n")
    write(source, "README.md", "docs/a.md", "tests/test_a.py", "pkg/tests/test_b.py", "train.py")
    assert paths(source) == [".dockerignore", "README.md", "pkg/tests/test_b.py", "train.py"]


def test_what_dockerignore_leaves_out_is_not_walked(source, monkeypatch):
    """An environment in the source directory has tens of thousands of files."""
    write(source, ".dockerignore", content=".venv\n")
    write(source, "train.py", ".venv/lib/a.py")
    walked = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: walked.append(str(path)) or scandir(path))
    assert paths(source) == [".dockerignore", "train.py"]
    assert walked == [str(source)]
    write(source, ".dockerignore", content=".venv\n!.venv/lib/a.py\n")
    assert paths(source) == [".dockerignore", ".venv/lib/a.py", "train.py"]


def test_the_patterns_of_the_spec(source):
    write(source, "tests/a.py", "pkg/tests/b.py", "a.ipynb", "train.py", "keep.ipynb")
    assert paths(source, "tests/", "*.ipynb", "!keep.ipynb") == ["keep.ipynb", "train.py"]


def test_nobody_overrules_another(source):
    """A `!` takes back what its own kind of file ignored; what anyone else ignores stays behind."""
    write(source, ".gitignore", content="a\n!b\n")
    write(source, ".dockerignore", content="b\n!a\n!c\n")
    write(source, "a", "b", "c", "d")
    assert paths(source, "c", "!a", "!b") == [".dockerignore", ".gitignore", "d"]


def test_links(source, tmp_path):
    write(tmp_path, "secret", "outside/a")
    write(source, "real.py", "pkg/a.py", ".git/config", "ignored.py")
    write(source, ".gitignore", content="ignored.py\n")
    for name, target in {
        "link.py": "real.py",
        "absolute.py": source / "real.py",
        "chain.py": "link.py",
        "directory": "pkg",
        "pkg/self": "../pkg",
        "pkg/up": "..",
        "out": "../../../outside",
        "secret": tmp_path / "secret",
        "sneaky": "../src/../../../secret",
        "dangling": "nothing",
        "loop": "loop",
        "git": ".git/config",
        "to_ignored.py": "ignored.py",
        "root": ".",
    }.items():
        (source / name).symlink_to(target)
    found = {file.path: file.origin for file in list_source(str(source)).files}
    assert sorted(found) == [
        *(".gitignore", "absolute.py", "chain.py", "directory/a.py", "link.py", "pkg/a.py", "real.py")
    ]
    assert found["chain.py"] == str(source / "real.py")


def test_the_source_itself_may_be_a_link(source, tmp_path):
    write(source, "train.py", "pkg/a.py")
    (source / "link").symlink_to("pkg")
    (tmp_path / "alias").symlink_to(source)
    assert paths(tmp_path / "alias") == ["link/a.py", "pkg/a.py", "train.py"]


def test_only_regular_files_travel(source):
    write(source, "train.py")
    os.mkfifo(source / "fifo")
    (source / "fifo_link").symlink_to("fifo")
    assert paths(source) == ["train.py"]


def test_a_name_that_is_not_utf_8_is_told(source):
    write(source, "train.py")
    with open(os.fsencode(source) + b"/caf\xe9.py", "w"):
        pass
    with pytest.raises(OSError, match="not UTF-8") as raised:
        paths(source)
    assert raised.value.filename.endswith("caf\udce9.py")
    assert paths(source, "caf*") == ["train.py"]


def test_a_file_that_cannot_be_read_is_told():
    script = (
        "import os, sys\n"
        "from smspec.pipeline.source_listing import list_source\n"
        "if os.getuid() == 0: os.setresuid(65534, 65534, 65534)\n"
        "try: list_source(sys.argv[1])\n"
        "except PermissionError as fault: print(fault.filename)\n"
    )
    with tempfile.TemporaryDirectory() as directory:  # not below tmp_path, where only this user may look
        source = Path(directory)
        source.chmod(0o755)
        write(source, "train.py")
        (source / "train.py").chmod(0)
        done = subprocess.run([sys.executable, "-c", script, source], capture_output=True, text=True)
    assert done.stdout == f"{source / 'train.py'}\n", done.stderr


def test_an_environment_in_the_source_is_told(source, monkeypatch):
    monkeypatch.setattr("smspec.pipeline.source_listing.MOST_FILES", 10)
    write(source, *(f"{number}.py" for number in range(10)))
    assert len(paths(source)) == 10
    write(source, "10.py")
    with pytest.raises(OSError, match="more than 10 files"):
        paths(source)


@pytest.mark.parametrize("name", [".gitignore", ".dockerignore", "pkg/manifest.json", "pkg/run.json"])
@pytest.mark.parametrize("kind", ["fifo", "device", "directory"])
def test_marks_and_ignore_files_that_are_no_files_are_not_read(source, name, kind):
    """Reading a FIFO waits for its writer, and /dev/zero has no end."""
    write(source, "train.py", "pkg/a.py")
    if kind == "fifo":
        os.mkfifo(source / name)
    elif kind == "device":
        (source / name).symlink_to("/dev/zero")
    else:
        (source / name).mkdir()
    script = "import sys; from smspec.pipeline.source_listing import list_source; list_source(sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, source], check=True, timeout=30)
    assert paths(source) == ["pkg/a.py", "train.py"]


def test_directories_without_end_are_told(source, monkeypatch):
    monkeypatch.setattr("smspec.pipeline.source_listing.MOST_LEVELS", 3)
    write(source, "1/2/train.py")
    assert paths(source) == ["1/2/train.py"]
    write(source, "1/2/3/train.py")
    with pytest.raises(OSError, match="deeper than 3 levels"):
        paths(source)

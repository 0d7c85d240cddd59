"""The boundary of files that a spec may name, with any path and any link."""

import os
import stat
import threading
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.organization.organization_config import parsed_config
from smspec.workspace.boundary import Boundary, FileNotRead, NotAnOrdinaryFile, OtherName, OutOfBounds
from smspec.workspace.boundary_search import boundary_of, is_organization_top
from smspec.workspace.path_targets import has_detour

SECRET = b"not for strangers"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A repository with a file, next to a secret."""
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "repository/.git/config").write_bytes(SECRET)
    (tmp_path / "repository/sub").mkdir()
    (tmp_path / "repository/sub/inside").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(SECRET)
    monkeypatch.chdir(tmp_path / "repository")
    return tmp_path / "repository"


def read(path, most=100):
    return boundary_of(".").read(str(path), most)


def test_file_inside_is_read_under_every_name(place):
    os.symlink("sub", place / "to-sub")
    os.symlink(place / "sub/inside", place / "absolute")
    for name in ("sub/inside", "./sub/../sub/inside", place / "sub/inside", "to-sub/inside", "absolute"):
        assert read(name) == b"inside"


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "/proc/self/environ", "/dev/stdin", ".git/config", ".GIT/config", "", "/"]
)
def test_file_outside_is_not_read(name, place):
    with pytest.raises(FileNotRead):
        read(name)


@pytest.mark.parametrize(
    "target", ["../secret", "../../repository/../secret", "/proc/self/environ", ".git/config", "to-above/secret", ".."]
)
def test_links_out_are_not_read(target, place):
    os.symlink("..", place / "to-above")
    os.symlink(target, place / "link")
    os.symlink("link", place / "link-to-link")
    for name in ("link", "link-to-link"):
        with pytest.raises(FileNotRead):
            read(name)


@pytest.mark.parametrize("directory", ["there", "not-there", "there/below", "secret"])
def test_link_outside_does_not_reveal_existence(directory, place):
    """A link through a directory outside must not reveal whether that directory exists."""
    (place.parent / "there/below").mkdir(parents=True)
    back = "../" * (directory.count("/") + 1)
    os.symlink(f"../{directory}/{back}repository/sub/inside", place / "back")
    os.symlink(place.parent / directory / f"{back}repository/sub", place / "absolute")
    for name in ("back", "absolute/inside"):
        assert not boundary_of(".").contains(name)
        with pytest.raises(OutOfBounds):
            read(name)


def test_link_may_climb_above_the_repository_and_return(place):
    os.symlink("../repository/sub/inside", place / "relative")
    os.symlink(place.parent, place.parent / "alias")
    os.symlink("../alias/repository/sub", place / "aliased")
    for name in ("relative", "aliased/inside", "../alias/repository/sub/inside"):
        assert read(name) == b"inside"


def test_special_file_does_not_block(place):
    os.mkfifo(place / "pipe")
    os.symlink("pipe", place / "to-pipe")
    for name in ("pipe", "to-pipe", "sub", "gone", "sub/inside/deeper", "a" * 5000, "nul\0nul"):
        with pytest.raises(NotAnOrdinaryFile):
            read(name)
        assert not boundary_of(".").is_file(name)


def test_reads_are_limited(place):
    with open(place / "huge", "wb") as file:
        file.truncate(1 << 40)
    assert len(read("huge", 1000)) == 1001


def test_file_with_a_fixed_name_is_not_a_link(place):
    os.symlink("sub/inside", place / "smspec.lock")
    os.symlink("sub/inside", place / "inside")
    with pytest.raises(OtherName):
        boundary_of(".").read_named("smspec.lock", 100)
    assert boundary_of(".").read_named("inside", 100) == b"inside"


def test_kernel_files_are_outside_of_any_boundary(place):
    assert not Boundary("/").contains("/proc/self/environ")
    assert not Boundary("/").contains("/dev/zero")
    assert Boundary("/").contains("/etc/passwd")


def test_concurrent_exchange_does_not_reach_outside(place):
    """One thread makes the file and its directory links to the secret and back, as fast as it can."""
    over = threading.Event()
    (place / "other").mkdir()
    (place / "other/inside").symlink_to("../../secret")

    def exchange():
        while not over.is_set():
            os.rename(place / "sub", place / "was")
            os.rename(place / "other", place / "sub")
            os.rename(place / "sub", place / "other")
            os.symlink("..", place / "sub")
            os.unlink(place / "sub")
            os.rename(place / "was", place / "sub")

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        outcomes = set()
        for _ in range(3000):
            try:
                outcomes.add(read("sub/inside"))
            except FileNotRead as fault:
                outcomes.add(type(fault))
    finally:
        over.set()
        thread.join()
    assert SECRET not in outcomes
    assert outcomes <= {b"inside", OutOfBounds, NotAnOrdinaryFile}


def test_failed_reads_close_their_descriptors(place):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    os.mkfifo(place / "pipe")
    for _ in range(50):
        for name in ("sub/inside", "pipe", "gone/gone", "../secret"):
            try:
                read(name)
            except FileNotRead:
                pass
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


NAMES = st.lists(st.sampled_from(["..", ".", "sub", "inside", "link", "up", "loop", ".git", "secret", "config", "/"]))
TARGETS = st.lists(
    st.sampled_from(["..", ".", "sub", "repository", "secret", "link", "up", ".git", "config"]), min_size=1
)


@given(path=NAMES, link=TARGETS, up=TARGETS, absolute=st.booleans())
def test_no_path_or_link_reaches_the_secret(path, link, up, absolute, tmp_path_factory):
    """Only files inside are read, with links resolved like the system does."""
    top = tmp_path_factory.mktemp("law")
    root = top / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "sub").mkdir()
    for name, content in {"sub/inside": b"inside", ".git/config": SECRET, "../secret": SECRET}.items():
        (root / name).write_bytes(content)
    os.symlink("/".join(link), root / "sub/link")
    os.symlink("/".join(up), root / "up")
    os.symlink("loop", root / "loop")
    written = "/".join([str(root) if absolute else "", *path]) if absolute else os.path.join(root, "sub", *path)
    try:
        content = Boundary(os.path.realpath(root)).read(written, 100)
    except FileNotRead:
        real = Path(os.path.realpath(written))
        is_ours = real.is_relative_to(root) and ".git" not in real.relative_to(root).parts
        is_ours = is_ours and not has_detour(written, str(root))
        assert not (is_ours and stat.S_ISREG(real.lstat().st_mode if os.path.lexists(real) else 0))
    else:
        assert content == b"inside"


def test_boundary_is_the_nearest_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a/b").mkdir(parents=True)
    assert boundary_of(str(tmp_path / "a/b")).root == str(tmp_path)
    # A pull request can add an smspec.toml or a lock, and neither moves the boundary.
    (tmp_path / "a/smspec.toml").touch()
    (tmp_path / "a/smspec.lock").touch()
    assert boundary_of(str(tmp_path / "a/b")).root == str(tmp_path)
    (tmp_path / "a/.git").write_text("gitdir: /")  # a submodule: what its file says moves nothing
    assert boundary_of(str(tmp_path / "a/b")).root == str(tmp_path / "a")


def test_boundary_without_git_is_policy_lock_or_directory(tmp_path):
    here = tmp_path / "a/b/c"
    here.mkdir(parents=True)
    assert boundary_of(str(here)).root == str(here)
    assert boundary_of(str(here), [str(tmp_path / "a")]).root == str(tmp_path / "a")
    assert boundary_of(str(here), [str(tmp_path / "x")]).root == str(here)
    (tmp_path / "a/b/smspec.lock").touch()
    assert boundary_of(str(here)).root == str(tmp_path / "a/b")
    (tmp_path / "a/pyproject.toml").write_text("[tool.smspec]\n")
    assert boundary_of(str(here)).root == str(tmp_path / "a")
    (tmp_path / "a/b/smspec.toml").touch()
    assert boundary_of(str(here)).root == str(tmp_path / "a"), "an inner file hides no outer policy"
    (tmp_path / "smspec.toml").touch()
    assert boundary_of(str(here)).root == str(tmp_path)


def test_shared_directory_is_not_the_outermost(tmp_path):
    here = tmp_path / "shared/a/b"
    here.mkdir(parents=True)
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "shared/smspec.toml").touch()
    (here / "smspec.toml").touch()
    assert boundary_of(str(here)).root == str(here)
    (tmp_path / "shared").chmod(0o755)
    assert boundary_of(str(here)).root == str(tmp_path / "shared")


def test_link_to_another_repository_is_outside(tmp_path):
    for name in ("mine", "other"):
        (tmp_path / name / ".git").mkdir(parents=True)
    (tmp_path / "other/job.yaml").touch()
    os.symlink("../other", tmp_path / "mine/jobs")
    boundary = boundary_of(str(tmp_path / "mine/jobs"))
    assert boundary.root == str(tmp_path / "mine")
    assert not boundary.contains(str(tmp_path / "mine/jobs/job.yaml"))


def spelled(random, word):
    """Return a word as a key of TOML may be written: bare, in quotes, or with escaped letters."""
    escaped = (random.choice([letter, f"\\u{ord(letter):04x}", f"\\U{ord(letter):08X}"]) for letter in word)
    return random.choice([word, f"'{word}'", '"' + "".join(escaped) + '"'])


def test_table_of_a_pyproject_is_found_in_any_spelling(tmp_path):
    """A table that TOML has and smspec overlooks would switch a policy off without a word."""
    random = Random(18)
    for _ in range(400):
        blank = lambda: random.choice(["", " ", "\t", " " * 10, "\t " * 40])  # noqa: E731
        tool, own = spelled(random, "tool"), spelled(random, "smspec")
        table = f"{{{blank()}require_vpc = true{blank()}}}"
        text = blank() + random.choice(
            [
                f"[{blank()}{tool}{blank()}.{blank()}{own}{blank()}]\nrequire_vpc = true",
                f"[{blank()}{tool}{blank()}]\n{blank()}{own} = {table}",
                f"{tool}{blank()}={blank()}{{{blank()}{own}{blank()}={table}}}",
                f"{tool}{blank()}.{blank()}{own}{blank()}={blank()}{table}",
                f"{tool}{blank()}.{blank()}{own}{blank()}.{blank()}require_vpc = true",
            ]
        )
        content = random.choice(["", "x = 1\n", "# a\r\n"]) + text
        assert parsed_config("pyproject.toml", content.encode()), content
        (tmp_path / "pyproject.toml").write_text(content)
        assert is_organization_top(str(tmp_path)), content


def test_size_of_a_pyproject_of_others_costs_no_time(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nx = "\\u0070smspec"\n' + " " * 4_000_000 + "tool " * 800_000)
    before = time.process_time()
    assert not is_organization_top(str(tmp_path))
    assert time.process_time() - before < 5

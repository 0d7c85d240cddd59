"""Who may change the cache: its owner and root, on the whole path to it and in all that is in it."""

import os
import stat
import subprocess
import sys

import pytest

from smspec.local.python.environment import EnvironmentCache
from smspec.workspace.own_directories import UnsafeCache, existing_cache, open_cache, require_safe_entry

STRANGER = 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can create files of a second user")


@pytest.fixture
def place(public_directory, monkeypatch):
    """A directory that contains the cache. Other users of this machine must be able to reach it."""
    place = public_directory / "place"
    place.mkdir(mode=0o755)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(place / "cache"))
    return place


def modes(root):
    return {path.relative_to(root).as_posix(): stat.S_IMODE(path.lstat().st_mode) for path in root.rglob("*")}


def refusal(name="environments"):
    with pytest.raises(UnsafeCache) as refused:
        open_cache(name)
    with pytest.raises(UnsafeCache):
        existing_cache(name)
    assert "set SMSPEC_CACHE_DIR to a directory that only you can write to" in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_new_directories_are_private_whatever_the_umask(place, umask, monkeypatch):
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(place / "deep" / "er" / "cache"))
    old = os.umask(umask)
    try:
        open_cache("environments")
    finally:
        os.umask(old)
    assert set(modes(place).values()) == {0o700}
    assert "deep/er/cache/environments" in modes(place)


def test_nothing_is_created_by_looking(place):
    assert existing_cache("environments") is None
    assert modes(place) == {}


@pytest.mark.parametrize("at", [".", "cache", "cache/environments"])
@pytest.mark.parametrize("mode", [0o777, 0o757, 0o707])
def test_directory_that_others_can_write_to_is_refused(place, at, mode):
    open_cache("environments")
    os.chmod(place / at, mode)
    path = os.path.normpath(place / at)
    assert f"others can write to `{path}` (mode {mode:04o})" in refusal()


@pytest.mark.parametrize("at", ["cache", "cache/environments"])
def test_sticky_directory_of_all_is_refused(place, at):
    open_cache("environments")
    os.chmod(place / at, 0o1777)
    assert "(mode 1777)" in refusal()


def test_cache_in_a_sticky_directory_of_all_is_usable(place):
    os.chmod(place, 0o1777)
    assert open_cache("environments") == str(place / "cache" / "environments")


@as_root
def test_cache_of_a_stranger_in_a_sticky_directory_is_refused(place):
    os.chmod(place, 0o1777)
    (place / "cache").mkdir()
    os.chown(place / "cache", STRANGER, STRANGER)
    assert f"`{place}/cache` belongs to uid {STRANGER}" in refusal()


@as_root
@pytest.mark.parametrize("at", [".", "cache", "cache/environments"])
def test_directory_of_a_stranger_is_refused(place, at):
    open_cache("environments")
    os.chown(place / at, STRANGER, STRANGER)
    assert f"belongs to uid {STRANGER}" in refusal()


@as_root
def test_sticky_directory_of_a_stranger_is_refused(place):
    """Its owner may replace what is in it, sticky bit or not."""
    os.chmod(place, 0o1777)
    os.chown(place, STRANGER, STRANGER)
    assert f"`{place}` belongs to" in refusal()


@as_root
def test_group_with_other_members_is_not_private(place):
    open_cache("environments")
    os.chown(place / "cache", 0, STRANGER)
    os.chmod(place / "cache", 0o775)
    assert "(mode 0775)" in refusal()


@as_root
def test_link_of_a_stranger_is_refused(place, tmp_path):
    os.chmod(place, 0o1777)
    (tmp_path / "real").mkdir(mode=0o700)
    os.symlink(tmp_path / "real", place / "cache")
    os.lchown(place / "cache", STRANGER, STRANGER)
    assert f"`{place}/cache` belongs to" in refusal()


def test_path_behind_an_own_link_is_checked(place):
    open_to_all = place.parent / "open"
    (open_to_all / "real").mkdir(parents=True, mode=0o700)
    os.chmod(open_to_all, 0o777)
    os.symlink("../open/./real/../real", place / "cache")
    assert f"others can write to `{open_to_all}`" in refusal()
    os.chmod(open_to_all, 0o755)
    assert open_cache("environments") == str(place / "cache" / "environments")


def test_links_without_end_are_an_error_of_the_system(place):
    os.symlink("cache", place / "cache")
    with pytest.raises(OSError, match="symbolic links"):
        open_cache("environments")
    assert existing_cache("environments") is None


@pytest.mark.parametrize("name", ["lib", "lib/site.pth"])
def test_entry_that_others_can_write_to_is_refused(place, name):
    entry = place / "entry"
    (entry / "lib").mkdir(parents=True, mode=0o755)
    (entry / "lib" / "site.pth").touch(mode=0o644)
    os.symlink("/nowhere", entry / "lib" / "link")
    require_safe_entry(str(entry))
    os.chmod(entry / name, 0o666 | stat.S_IMODE((entry / name).stat().st_mode))
    with pytest.raises(UnsafeCache, match="others can write"):
        require_safe_entry(str(entry))


@as_root
@pytest.mark.parametrize("name", ["lib", "lib/site.pth", "lib/link"])
def test_entry_with_something_of_a_stranger_is_refused(place, name):
    entry = place / "entry"
    (entry / "lib").mkdir(parents=True, mode=0o755)
    (entry / "lib" / "site.pth").touch(mode=0o644)
    os.symlink("/nowhere", entry / "lib" / "link")
    os.lchown(entry / name, STRANGER, STRANGER)
    with pytest.raises(UnsafeCache, match=f"belongs to uid {STRANGER}"):
        require_safe_entry(str(entry))


LINKS = {
    "entry": ("{entry}", "{strange}"),
    "file": ("{entry}/lib/linked.py", "{strange}/file"),
    "directory": ("{entry}/lib/linked", "{strange}"),
    "two links": ("{entry}/lib/linked", "{own}/to-strange"),
    "on the way": ("{entry}/lib/linked", "{strange}/of-root"),
    "in a safe directory": ("{entry}/lib/linked", "{own}"),
    "relative": ("{entry}/lib/linked", "../../../place/strange/file"),
    "missing": ("{entry}/lib/linked", "{open}/missing"),
    "file that all can write": ("{entry}/lib/linked", "{own}/open"),
}


@pytest.fixture
def linked(place):
    """Places that links of an entry lead to: ``strange`` is of a stranger, ``own`` of root, ``open`` for all."""
    found = {name: place / name for name in ("entry", "strange", "own", "open")}
    for path in (*found.values(), place / "entry/lib"):
        path.mkdir(mode=0o755, exist_ok=True)
    for path in (place / "strange/file", place / "strange/of-root", place / "own/safe"):
        path.touch(mode=0o644)
    for path in (place / "strange/file", place / "strange"):
        os.chown(path, STRANGER, STRANGER)
    os.chmod(place / "open", 0o1777)
    return found


@as_root
@pytest.mark.parametrize("name", LINKS)
def test_link_of_root_to_what_others_can_change_is_refused(place, linked, name):
    link, target = (text.format(**linked) for text in LINKS[name])
    if name in ("two links", "in a safe directory"):
        (place / "own/to-strange").symlink_to("../strange/file")
    if name == "file that all can write":
        (place / "own/open").touch()
        os.chmod(place / "own/open", 0o666)
    require_safe_entry(str(place / "entry"))
    if name == "entry":
        os.rename(link, f"{link}.moved")
    os.symlink(target, link)
    with pytest.raises(UnsafeCache, match=f"belongs to uid {STRANGER}|others can write"):
        require_safe_entry(str(place / "entry"))


@as_root
def test_links_to_what_only_root_can_change_are_usable(place, linked):
    """Also without a target, in a circle, to what is above, and to the Python of a stranger that runs anyway."""
    above = ["../lib", ".", "..", "circle", *(str(place / "own" / name) for name in ("", "safe", "missing"))]
    for number, target in enumerate(above):
        os.symlink(target, place / f"entry/lib/link{number}")
    os.symlink("circle", place / "entry/lib/circle")
    os.symlink(place / "strange/file", place / "entry/lib/python")
    os.symlink("python", place / "entry/lib/python3")
    require_safe_entry(str(place / "entry"), [os.path.realpath(place / "strange/file")])


CACHE = """
import os, sys
from smspec.local.python.environment import EnvironmentCache
os.setgroups([]); os.setgid({user}); os.setuid({user})
with EnvironmentCache() as cache:
    print(cache.hold("key", lambda path, lock: sys.exit("made again"), lambda: None))
"""


@as_root
def test_two_users_share_a_cache_of_root_read_only(place):
    closed = [path for path in place.parents if not path.stat().st_mode & 0o001]
    if closed:
        pytest.skip(f"other users cannot reach {closed[0]}")

    def make(path, lock):
        os.makedirs(f"{path}/lib", 0o777)

    old = os.umask(0)
    try:
        with EnvironmentCache() as cache:
            made = cache.hold("key", make, lambda: None)
    finally:
        os.umask(old)
    assert not [mode for mode in modes(place).values() if mode & 0o022]
    words = [sys.executable, "-c", CACHE.format(user=STRANGER)]
    private = subprocess.run(words, capture_output=True, text=True)
    assert private.returncode != 0 and "ermission denied; set SMSPEC_CACHE_DIR" in private.stderr
    subprocess.run(["chmod", "-R", "a+rX", place / "cache"], check=True)
    shared = subprocess.run(words, capture_output=True, text=True)
    assert (shared.returncode, shared.stdout.strip()) == (0, made), shared.stderr

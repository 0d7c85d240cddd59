"""A cache in a repository: what a pull request brings is never run as the Python or the packages of a job."""

import os
import sys

import pytest

from smspec.workspace.own_directories import UnsafeCache, existing_cache, open_cache
from support.git_repository import commit, git, repository
from support.small_job import BUILT, write_job
from support.smspec_command import environment, smspec_process

PYTHON = ".cache/smspec/pythons/cpython-3.10.99-linux/bin/python3"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = repository(tmp_path / "home")
    write_job(home, BUILT.replace("3.12", "3.10"))
    (home / ".gitignore").write_text(".cache/\n")
    commit(home)
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(home / ".cache/smspec"))
    return home


def add_program(home, tmp_path, name=PYTHON):
    program = home / name
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho started > "{tmp_path}/started"\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)


def track_a_file(home, tmp_path):
    add_program(home, tmp_path)
    git(home, "add", "--force", PYTHON)


def track_a_link(home, tmp_path):
    add_program(home, tmp_path, PYTHON.replace(".cache", "tools"))
    (home / ".cache").mkdir()
    (home / ".cache/smspec").symlink_to("../tools/smspec")
    git(home, "add", "--force", ".cache", "tools")


def track_a_link_above(home, tmp_path):
    add_program(home, tmp_path, PYTHON.replace(".cache", "tools"))
    (home / ".cache").symlink_to("tools")
    git(home, "add", "--force", ".cache", "tools")


def nest_a_repository(home, tmp_path):
    add_program(home, tmp_path)
    nested = repository(home / ".cache/smspec")
    git(nested, "add", "--all")


TRACKED = {
    "a file": track_a_file,
    "a link to a directory": track_a_link,
    "a link above": track_a_link_above,
    "a nested repository": nest_a_repository,
}


@pytest.mark.parametrize("case", TRACKED)
def test_cache_with_tracked_files_is_refused(home, tmp_path, case):
    TRACKED[case](home, tmp_path)
    for look in (open_cache, existing_cache):
        with pytest.raises(UnsafeCache, match="git tracks files there"):
            look("pythons")


def test_cache_without_tracked_files_is_used(home):
    """A CI restores it from its own storage; git ignores it, or does not know it."""
    assert existing_cache("environments") is None
    path = open_cache("environments")
    assert existing_cache("environments") == path and os.path.isdir(path)


def test_cache_of_no_repository_needs_no_git(tmp_path, monkeypatch):
    monkeypatch.setenv("SMSPEC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert open_cache("environments")


@pytest.mark.process
@pytest.mark.parametrize("command", ["check", "run"])
def test_python_of_a_pull_request_is_not_started(home, tmp_path, command):
    track_a_file(home, tmp_path)
    own = {"SMSPEC_CACHE_DIR": str(home / ".cache/smspec"), "PYENV_ROOT": str(tmp_path), "HOME": str(tmp_path)}
    done = smspec_process(command, cwd=home, env=environment(PATH="/usr/bin:/bin", **own))
    assert done.status == 3 and "git tracks files there" in done.err, done.err
    assert not (tmp_path / "started").exists()


def test_cache_is_refused_where_git_waits(home):
    """git reads a FIFO for ever: what it tracks is unknown then."""
    (home / ".cache/smspec").mkdir(parents=True)
    (home / ".git/index").unlink()
    os.mkfifo(home / ".git/index")
    with pytest.raises(UnsafeCache, match="cannot list what it tracks"):
        existing_cache("pythons")

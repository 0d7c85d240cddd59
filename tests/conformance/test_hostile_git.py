"""Hostile working trees: no program runs because of one, and its own history is never believed."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from support.git_repository import commit, git
from support.hostile_git import ATTACKS, place_of, program_at
from support.hostile_git_variables import VARIABLES, other_repository
from support.smspec_command import environment, smspec

EFFECTS = {"security", "hosts", "cost"}
OWN_DIRECTORY = {
    "nested repository",
    "submodule",
    "working tree of another repository",
    *(name for name in ATTACKS if name.startswith(("file .git", "link .git", "empty directory .git"))),
}
"""Where the current directory is in a repository of its own, who chose the directory chose the repository."""


@pytest.fixture
def place(tmp_path):
    return place_of(tmp_path)


def assert_seen(place, directory, path, base="main"):
    """The change is reported, or nothing is: exit status 3 with a sentence."""
    done = smspec("diff", "--base", base, "--format", "json", path, cwd=directory)
    if done.status == 3:
        assert done.err.startswith("smspec: ") and done.out == ""
    else:
        assert done.status == 1, done
        found = {change["kind"] for job in json.loads(done.out) for change in job["changes"]}
        assert found >= EFFECTS or [job["status"] for job in json.loads(done.out)] == ["added"], done
    checked = smspec("validate", "--changed", base, path, cwd=directory)
    assert checked.status == 3 or "checked 1 job" in checked.err, checked
    smspec("build", "--changed", base, path, cwd=directory)
    assert not place.ran.exists()
    return done, checked


@pytest.mark.parametrize("attack", ATTACKS)
def test_change_in_a_hostile_tree_is_reported(place, attack):
    ATTACKS[attack](place)
    place.ran.unlink(missing_ok=True)  # git runs a filter of the user when the tree is made
    assert_seen(place, place.home, "jobs")


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in OWN_DIRECTORY])
def test_change_in_a_hostile_current_directory_is_reported(place, attack):
    ATTACKS[attack](place)
    place.ran.unlink(missing_ok=True)
    assert_seen(place, place.home / "jobs", ".")


@pytest.mark.parametrize("variable", VARIABLES)
def test_variables_lead_to_no_other_history(place, monkeypatch, variable):
    other = other_repository(place)
    value = VARIABLES[variable].format(other=other, home=place.home, program=place.program, ran=place.ran)
    monkeypatch.setenv(variable, value)
    done, checked = assert_seen(place, place.home, "jobs")
    assert (done.status, checked.status) == (1, 0), done.err + checked.err


def test_counted_settings_are_ignored(place, monkeypatch):
    values = {"core.fsmonitor": place.program, "filter.x.clean": place.program, "core.worktree": place.home.parent}
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(values)))
    for number, (name, value) in enumerate(values.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", name)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", str(value))
    assert assert_seen(place, place.home, "jobs")[0].status == 1


@pytest.mark.parametrize("entry", [".", "", "tools", "{home}/tools", "../tools"])
def test_git_of_the_tree_does_not_run(place, monkeypatch, entry):
    for directory in (place.home, place.home / "jobs", place.home / "tools", place.home / "jobs/tools"):
        directory.mkdir(exist_ok=True)
        program_at(directory / "git", place.ran)
    monkeypatch.setenv("PATH", f"{entry.format(home=place.home)}{os.pathsep}{os.environ['PATH']}")
    assert assert_seen(place, place.home, "jobs")[0].status == 1
    assert assert_seen(place, place.home / "jobs", ".")[0].status == 1


@pytest.mark.parametrize(
    "revision", ["--upload-pack={}", "-cx", "--all", "-", "^main", "main..topic", ":jobs/job.yaml", "--output={}", "\n"]
)
def test_revision_is_never_an_option(place, revision):
    revision = revision.format(place.program)
    for words in (["diff", f"--base={revision}"], ["validate", f"--changed={revision}"]):
        done = smspec(*words, "jobs", cwd=place.home)
        assert done.status == 3 and "revision" in done.err, done
    assert not place.ran.exists()


def test_local_branch_like_a_remote_one_is_ambiguous(place):
    git(place.home, "update-ref", "refs/remotes/origin/main", "main")
    assert assert_seen(place, place.home, "jobs", "origin/main")[0].status == 1
    git(place.home, "branch", "origin/main", "topic")
    done, _ = assert_seen(place, place.home, "jobs", "origin/main")
    assert done.err == (
        f"smspec: `origin/main` is ambiguous in `{place.home}`: `refs/heads/origin/main` and "
        "`refs/remotes/origin/main` are different; name one of them\n"
    )
    assert smspec("diff", "--base", "refs/remotes/origin/main", "jobs", cwd=place.home).status == 1


def test_branch_like_an_abbreviated_commit_is_ambiguous(place):
    short = git(place.home, "rev-parse", "--short=8", "main")
    git(place.home, "branch", short, "topic")
    assert assert_seen(place, place.home, "jobs", short)[0].status == 3
    assert assert_seen(place, place.home, "jobs", f"{short}~0")[0].status == 3


def test_same_commit_under_two_names_is_not_ambiguous(place):
    git(place.home, "tag", "main", "main")
    assert assert_seen(place, place.home, "jobs")[0].status == 1


def test_directory_that_is_a_link_has_the_history_of_the_link(place):
    """Its target is a repository in which nothing has changed."""
    other = other_repository(place)
    shutil.rmtree(place.home / "jobs")
    (place.home / "jobs").symlink_to(other / "jobs")
    commit(place.home)
    done = smspec("diff", "--base", "main", "--format", "json", "jobs", cwd=place.home)
    assert done.status != 0, done
    assert smspec("validate", "--changed", "main", "jobs", cwd=place.home).status != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_repository_of_another_user_is_refused_with_the_way_out(place, monkeypatch):
    monkeypatch.delenv("SUDO_UID", raising=False)
    for directory in (place.home, place.home / ".git"):
        os.chown(directory, 65534, 65534)
    done, checked = assert_seen(place, place.home, "jobs")
    assert done.status == checked.status == 3
    assert done.err == (
        f"smspec: git does not trust `{place.home}`, which belongs to a different user: if you do, run `git config "
        f"--global --add safe.directory {place.home}`\n"
    )


def test_directory_without_git_has_no_history(place):
    """Without an outer repository, there is no history."""
    ATTACKS["embedded repository"](place)
    shutil.rmtree(place.home / ".git")
    done, checked = assert_seen(place, place.home / "jobs", ".")
    assert done.status == checked.status == 3


def test_action_runs_git_in_no_embedded_repository(place):
    """The step that looks for the base has the same git."""
    ATTACKS["embedded repository"](place)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from workflow import repository; "
        "found = repository(); print(found.top, found.parents(found.commit('HEAD')))"
    )
    action = os.path.join(os.path.dirname(__file__), "../../.github/action")
    done = subprocess.run(
        [sys.executable, "-c", code, action],
        cwd=place.home / "jobs",
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == str(place.home)
    assert git(place.home, "rev-parse", "HEAD~1") in done.stdout
    assert not place.ran.exists()

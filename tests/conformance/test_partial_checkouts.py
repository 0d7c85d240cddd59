"""Clones that lack files of a commit: what is missing and may be a job is named, and nothing else stops a review."""

import os
import shutil

import pytest

from support.git_repository import GIT_VERSION, commit, git, repository
from support.review.diff_outcomes import rewrite
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

pytestmark = pytest.mark.skipif(GIT_VERSION < (2, 35), reason="needs git 2.35")

OTHER = BUILT.replace("name: small", "name: other")
COMMANDS = (("diff", "--base"), ("validate", "--changed"))


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs")
    (home / "here.txt").write_text("a spec: no\n")
    (home / "here.conf").write_text(OTHER)
    for name in ("web/a.txt", "web/b.txt", "web/text/c.txt", "web/d/specs.md"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("smspec is a word here\n")
    (home / "web/job.conf").write_text(OTHER)
    (home / "web/yaml").mkdir()
    (home / "web/yaml/values.yaml").write_text("a: smspec\n")
    os.symlink("a.txt", home / "web/current")
    commit(home)
    return home


def statuses(home, *paths, base="main"):
    return {command: smspec(command, option, base, *paths, cwd=home).status for command, option in COMMANDS}


LINKS = {
    "b.txt": False,
    "text": False,
    "d": False,
    "gone": False,
    "/etc/passwd": False,
    "../../outside": False,
    "current": False,
    "../here.txt": False,
    "../here.conf": True,
    "job.conf": True,
    "yaml": False,
    ".": False,
    "../jobs": True,
}


@pytest.mark.parametrize("target", LINKS)
def test_absent_link_counts_if_it_leads_to_a_spec(home, target):
    git(home, "checkout", "-q", "-b", "change")
    (home / "web/current").unlink()
    os.symlink(target, home / "web/current")
    commit(home)
    git(home, "sparse-checkout", "set", "--no-cone", "/*", "!/web")
    expected = 3 if LINKS[target] else 0
    assert statuses(home, ".") == {"diff": expected, "validate": expected}
    assert statuses(home, "jobs") == {"diff": 0, "validate": 0}


def test_many_links_that_are_not_checked_out_end(home):
    git(home, "checkout", "-q", "-b", "change")
    for number in range(1200):
        os.symlink(f"l{number + 1}", home / f"web/l{number}")
    commit(home)
    git(home, "sparse-checkout", "set", "--no-cone", "/*", "!/web")
    assert statuses(home, ".") == {"diff": 0, "validate": 0}


@pytest.mark.parametrize(("name", "is_spec"), [("web/app.js", False), ("web/app.json", False), ("web/app.yaml", True)])
def test_file_without_its_object_is_a_spec_by_its_name(home, tmp_path, name, is_spec):
    """So does actions/checkout with `sparse-checkout`: it fetches the objects of the chosen directories only."""
    git(home, "checkout", "-q", "-b", "change")
    (home / name).write_text("changed\n")
    commit(home)
    for key in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        git(home, "config", key, "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{home}", str(clone))
    git(clone, "sparse-checkout", "set", "--cone", "jobs")
    git(clone, "checkout", "-q", "-B", "change", "origin/change")
    done = smspec("validate", "--changed", "origin/main", ".", cwd=clone)
    assert done.status == (3 if is_spec else 0), done
    assert smspec("validate", "--changed", "origin/main", "jobs", cwd=clone).status == 0


def changed_submodule(outer, home, module):
    """Make a repository with a job, and a change of a submodule that is not checked out."""
    repository(outer)
    write_job(outer / "jobs")
    allow = ("-c", "protocol.file.allow=always")
    git(outer, *allow, "submodule", "add", "-q", str(home), module)
    commit(outer)
    git(outer, "checkout", "-q", "-b", "change")
    rewrite(outer / module / "jobs/job.yaml", "epochs: 2", "epochs: 3")
    commit(outer / module)
    commit(outer)
    git(outer, "submodule", "deinit", "-q", "-f", module)
    return outer


@pytest.fixture
def outer(home, tmp_path):
    return changed_submodule(tmp_path / "outer", home, "module")


@pytest.mark.parametrize("is_here", [True, False], ids=["empty", "no directory"])
def test_changed_absent_submodule_is_not_compared(outer, is_here):
    if not is_here:
        (outer / "module").rmdir()
    for command, option in COMMANDS:
        done = smspec(command, option, "main", ".", cwd=outer)
        assert "the submodule `module` changed, and is not checked out, so nothing in it is compared" in done.err
        assert done.status == (2 if command == "diff" else 3)
    assert statuses(outer, "jobs") == {"diff": 0, "validate": 0}


@pytest.mark.parametrize("base", ["change", "HEAD"])
def test_unchanged_absent_submodule_does_not_stop_a_review(outer, base):
    rewrite(outer / "jobs/job.yaml", "epochs: 2", "epochs: 3")
    assert statuses(outer, ".", base=base) == {"diff": 1, "validate": 0}


def test_removed_submodule_does_not_stop_a_review(outer):
    git(outer, "rm", "-q", "module")
    commit(outer)
    assert statuses(outer, ".") == {"diff": 0, "validate": 0}


@pytest.mark.parametrize("part", ["extends", "source", "policy"])
def test_job_made_from_an_absent_submodule_is_not_compared(outer, part):
    text = BUILT
    if part == "extends":
        text = text.replace("smspec: v1\n", "smspec: v1\nextends: [../module/org.yaml]\n", 1)
    elif part == "source":
        shutil.rmtree(outer / "jobs/src")
        text = text.replace("source: src/", "source: ../module/jobs/src/")
    else:
        os.symlink("../module/smspec.toml", outer / "jobs/smspec.toml")
    (outer / "jobs/job.yaml").write_text(text)
    found = {command: smspec(command, option, "main", "jobs", cwd=outer) for command, option in COMMANDS}
    assert (found["diff"].status, found["validate"].status) == (2, 3)
    assert all("the submodule `module` changed" in done.err for done in found.values())


def test_absent_submodule_in_the_source_of_a_job_is_named(home, tmp_path):
    """Its files are part of what the job runs, also if only the job is passed."""
    outer = changed_submodule(tmp_path / "outer", home, "jobs/src/library")
    assert statuses(outer, "jobs/job.yaml") == {"diff": 2, "validate": 3}

"""A spec that CI submits by its path is compared by that path, whatever a pull request puts around it."""

import json
import os
import shutil

import pytest

from support.git_repository import commit, git, repository
from support.review.diff_outcomes import jobs
from support.small_job import PROGRAM, write_job
from support.smspec_command import smspec

ADMIN = "role: arn:aws:iam::111122223333:role/Admin\n"
TEAM = "smspec: v1\nrole: arn:aws:iam::111122223333:role/Training\n"
JOB = """\
smspec: v1
name: ctr
description: click-through rate
extends: [../../teams/base.yaml]
region: us-west-2
image: {base: "python:3.12-slim-bookworm"}
source: src/
entry_point: train.py
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/ctr/
"""
EVIL = JOB + ADMIN
MANIFEST = json.dumps({"smspec": "1", "files": {}})
RUN = json.dumps({"kind": "smspec run"})
SPEC = "jobs/ctr/job.yaml"


@pytest.fixture
def home(tmp_path):
    """A repository with a job that CI submits as jobs/ctr/job.yaml."""
    directory = repository(tmp_path / "home")
    write(directory, "teams/base.yaml", TEAM)
    write_job(directory / "jobs/ctr", JOB)
    commit(directory)
    return directory


def write(home, name, text):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    path.write_text(text)


def link(home, name, target):
    path = home / name
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.is_symlink() or path.exists():
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(target, path)


def decoy(home, name="jobs/a"):
    write_job(home / name, JOB)


def other_spec(**more):
    return "".join(f"{key}: {value}\n" for key, value in {"smspec": "v1", "name": "ctr", **more}.items())


def extended(home):
    write(home, SPEC, EVIL)
    write(home, "jobs/ctr2/job.yaml", other_spec(extends="[../ctr/job.yaml]") + TEAM.partition("\n")[2])


def marked(home, marker="manifest.json", content=MANIFEST):
    write(home, SPEC, EVIL)
    write(home, f"jobs/ctr/{marker}", content)
    decoy(home)


def marked_above(home):
    write(home, SPEC, EVIL)
    write(home, "jobs/manifest.json", MANIFEST)
    decoy(home, "other/ctr")


def aliased(home):
    text = EVIL.replace("smspec: v1\n", "").replace(
        "description: click", "description: &k smspec\n*k : v1\ntags: {a: b}\n#"
    )
    write(home, SPEC, text)
    decoy(home)


def linked_spec(home):
    decoy(home)
    link(home, SPEC, "../a/job.yaml")
    write(home, "jobs/ctr/src/train.py", PROGRAM + "print('evil')\n")


def linked_directory(home):
    decoy(home, "x/y/ctr")
    write(home, "x/teams/base.yaml", TEAM)
    write(home, "teams/base.yaml", TEAM.partition("role")[0] + ADMIN)
    link(home, "jobs/ctr", "../x/y/ctr")


def linked_parent(home):
    decoy(home, "x/jobs/ctr")
    write(home, "x/teams/base.yaml", TEAM)
    write(home, "teams/base.yaml", TEAM.partition("role")[0] + ADMIN)
    link(home, "jobs", "x/jobs")


def hidden_target(home):
    write(home, "jobs/.x/job.yaml", EVIL)
    link(home, SPEC, "../.x/job.yaml")


def hidden_directory(home):
    shutil.move(home / "jobs/ctr", home / "jobs/.ctr")
    write(home, "jobs/.ctr/job.yaml", EVIL)
    link(home, "jobs/ctr", ".ctr")
    decoy(home)


def same_name(home):
    write(home, SPEC, EVIL)
    decoy(home)


def other_name(home):
    write(home, SPEC, EVIL.replace("name: ctr", "name: other"))
    decoy(home)


def swapped(home):
    """The job goes to another path, and another job to its path."""
    shutil.move(home / "jobs/ctr", home / "jobs/b")
    write_job(home / "jobs/ctr", EVIL.replace("name: ctr", "name: other"))


def other_suffix(home):
    write(home, "jobs/ctr/job.txt", EVIL)
    link(home, SPEC, "job.txt")
    decoy(home)


def in_a_circle(home):
    write(home, SPEC, EVIL)
    write(home, "jobs/b/job.yaml", other_spec(extends="[../c/job.yaml]") + TEAM.partition("\n")[2])
    write(home, "jobs/c/job.yaml", other_spec(extends="[../ctr/job.yaml]"))


WAYS = {
    "extended by another": extended,
    "extended by one of several": in_a_circle,
    "below a marker of a build": marked,
    "below a marker of a run": lambda home: marked(home, "run.json", RUN),
    "below a marker further up": marked_above,
    "with an alias as its key": aliased,
    "a link to another spec": linked_spec,
    "below a link": linked_directory,
    "below a link further up": linked_parent,
    "a link to a hidden file": hidden_target,
    "below a link to a hidden directory": hidden_directory,
    "a link to a file with another suffix": other_suffix,
    "with a second job of its name": same_name,
    "with another name": other_name,
    "in place of another job": swapped,
}


def changes(home, *words):
    done = smspec("diff", "--base", "main", "--format", "json", ".", *words, cwd=home)
    return [(one["file"], change) for one in jobs(done) for change in one["changes"]]


@pytest.mark.parametrize("case", WAYS)
def test_path_that_is_submitted_is_compared(home, case):
    WAYS[case](home)
    assert smspec("build", SPEC, "-o", "../built", cwd=home).status == 0, "nothing could be submitted"
    of_it = [change for file, change in changes(home) if file == SPEC]
    code = [change for change in of_it if change["kind"] == "code"]
    roles = [change for change in of_it if change["path"] == "role" and change["old"] is not None]
    assert code or [(change["old"][-8:], change["new"][-5:]) for change in roles] == [("Training", "Admin")]
    assert smspec("diff", "--base", "main", ".", "--fail-on", "security,code", cwd=home).status == 1


@pytest.mark.parametrize("case", ["extended by another", "below a marker of a build", "below a link"])
def test_spec_that_a_search_lost_is_named(home, case):
    WAYS[case](home)
    (file, first), *others = changes(home)
    assert (file, first["kind"]) == (SPEC, "security") and "no longer lists" in first["what"]
    assert not [change for _, change in others if "a search" in change["what"]]


@pytest.mark.parametrize("case", ["extended by another", "below a marker of a build", "a link to another spec"])
def test_spec_that_no_search_listed_before_is_compared(home, case):
    """It is the state of the base, too; then only what it names changes."""
    WAYS[case](home)
    write(home, SPEC, JOB) if not (home / SPEC).is_symlink() else None
    commit(home)
    write(home, "jobs/ctr/src/train.py", PROGRAM + "print('evil')\nprint('more')\n")
    assert (SPEC, "code") in [(file, change["kind"]) for file, change in changes(home)]
    assert not [change for _, change in changes(home) if "no longer lists" in change["what"]]


def test_directory_link_of_the_base_is_compared_by_its_path(home):
    """The same file names other base specs by its second path."""
    decoy(home, "x/y/second")
    write(home, "x/teams/base.yaml", TEAM)
    link(home, "jobs/second", "../x/y/second")
    commit(home)
    write(home, "teams/base.yaml", TEAM.partition("role")[0] + ADMIN)
    found = {file for file, change in changes(home) if change["path"] == "role"}
    assert found == {SPEC, "jobs/second/job.yaml"}


def test_link_to_a_directory_is_switched(home):
    """Nothing below the directories changes, but what `current/job.yaml` is does."""
    for version, role in (("v1", TEAM.partition("\n")[2]), ("v2", ADMIN)):
        write_job(home / "releases" / version, JOB.replace("extends: [../../teams/base.yaml]\n", role))
    link(home, "current", "releases/v1")
    commit(home)
    link(home, "current", "releases/v2")
    (found,) = [(file, change["new"]) for file, change in changes(home) if change["path"] == "role"]
    assert found == ("current/job.yaml", ADMIN.split(" ")[1].strip())


def test_marker_that_git_ignores_hides_output(home):
    """Honest output of smspec, which may hold a spec, is no job."""
    write(home, ".gitignore", "build/\n")
    commit(home)
    write_job(home / "build/ctr", EVIL)
    write(home, "build/ctr/manifest.json", MANIFEST)
    assert smspec("diff", "--base", "main", ".", cwd=home) == (0, "", "no differences\n")
    assert smspec("validate", "--changed", "main", ".", cwd=home).status == 0


def behind(module, directory):
    """Move the job of a submodule into a directory that no search enters, and leave a link to it."""
    (module / directory).mkdir()
    shutil.move(module / "ctr", module / directory / "ctr")
    link(module, "ctr", f"{directory}/ctr")
    write(module, f"{directory}/ctr/job.yaml", OF_MODULE + ADMIN)


OF_MODULE = EVIL.replace("extends: [../../teams/base.yaml]\n", "").removesuffix(ADMIN)
WAYS_OF_A_MODULE = {
    "openly": lambda module: write(module, "ctr/job.yaml", OF_MODULE + ADMIN),
    "below a marker": lambda module: [
        write(module, "ctr/job.yaml", OF_MODULE + ADMIN),
        write(module, "ctr/manifest.json", MANIFEST),
    ],
    "below a link to a hidden directory": lambda module: behind(module, ".h"),
    "below a link to a directory that no search enters": lambda module: behind(module, "node_modules"),
}


@pytest.fixture
def module(home, tmp_path):
    """The submodule jobs/theirs of the repository, with a job of its own."""
    theirs = repository(tmp_path / "theirs")
    write_job(theirs / "ctr", OF_MODULE + TEAM.partition("\n")[2])
    write(theirs, ".gitignore", "build/\n")
    commit(theirs)
    git(home, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs), "jobs/theirs")
    commit(home)
    return home / "jobs/theirs"


@pytest.mark.parametrize("case", WAYS_OF_A_MODULE)
def test_job_of_a_changed_submodule_is_compared(home, module, case):
    WAYS_OF_A_MODULE[case](module)
    commit(module)
    assert smspec("build", "jobs/theirs/ctr/job.yaml", "-o", "../built", cwd=home).status == 0
    (file, first), *others = [(file, change) for file, change in changes(home)]
    assert (file, first["kind"]) == ("jobs/theirs/ctr/job.yaml", "security")
    assert case == "openly" or "no longer lists" in first["what"]
    assert first["path"] == "role" or (file, "role") in [(file, change["path"]) for file, change in others]
    assert smspec("diff", "--base", "main", ".", "--fail-on", "security,code", cwd=home).status == 1


def test_changed_link_into_a_submodule_is_compared(home, module):
    link(home, "jobs/second", "theirs/ctr")
    git(home, "add", "-A")
    assert ("jobs/second/job.yaml", "role") in [(file, change["path"]) for file, change in changes(home)]
    commit(home)
    write(home, "README.md", "changed\n")
    assert smspec("diff", "--base", "main", ".", cwd=home) == (0, "", "no differences\n")
    write(module, "ctr/job.yaml", OF_MODULE + ADMIN)
    commit(module)
    assert "jobs/theirs/ctr/job.yaml" in [file for file, _ in changes(home)]


def test_marker_in_an_unreadable_submodule_hides_nothing(home, module):
    WAYS_OF_A_MODULE["below a marker"](module)
    (module / ".git").write_text("gitdir: /nowhere\n")
    assert "jobs/theirs/ctr/job.yaml" in [file for file, _ in changes(home)]


def test_marker_that_git_ignores_hides_output_in_a_submodule(home, module):
    write(module, "README.md", "changed\n")
    commit(module)
    write_job(module / "build/ctr", OF_MODULE + ADMIN)
    write(module, "build/ctr/manifest.json", MANIFEST)
    assert not [file for file, _ in changes(home) if "build" in file]


def test_marker_of_a_commit_hides_nothing_from_validation(home):
    write(home, "jobs/ctr/manifest.json", MANIFEST)
    commit(home)
    write(home, SPEC, JOB + "retires: 3\n")
    done = smspec("validate", "--changed", "main~1", ".", cwd=home)
    assert done.status == 1 and "retires" in done.err + done.out


@pytest.mark.parametrize("form", ["removed", "base spec", "other text", "directory"])
def test_job_that_is_gone_is_only_gone(home, form):
    """What `build` no longer accepts was removed: a job may become a base spec, or another file."""
    (home / SPEC).unlink()
    if form == "base spec":
        write(home, SPEC, TEAM)
        write(home, "jobs/new/job.yaml", JOB.replace("name: ctr", "name: new"))
        write(home, "jobs/new/src/train.py", PROGRAM)
    elif form == "other text":
        write(home, SPEC, "services: {}\n")
    elif form == "directory":
        write(home, f"{SPEC}/README.md", "")
    found = [(file, change["what"]) for file, change in changes(home) if file.endswith(SPEC)]
    assert found == [(f"main:{SPEC}", "the job is gone")]


def test_link_in_the_same_directory_is_not_compared_twice(home):
    link(home, "jobs/ctr/latest.yaml", "job.yaml")
    commit(home)
    write(home, SPEC, EVIL)
    assert {file for file, _ in changes(home)} == {SPEC}
    write(home, SPEC, JOB)
    assert smspec("diff", "--base", "main", ".", cwd=home) == (0, "", "no differences\n")


def test_links_in_a_circle_end(home):
    for name in ("a", "b", "c"):
        link(home, f"loops/{name}", ".")
    link(home, "loops/d/up", "../..")
    commit(home)
    assert smspec("diff", "--base", "main", ".", cwd=home) == (0, "", "no differences\n")


def test_part_of_a_job_is_not_reported(home):
    """It is not whole, so it cannot be submitted: its errors are not reported."""
    write(home, "teams/base.yaml", TEAM + "name: nothing\n")
    commit(home)
    write(home, "teams/base.yaml", TEAM + "name: nothing\nretries: 2\n")
    assert {file for file, _ in changes(home)} == {SPEC}


def below_a_hidden_directory(home):
    shutil.move(home / "jobs/ctr", home / "jobs/.ctr")
    link(home, "jobs/ctr", ".ctr")
    decoy(home)


AFFECTED = {
    "extended by another": (extended, "jobs/ctr/src/train.py"),
    "a link to another spec": (linked_spec, "jobs/ctr/src/train.py"),
    "below a link to a hidden directory": (below_a_hidden_directory, "jobs/.ctr/src/train.py"),
    "below a link": (linked_directory, "teams/base.yaml"),
}


@pytest.mark.parametrize("case", AFFECTED)
def test_affected_job_that_no_search_lists_is_named(home, case):
    """Its spec does not change, only what it is made from."""
    change, affected = AFFECTED[case]
    change(home)
    commit(home)
    assert "no changes" in smspec("validate", "--changed", "main", ".", cwd=home).err
    write(home, affected, (home / affected).read_text() + "\n# more\n")
    for command, what in (("validate", "checked, but not against others"), ("build", "pass them by name")):
        done = smspec(command, "--changed", "main", ".", cwd=home)
        assert f"not searched, but job specs: `{SPEC}`; {what}\n" in done.err, done
        assert "no changes" not in done.err


@pytest.mark.parametrize("form", ["a link next to it", "a part of a job"])
def test_path_without_a_job_of_its_own_is_not_named(home, form):
    if form == "a part of a job":
        write(home, "teams/base.yaml", TEAM + "name: nothing\n")
    else:
        link(home, "jobs/ctr/latest.yaml", "job.yaml")
    commit(home)
    write(home, "teams/base.yaml", (home / "teams/base.yaml").read_text() + "# more\n")
    done = smspec("validate", "--changed", "main", ".", cwd=home)
    assert "checked 1 job" in done.err and "not searched" not in done.err

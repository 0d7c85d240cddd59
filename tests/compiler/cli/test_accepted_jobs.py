"""What counts as a job is what `build` accepts: the name may be in a base spec or an overlay, the file anywhere."""

import json
import os
import shutil

import pytest

from support.git_repository import commit, repository
from support.review.diff_outcomes import jobs, rewrite
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

TEAM = "smspec: v1\nrole: arn:aws:iam::111122223333:role/Training\n"
REST = """\
region: us-west-2
image: {base: "python:3.12-slim-bookworm"}
source: src/
entry_point: train.py
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/NAME/
"""
SPEC = "jobs/evil/job.yaml"
NAMED = "teams/named.yaml"
EXTENDS = "smspec: v1\nextends: [../../teams/named.yaml]\n"
VARIABLE = 'name: "${{ vars.name }}"\nvars: {name: {default: ctr}}\n'
WAYS = {
    "a base spec": ({NAMED: TEAM + "name: evil\n"}, EXTENDS),
    "a base spec of a base spec": (
        {NAMED: TEAM + "extends: [../org.yaml]\n", "org.yaml": "smspec: v1\nname: evil\n"},
        EXTENDS,
    ),
    "a second base spec": (
        {NAMED: TEAM, "teams/name.yaml": "smspec: v1\nname: evil\n"},
        "smspec: v1\nextends: [../../teams/named.yaml, ../../teams/name.yaml]\n",
    ),
    "a variable": ({NAMED: TEAM + VARIABLE}, EXTENDS + "vars: {name: {default: evil}}\n"),
    "a job": ({NAMED: TEAM + "name: evil\n" + REST.replace("src/", "../jobs/ctr/src/")}, EXTENDS),
}


@pytest.fixture
def home(tmp_path):
    directory = repository(tmp_path / "home")
    write(directory, "teams/base.yaml", TEAM + "retries: 2\n")
    job = "smspec: v1\nname: ctr\nextends: [../../teams/base.yaml]\n" + REST.replace("NAME", "ctr")
    write_job(directory / "jobs/ctr", job)
    return directory


@pytest.fixture
def small(tmp_path):
    """A repository with one job, which is committed."""
    directory = repository(tmp_path / "home")
    write_job(directory)
    commit(directory)
    return directory


def write(home, name, text):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def evil(home, way):
    bases, text = WAYS[way]
    for name, base in bases.items():
        write(home, name, base)
    write_job(home / "jobs/evil", text + REST.replace("NAME", "evil"))


def extend(home):
    """Let the other job extend the one without a name, and repeat what it sets itself."""
    rewrite(home / "jobs/ctr/job.yaml", "extends: [", "extends: [../evil/job.yaml, ")


@pytest.mark.parametrize("is_extended", [False, True], ids=["at the end", "extended"])
@pytest.mark.parametrize("way", WAYS)
def test_job_whose_name_is_in_a_base_spec_is_compared(home, way, is_extended):
    commit(home)
    evil(home, way)
    if is_extended:
        extend(home)
    assert smspec("build", SPEC, "-o", "out", cwd=home).status == 0
    done = smspec("diff", "--base", "main", "--fail-on", "security", "--format", "json", ".", cwd=home)
    assert done.status == 1 and ("evil", "added") in {(job["job"], job["status"]) for job in jobs(done)}
    assert smspec("diff", "--base", "main", "--fail-on", "security", SPEC, cwd=home).status == 1


@pytest.mark.parametrize("is_extended", [False, True], ids=["at the end", "extended"])
@pytest.mark.parametrize("way", WAYS)
def test_changed_base_of_a_job_without_its_own_name_is_compared(home, way, is_extended):
    evil(home, way)
    if is_extended:
        extend(home)
    commit(home)
    rewrite(home / NAMED, "role/Training", "role/Admin")
    done = smspec("diff", "--base", "main", "--fail-on", "security", cwd=home)
    assert done.status == 1 and "evil: changes security (role)" in done.out
    changed = smspec("validate", "--changed", "main", "-v", cwd=home)
    assert f"checked {SPEC}: no problems found" in changed.err
    named = [line for line in changed.err.splitlines() if line.startswith("not searched")]
    assert any(SPEC in line for line in named) == is_extended


def test_extended_job_is_checked_on_its_own(home):
    """`build` accepts it; that others extend it hides no warning. A spec that cannot be built is only part of them."""
    evil(home, "a base spec")
    extend(home)
    rewrite(home / SPEC, "ml.m5.large, count: 1", "ml.m5.large, count: 1, keep_alive: 1h")
    rewrite(home / "jobs/ctr/job.yaml", "ml.m5.large, count: 1", "ml.m5.large, count: 1, keep_alive: null")
    done = smspec("validate", ".", "-v", cwd=home)
    assert done.status == 0 and f"checked {SPEC}: " in done.err and "checked 2 jobs" in done.err
    rewrite(home / SPEC, "count: 1", "count: 0")
    done = smspec("validate", ".", "-v", cwd=home)
    assert done.status == 0 and SPEC not in done.err and "checked 1 job" in done.err


@pytest.mark.parametrize("paths", [[SPEC], ["."]], ids=["the file", "a directory"])
def test_job_without_its_own_name_is_checked(home, paths):
    """`build` reports the error too."""
    evil(home, "a base spec")
    rewrite(home / SPEC, "count: 1", "count: 0")
    for command in ("validate", "build"):
        done = smspec(command, *paths, cwd=home)
        assert done.status == 1 and "hosts.count" in done.out + done.err and "SM708" not in done.out


def test_overlay_may_set_the_name(home):
    commit(home)
    write_job(home / "jobs/evil", TEAM + REST.replace("NAME", "evil") + "overlays: {prod: {name: evil, retries: 3}}\n")
    assert smspec("build", SPEC, "-O", "prod", "-o", "out", cwd=home).status == 0
    done = smspec("diff", "--base", "main", "-O", "prod", "--format", "json", cwd=home)
    assert [job["job"] for job in json.loads(done.out) if job["status"] == "added"] == ["evil"]
    assert "missing key `name`" in smspec("validate", ".", cwd=home).out


MIDDLE = {
    "extends a base spec": {
        "teams/base.yaml": TEAM + "extends: [../org.yaml]\n",
        "org.yaml": "smspec: v1\nretries: 2\n",
    },
    "is whole but for its name": {"teams/base.yaml": TEAM + REST},
    "has no name in its overlay": {"teams/base.yaml": TEAM + "overlays: {dev: {retries: 1}}\n"},
    "removes the name": {
        "teams/base.yaml": TEAM + "extends: [../org.yaml, ../none.yaml]\n",
        "org.yaml": "smspec: v1\nname: none\n",
        "none.yaml": "smspec: v1\nname: null\n",
    },
}


@pytest.mark.parametrize("kind", MIDDLE)
def test_base_spec_stays_a_base_spec(home, kind):
    """It is not checked on its own, and its change is shown in the jobs that extend it."""
    for name, text in MIDDLE[kind].items():
        write(home, name, text)
    commit(home)
    rewrite(home / "teams/base.yaml", "smspec: v1\n", "smspec: v1\ndescription: other\n")
    for command in ("validate", "diff"):
        done = smspec(command, *(["--changed"] if command == "validate" else ["--base"]), "main", cwd=home)
        assert "not searched" not in done.err and "SM2" not in done.out
    assert {job["file"] for job in jobs(smspec("diff", "--base", "main", "--format", "json", cwd=home))} == {
        "jobs/ctr/job.yaml"
    }
    (home / "jobs/ctr/job.yaml").write_text("smspec: v1\nname: ctr\nextends: [../../teams/base.yaml]\n")
    assert "checked 1 job" in smspec("validate", ".", cwd=home).err


SKIPPED = {
    "in a hidden directory": ".j/a/job.yaml",
    "in a JSON file": "jobs/a.json",
    "below a directory of packages": "jobs/node_modules/a/job.yml",
    "behind a link": ".j/b/job.yaml",
}


@pytest.mark.parametrize("changed", ["source", "base spec"])
@pytest.mark.parametrize("place", SKIPPED)
def test_skipped_job_with_changed_inputs_is_compared(small, place, changed):
    """Its own file stays the same; `build` accepts it by its path, so CI may submit it."""
    path = small / SKIPPED[place]
    up = os.path.relpath(small, path.parent)
    (small / "base.yaml").write_text("smspec: v1\nretries: 1\n")
    path.parent.mkdir(parents=True)
    text = BUILT.replace("name: small", "name: skipped").replace("source: src/", f"source: {up}/code/")
    path.write_text(f"{text}extends: [{up}/base.yaml]\n")
    (small / "code").mkdir()
    (small / "code/train.py").write_text("print(1)\n")
    if place == "behind a link":
        path.rename(small / "spec.txt")
        path.symlink_to("../../spec.txt")
    commit(small)
    (small / "src/train.py").write_text("print(2)\n")
    assert {job["job"] for job in jobs(smspec("diff", "--base", "HEAD", "--format", "json", cwd=small))} == {"small"}
    name, text = ("code/train.py", "print(2)\n") if changed == "source" else ("base.yaml", "smspec: v1\nretries: 2\n")
    (small / name).write_text(text)
    done = smspec("diff", "--base", "HEAD", "--format", "json", "--fail-on", "security", cwd=small)
    found = {(job["job"], job["file"]): job["status"] for job in jobs(done)}
    assert (done.status, found.get(("skipped", SKIPPED[place]))) == (1, "changed")
    checked = smspec("validate", "--changed", "HEAD", cwd=small)
    assert f"not searched, but job specs: `{SKIPPED[place]}`; checked" in checked.err


def test_path_that_never_existed_is_an_error(small):
    (small / "src/train.py").write_text("print('other')\n")
    done = smspec("diff", "--base", "HEAD", ".", "jbos/ctr", cwd=small)
    assert done == (2, "", "smspec: cannot find `jbos/ctr`, now or at `HEAD`\n")
    shutil.rmtree(small / "src")
    (small / "job.yaml").unlink()
    for paths in (["job.yaml"], ["src", "job.yaml"]):
        done = smspec("diff", "--base", "HEAD", *paths, cwd=small)
        assert (done.status, "small: is gone" in done.out) == (1, True), done


def test_job_that_was_no_searched_spec_is_new_at_its_new_path(small):
    """A marker hid it, so `validate` never checked it: its move is not cosmetic."""
    (small / "models").mkdir()
    write_job(small / "models/old", BUILT.replace("name: small", "name: old"))
    (small / "models/old/manifest.json").write_text(json.dumps({"smspec": "1", "files": {}}))
    commit(small)
    (small / "jobs").mkdir()
    (small / "models/old").rename(small / "jobs/old")
    (small / "jobs/old/manifest.json").unlink()
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=small)
    assert (done.status, "old: is new" in done.out, "the file moved" in done.out) == (1, True, False)

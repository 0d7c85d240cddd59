"""Each link on the way to what a job reads is part of the job, for `diff --base` and for `validate --changed`."""

import json
import os

import pytest

from support.git_repository import commit, repository
from support.review.diff_outcomes import jobs
from support.small_job import BUILT, PROGRAM, write_job
from support.smspec_command import smspec

TEAM = "smspec: v1\ntags: {team: ads}\n"
ADMIN = "smspec: v1\nrole: arn:aws:iam::111122223333:role/Admin\n"
POLICY = "max_cost = 500\n"
RULE = """\
code: ORG101
title: jobs are small
why: costs
severity: error
require:
  hosts.count: {max: 4}
cases:
  right:
  - {hosts: {count: 2}}
  wrong:
  - {hosts: {count: 9}}
"""
PRICES = json.dumps(
    {"version": 1, "regions": {"us-west-2": {"as_of": "2026-11-01", "currency": "USD", "training": {}}}}
)
LOCK = json.dumps({"lock": 1, "images": {"python:3.12-slim": "sha256:" + "1" * 64}, "requirements": {}})


def write(home, name, text):
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)


def link(home, name, target):
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() or path.exists():
        path.unlink()
    os.symlink(target, path)


@pytest.fixture
def home(tmp_path):
    """A repository with two versions of all that a job reads."""
    directory = repository(tmp_path / "home")
    spec = BUILT.split("role:")[0] + BUILT.split("\n", 3)[3]
    write(directory, "one/base.yaml", TEAM + BUILT.split("\n")[2] + "\n")
    write(directory, "two/base.yaml", ADMIN)
    write_job(directory / "jobs/ctr", spec)
    write(directory, "one/src/train.py", PROGRAM)
    write(directory, "two/src/train.py", PROGRAM + "print('evil')\n")
    write(directory, "one/requirements.txt", "six==1.16.0\n")
    write(directory, "two/requirements.txt", "evil==1.0\n")
    return directory


def spec_of(home, **changed):
    text = (home / "jobs/ctr/job.yaml").read_text()
    for old, new in changed.values():
        assert old in text
        text = text.replace(old, new)
    (home / "jobs/ctr/job.yaml").write_text(text)


def directory_of_a_base(home):
    link(home, "conf", "one")
    spec_of(home, base=("smspec: v1\n", "smspec: v1\nextends: [../../conf/base.yaml]\n"))
    commit(home)
    link(home, "conf", "two")


def middle_of_a_chain(home):
    link(home, "conf/base.yaml", "middle.yaml")
    link(home, "conf/middle.yaml", "../one/base.yaml")
    spec_of(home, base=("smspec: v1\n", "smspec: v1\nextends: [../../conf/base.yaml]\n"))
    commit(home)
    link(home, "conf/middle.yaml", "../two/base.yaml")


def above_the_source(home):
    link(home, "code", "one")
    spec_of(
        home,
        base=("smspec: v1\n", "smspec: v1\nextends: [../../one/base.yaml]\n"),
        source=("source: src/", "source: ../../code/src"),
    )
    commit(home)
    link(home, "code", "two")


def above_the_requirements(home):
    link(home, "code", "one")
    spec_of(
        home,
        base=("smspec: v1\n", "smspec: v1\nextends: [../../one/base.yaml]\n"),
        image=('bookworm"', 'bookworm", python_requirements: ../../code/requirements.txt'),
    )
    commit(home)
    link(home, "code", "two")


def above_the_spec(home):
    write_job(home / "other/ctr", BUILT.replace("Training", "Other"))
    write_job(home / "another/ctr", BUILT.replace("Training", "Admin"))
    link(home, "jobs/linked", "../other/ctr")
    link(home, "jobs/ctr/job.yaml", "../linked/job.yaml")
    commit(home)
    link(home, "jobs/linked", "../another/ctr")


SWITCHED = {
    "the directory of a base spec": directory_of_a_base,
    "the middle of a chain": middle_of_a_chain,
    "above the source": above_the_source,
    "above the requirements": above_the_requirements,
    "above the spec": above_the_spec,
}


@pytest.mark.parametrize("case", SWITCHED)
def test_switched_link_affects_the_job(home, case):
    SWITCHED[case](home)
    validated = smspec("validate", "--changed", "main", "jobs", cwd=home)
    assert "no changes since" not in validated.err and "checked 1 job" in validated.err + validated.out
    assert smspec("diff", "--base", "main", "jobs", "--fail-on", "security,code,image", cwd=home).status == 1


def test_link_elsewhere_affects_nothing(home):
    link(home, "elsewhere", "one")
    spec_of(home, base=("smspec: v1\n", "smspec: v1\nextends: [../../one/base.yaml]\n"))
    commit(home)
    link(home, "elsewhere", "two")
    assert "no changes since" in smspec("validate", "--changed", "main", "jobs", cwd=home).err
    assert smspec("diff", "--base", "main", "jobs", cwd=home) == (0, "", "no differences\n")


SETTINGS = {
    "smspec.toml": (POLICY, POLICY.replace("500", "50000")),
    "pyproject.toml": ("[tool.smspec]\nmax_cost = 500\n", "[tool.smspec]\nmax_cost = 50000\n"),
    "smspec.prices.json": (PRICES, PRICES.replace("{}", '{"ml.m5.large": "0.0001"}')),
    "smspec.lock": (LOCK, LOCK.replace("1" * 64, "2" * 64)),
    "rules/small.yaml": (RULE, RULE.replace("max: 4", "max: 400").replace("9", "900")),
    "smspec.lock.d/1111111111111111.txt": ("six==1.16.0\n", "six==1.17.0\n"),
}
FORMS = ["a link", "a chain", "a directory"]


def settle(home, name, form):
    """Put settings behind links."""
    directory, base = os.path.split(name)
    if form == "a directory" and directory:
        link(home, directory, "org")
    elif form == "a chain":
        up = "../" if directory else ""
        link(home, name, f"{up}middle/{base}")
        link(home, f"middle/{base}", f"../org/{base}")
    else:
        link(home, name, f"{'../' if directory else ''}org/{base}")
    if name.startswith("rules"):
        write(home, "smspec.toml", 'rule_files = ["rules/*.yaml"]\n')


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("form", FORMS)
def test_settings_behind_a_link_are_compared(home, name, form):
    before, after = SETTINGS[name]
    spec_of(home, base=("smspec: v1\n", "smspec: v1\nextends: [../../one/base.yaml]\n"))
    file = f"org/{os.path.basename(name)}"
    write(home, file, before)
    settle(home, name, form)
    commit(home)
    write(home, file, after)
    found = jobs(smspec("diff", "--base", "main", "--format", "json", "jobs", cwd=home))
    assert [(one["file"], one["changes"][0]["kind"]) for one in found[:1]] == [(name, "security")]
    validated = smspec("validate", "--changed", "main", "jobs", cwd=home)
    assert f"`{name}`" in validated.err and "no changes since" not in validated.err


def test_settings_outside_of_the_repository_stay_unread(home):
    write(home.parent, "elsewhere/smspec.toml", '[prices]\n"secret" = 12345\n')
    spec_of(home, base=("smspec: v1\n", "smspec: v1\nextends: [../../one/base.yaml]\n"))
    write(home, "smspec.toml", POLICY)
    commit(home)
    link(home, "smspec.toml", "../elsewhere/smspec.toml")
    done = smspec("diff", "--base", "main", "jobs", cwd=home)
    assert done.status == 2 and "12345" not in done.out + done.err

"""Outputs with a glance at most specs, against those with a look at each, in generated repositories."""

import json

import pytest

from smspec.cli import base_comparison
from smspec.pipeline import changed_result
from smspec.pipeline.plain_specs import glance
from smspec.pipeline.untouched_specs import untouched_specs
from support.git_repository import commit, repository
from support.small_job import BUILT, PROGRAM, write_job
from support.smspec_command import smspec
from support.spec.changed_repositories import write_changed_repository

COMMANDS = (
    ("diff", "--base", "HEAD", ".", "--format", "json"),
    ("diff", "--base", "HEAD", "jobs"),
    ("validate", "--changed", "HEAD", ".", "-v"),
    ("validate", "--changed", "HEAD", "jobs", "--format", "json"),
)


@pytest.mark.parametrize("few", [1, 8])
@pytest.mark.parametrize("seed", range(24))
def test_glance_changes_no_output(tmp_path, monkeypatch, seed, few):
    home = write_changed_repository(tmp_path / "home", seed, is_plain=True)
    monkeypatch.setattr(changed_result, "_FEW", few)
    found = []

    def noted(*args, **options):
        found.append(untouched_specs(*args, **options))
        return found[-1]

    for module in (base_comparison, changed_result):
        monkeypatch.setattr(module, "untouched_specs", noted)
    glanced = [smspec(*command, cwd=home) for command in COMMANDS]
    for module in (base_comparison, changed_result):
        monkeypatch.setattr(module, "untouched_specs", lambda *_, **__: None)
    assert glanced == [smspec(*command, cwd=home) for command in COMMANDS]
    assert len(found) == len(COMMANDS)


@pytest.mark.parametrize(
    "text",
    [
        "source: x\n  y\n",
        "source: x\ny\n",
        "source: x\ny }\n",
        "image: {base: x,\n python_requirements: a.txt\n b}\n",
        "image: {base: x,\n python_requirements: a.txt\nb}\n",
        "source: null\n",
        "o: {source: x}\n",
        "source: x\no:\n  source: y\n",
        "extends: [a.yaml b.yaml]\n",
        "extends:\n  - a.yaml\n    - b.yaml\n",
        "extends:\n  - a.yaml\n# more\n  - b.yaml\n",
        "extends: *bases\n",
        "? source\n: x\n",
        '"s\\x6furce": x\n',
        "image:\n  python_requirements: a.txt\n    b\n",
    ],
)
def test_glance_is_not_sure_of_an_unusual_text(text):
    assert glance(b"smspec: v1\n" + text.encode()) is None


def test_usual_text_is_glanced_at():
    assert glance(b"smspec: v1\nsource: a/\nextends: [b.yaml, ../c.yml]\nname: x\n") is not None
    assert glance(b"image:\n  python_requirements: a.txt\n  base: x\nsource: a\n# more\n") is not None


FLOW = """\
{
smspec: v1,
name: small,
role: "arn:aws:iam::111122223333:role/SageMakerTraining",
region: us-west-2,
image: {base: "python:3.12-slim-bookworm"},
entry_point: train.py,
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB},
output: s3://models/small/,
source: ../../lib
more
}
"""
NAMED = BUILT.replace("source: src/", "source: ../../{}")
RULE = """\
code: ORG101
title: jobs name their cost center
why: They are billed.
help: add `cost`
require: {tags.cost: {present: true}}
cases: {right: [{tags: {cost: a}}], wrong: [{tags: {b: a}}]}
"""
FILES = {
    **{f"{place}/train.py": PROGRAM for place in ("lib", "lib more", "in/lib", "hiding", ".")},
    **{f"{place}/deep/more.py": "x = 1\n" for place in ("lib", "in/lib")},
    "hiding/.hidden/file.py": "x = 2\n",
    "smspec.toml": 'rule_files = ["rules/*.yaml"]\n',
    "rules/known.yaml": RULE,
    "jobs/org.toml": "[defaults]\ntags = {team = 'x'}\n",
}


@pytest.mark.parametrize(
    ("spec", "change", "excluded"),
    [
        pytest.param(FLOW, "lib more/train.py", "", id="name of a source in two lines"),
        pytest.param(NAMED, "lib/.gitignore", ".gitignore", id="ignored .gitignore in a source"),
        pytest.param(
            NAMED.replace("{}", "hiding"),
            "hiding/.hidden/.gitignore",
            ".gitignore",
            id="ignored .gitignore in a hidden directory",
        ),
        pytest.param(NAMED, "lib/deep/conda-meta/", "", id="empty mark of an environment"),
        pytest.param(NAMED, "lib/deep/pyvenv.cfg", "pyvenv.cfg", id="ignored mark of an environment"),
        pytest.param(NAMED, "jobs/smspec.toml -> org.toml", "smspec.toml", id="ignored link to a policy"),
        pytest.param(NAMED, "lib/link.py -> train.py", "link.py", id="ignored link in a source"),
        pytest.param(NAMED, "rules/new.yaml", "rules", id="ignored rule"),
        pytest.param(NAMED.replace("{}", ""), "data.bin", "*.bin", id="ignored file beside a source that is the top"),
        pytest.param(
            NAMED.replace("{}", "in/{}"), "in/.gitignore", ".gitignore", id="ignored .gitignore above a source"
        ),
    ],
)
@pytest.mark.parametrize("searched", [".", "jobs"])
def test_comparison_shows_what_git_does_not(tmp_path, monkeypatch, spec, change, excluded, searched):
    home = repository(tmp_path / "home")
    for name, text in FILES.items():
        write_text(home / name, text)
    write_text(home / "jobs/small/job.yaml", spec.replace("{}", "lib"))
    for number in range(3):
        write_job(home / f"jobs/j{number}")
    commit(home)
    write_text(home / ".git/info/exclude", f"{excluded}\n")
    place, _, target = change.partition(" -> ")
    if target:
        (home / place).symlink_to(target)
    elif place.endswith("/"):
        (home / place).mkdir()
    else:
        write_text(home / place, RULE.replace("101", "102") if "rules/" in place else ".gitignore\nmore.py\nfile.py\n")
    found = smspec("diff", "--base", "HEAD", searched, cwd=home)
    monkeypatch.setattr(base_comparison, "untouched_specs", lambda *_, **__: None)
    assert found == smspec("diff", "--base", "HEAD", searched, cwd=home)
    assert found.status != 0


def write_text(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_comparison_extracts_only_what_a_change_concerns(tmp_path, monkeypatch):
    home = repository(tmp_path / "home")
    for number in range(9):
        write_job(home / f"jobs/j{number}")
    commit(home)
    (home / "jobs/j4/src/train.py").write_text("print('other')\n")
    extracted = []
    bring = base_comparison.Revision._bring
    monkeypatch.setattr(
        base_comparison.Revision, "_bring", lambda self, paths: bring(self, [extracted.append(p) or p for p in paths])
    )
    done = smspec("diff", "--base", "HEAD", ".", "--format", "json", cwd=home)
    assert [job["file"] for job in json.loads(done.out)] == ["jobs/j4/job.yaml"]
    assert {place.split("/")[1] for place in extracted if place.startswith("jobs/")} == {"j4"}

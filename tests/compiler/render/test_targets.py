"""Targets of ``smspec render``."""

import json

import pytest

from smspec.render import TARGETS, NothingToRender
from smspec.source import Document
from support.render.plan_samples import PAYLOAD, build_inputs, image_plan, plan
from support.small_job import write_job
from support.smspec_command import smspec
from support.spec.trees import tree

SPEC = Document(tree({"smspec": "v1", "name": "job"}), ())


def shown(name, tmp_path, **changes):
    return TARGETS[name].render(plan(**changes), build_inputs(tmp_path, requirements=b"six\n"), SPEC).text


def test_every_target_is_text(tmp_path):
    assert json.loads(shown("api-json", tmp_path)) == PAYLOAD
    assert "\n# Written by smspec" in shown("dockerfile", tmp_path)
    assert shown("entrypoint", tmp_path).startswith('"""Runs the script `train.py`')
    assert shown("spec", tmp_path).splitlines()[0] == 'smspec: "v1"'
    assert all(shown(name, tmp_path).endswith("\n") for name in TARGETS)


def test_requirements_are_copied_only_when_the_image_has_some(tmp_path):
    assert "requirements.txt" not in shown("dockerfile", tmp_path)
    assert "requirements.txt" in shown("dockerfile", tmp_path, image=image_plan(python_requirements="r.txt"))


@pytest.mark.parametrize(("name", "words"), [("dockerfile", "no Dockerfile"), ("entrypoint", "no generated entry")])
def test_absent_part_is_an_error(tmp_path, name, words):
    with pytest.raises(NothingToRender, match=words):
        shown(name, tmp_path, image=None, run=None)


@pytest.mark.parametrize("words", [["--iam-policy", "job.yaml"], ["--iam-policy=role"], ["job.yaml", "--iam-policy"]])
def test_role_policy_is_the_default(tmp_path, words):
    write_job(tmp_path)
    done = smspec("render", *words, cwd=tmp_path)
    assert (done.status, "AssumeRolePolicyDocument" in json.loads(done.out)) == (0, True)
    done = smspec("render", "--iam-policy=submitter", cwd=tmp_path)
    assert [*json.loads(done.out)] == ["PolicyDocument"]


def test_unknown_policy_exits_2(tmp_path):
    write_job(tmp_path)
    assert smspec("render", "--iam-policy=everybody", cwd=tmp_path).status == 2

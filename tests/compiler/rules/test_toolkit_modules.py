"""Modules that the runtime has in place of SageMaker's toolkits are not missing from an image; others of theirs are."""

import json

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import smspec


def found(directory, monkeypatch, script, spec=BUILT):
    monkeypatch.chdir(directory)
    write_job(directory, spec.replace("{epochs: 2}", "{}"), **{"src/train.py": script})
    return [each["code"] for each in json.loads(smspec("validate", "--format", "json").out)]


@pytest.mark.parametrize(
    "script",
    [
        "import sagemaker_training\n",
        "from sagemaker_training import encoders, environment\n",
        "from sagemaker_training.environment import Environment\n",
        "import sagemaker_containers.beta.framework as framework\n",
        "from sagemaker_containers.beta.framework import encoders, worker\n",
        "import importlib\nname = input()\nimportlib.import_module(name)\nimport sagemaker_training\n",
    ],
    ids=["package", "members", "module", "alias", "framework", "open"],
)
def test_modules_of_the_runtime_are_not_missing(script, tmp_path, monkeypatch):
    assert found(tmp_path, monkeypatch, script) == []


def test_other_modules_of_a_toolkit_are_missing(tmp_path, monkeypatch):
    assert found(tmp_path, monkeypatch, "from sagemaker_training.recordio import RecordIOReader\n") == ["SM521"]


def test_packages_besides_a_toolkit_are_unchecked(tmp_path, monkeypatch):
    spec = BUILT.replace('slim-bookworm"', 'slim-bookworm", run: [make install]')
    script = "import sagemaker_training\nimport numpy\n"
    assert found(tmp_path, monkeypatch, script, spec) == ["SM523"]
    assert found(tmp_path, monkeypatch, "import sagemaker_training\n", spec) == []

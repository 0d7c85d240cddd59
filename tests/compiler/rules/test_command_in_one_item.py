"""An item of a command with a program and its arguments is an error exactly where the command cannot start."""

import json
import os
import subprocess
import sys

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import smspec

FAILING = [
    ["python3 train.py", "--lr", "0.1"],
    ["python3 train.py --lr 0.1"],
    ["python3", "train.py --lr 0.1"],
    ["python3", "-u", "train.py --lr 0.1"],
    ["python3", "-m json.tool", "--help"],
    ["python3", "-u", "-m train"],
    ["env", "A=1", "python3 train.py"],
    ["timeout", "10", "python3 train.py"],
    ["bash", "run.sh --lr 0.1"],
    ["./run.sh --lr 0.1"],
    ["bash -c 'python3 train.py'"],
    ["nvidia-smi -L"],
]
STARTING = [
    ["python3", "train.py", "--name", "python3 train.py"],
    ["python3", "-c", "import sys; print(1)"],
    ["python3", "-mtrain"],
    ["python3", "-m", "train", "-m x"],
    ["bash", "-c", "python3 train.py"],
    ["bash", "-euc", "python3 train.py"],
    ["env", "A=b c", "python3", "train.py"],
    ["./my run.sh", "--lr"],
    ["bash", "my run.sh"],
    ["echo", "python3 train.py"],
    ["timeout", "10", "python3", "train.py"],
]


def codes(directory, command):
    script = "#!/bin/sh\nexit 0\n"
    files = {"src/run.sh": script, "src/my run.sh": script, "src/train.py": "print('trained')\n"}
    spec = BUILT.replace("train.py", json.dumps({"command": command})).replace("{epochs: 2}", "{}")
    write_job(directory, spec, **files)
    for name in ("run.sh", "my run.sh"):
        (directory / "src" / name).chmod(0o755)
    found = json.loads(smspec("validate", "--format", "json", cwd=directory).out)
    return [one["code"] for one in found if one["code"] == "SM826"]


def starts(directory, command):
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    try:
        done = subprocess.run(command, cwd=directory / "src", env={**os.environ, "PATH": path}, capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


@pytest.mark.parametrize("command", FAILING, ids=" | ".join)
def test_command_that_cannot_start_is_reported(command, tmp_path):
    assert codes(tmp_path, command) == ["SM826"]
    assert not starts(tmp_path, command)


@pytest.mark.parametrize("command", STARTING, ids=" | ".join)
def test_command_that_starts_is_not_reported(command, tmp_path):
    assert codes(tmp_path, command) == []
    assert starts(tmp_path, command)


RAW = {
    "TrainingJobName": "train",
    "AlgorithmSpecification": {
        "TrainingImage": "111122223333.dkr.ecr.us-west-2.amazonaws.com/train:1",
        "TrainingInputMode": "File",
    },
    "RoleArn": "arn:aws:iam::111122223333:role/Train",
    "OutputDataConfig": {"S3OutputPath": "s3://example-models/"},
    "ResourceConfig": {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 600},
}
NEED_FILES = ("train.py --", "run.sh --")
"""What only the files of a source show to be several words."""


@pytest.mark.parametrize("command", [*FAILING, *STARTING], ids=" | ".join)
def test_command_of_a_raw_request(command, tmp_path):
    algorithm = {**RAW["AlgorithmSpecification"], "ContainerEntrypoint": command}
    (tmp_path / "request.json").write_text(json.dumps({**RAW, "AlgorithmSpecification": algorithm}))
    found = json.loads(smspec("validate", "--api-json", "request.json", "--format", "json", cwd=tmp_path).out)
    needs_files = any(word.removeprefix("./").startswith(NEED_FILES) for word in command)
    assert [one["code"] for one in found] == ["SM826"] * (command in FAILING and not needs_files)

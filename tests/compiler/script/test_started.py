"""What a command starts is read like a script, if it certainly starts it."""

import json

import pytest

from smspec.script.started import started_by_command
from support.smspec_command import smspec

HEAD = """\
smspec: v1
name: small
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {base: "python:3.11-slim-bookworm"}
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/small/
source: src/
"""
TRAIN = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\np.parse_args()\n"

READ = [
    ["/usr/bin/env", "python3", "train.py", "--lr", "1"],
    ["env", "A=b", "python", "-W", "ignore", "train.py", "--lr", "1"],
    ["nohup", "python3", "-u", "train.py", "--lr", "1"],
    ["time", "-v", "python3", "/opt/ml/code/train.py", "--lr", "1"],
    ["numactl", "-N", "0", "--membind=0", "python3", "train.py", "--lr", "1"],
    ["timeout", "-k", "5", "3h", "nice", "-n", "10", "python", "train.py", "--lr", "1"],
    ["taskset", "-c", "0-3", "python", "train.py", "--lr", "1"],
    ["mpirun", "-np", "2", "-x", "A=b", "python", "train.py", "--lr", "1"],
    ["numactl", "--interleave=all", "torchrun", "--nproc_per_node=2", "train.py", "--lr", "1"],
    ["accelerate", "launch", "--num_processes", "1", "train.py", "--lr", "1"],
    ["bash", "-c", "python3 train.py --lr 1"],
    ["sh", "-c", "exec python train.py --lr '1'"],
    [
        "/bin/bash",
        "-lc",
        "set -euo pipefail\nexport A=1\nnvidia-smi && A=2 nohup python train.py --lr 1 2>&1 | tee log",
    ],
    ["bash", "-c", "cd /opt/ml/code; pip install wheel && torchrun train.py \\\n  --lr 1"],
    ["env", "A=b", "bash", "-ec", "accelerate launch train.py --lr 1; cp -r out /opt/ml/model"],
]
UNREAD = [
    ["bash", "-c", "python3 other.py || python3 train.py --lr 1"],
    ["bash", "-c", "python3 train.py --lr 1 || true"],
    ["bash", "-c", "python3 train.py --lr 1; python3 other.py"],
    ["bash", "-c", "python3 train.py --lr 1 &"],
    ["bash", "-c", "if test -e x; then python3 train.py --lr 1; fi"],
    ["bash", "-c", "cp other.py options.py; python3 train.py --lr 1"],
    ["bash", "-c", "cd src && python3 train.py --lr 1"],
    ["bash", "-c", "yes | python3 train.py --lr 1"],
    ["bash", "-c", "PATH=/other:$PATH python3 train.py --lr 1"],
    ["bash", "-c", "python3 $SCRIPT --lr 1"],
    ["env", "-i", "python3", "train.py", "--lr", "1"],
    ["env", "-S", "python3 train.py --lr 1"],
    ["conda", "run", "python3", "train.py", "--lr", "1"],
]


def codes(directory, command, more="", **files):
    (directory / "src").mkdir()
    for name, text in {"train.py": TRAIN, "other.py": "", **files}.items():
        (directory / "src" / name).write_text(text)
    (directory / "job.yaml").write_text(f"{HEAD}entry_point: {{command: {json.dumps(command)}}}\n{more}")
    records = json.loads(smspec("validate", "--format", "json", cwd=directory).out)
    return {one["code"]: one["path"] for one in records}


@pytest.mark.parametrize("command", READ, ids=" ".join)
def test_program_of_a_command_is_read(command, tmp_path):
    found = codes(tmp_path, command)
    index = next(at for at, word in enumerate(command) if "--lr" in word)
    assert found["SM501"] == f"entry_point.command[{index}]"


@pytest.mark.parametrize("command", UNREAD, ids=" ".join)
def test_program_that_may_not_start_is_not_read(command, tmp_path):
    assert "SM501" not in codes(tmp_path, command)


def test_unknown_words_of_a_shell_are_no_fault(tmp_path):
    words = 'python3 train.py --lr $LR "$@"'
    assert "SM501" not in codes(tmp_path, ["bash", "-c", words, "--", "--lr", "1"])


def test_words_after_a_text_do_not_reach_the_program():
    found = started_by_command(["bash", "-c", "python3 train.py", "--lr", "1"])
    assert found is not None and found.is_text and found.arguments == ()


def test_variables_of_a_command_are_set(tmp_path):
    command = ["env", "LEVEL=3", "bash", "-c", "export OTHER=1; THIRD=2 python3 train.py"]
    script = "import os\nprint(os.environ['LEVEL'], os.environ['OTHER'], os.environ['THIRD'], os.environ['LOST'])\n"
    (tmp_path / "a").mkdir()
    assert "SM526" in codes(tmp_path / "a", command, **{"train.py": script})
    (tmp_path / "b").mkdir()
    assert "SM526" not in codes(tmp_path / "b", command, **{"train.py": script.replace(", os.environ['LOST']", "")})


def test_missing_module_is_an_error_behind_a_wrapper(tmp_path):
    script = {"train.py": "import absent_package\n"}
    for number, command in enumerate((["env", "python3", "train.py"], ["bash", "-c", "exec python3 train.py"])):
        (tmp_path / str(number)).mkdir()
        assert "SM521" in codes(tmp_path / str(number), command, **script)


def test_packages_of_a_shell_make_missing_modules_unknown(tmp_path):
    command = ["bash", "-c", "pip install absent-package && python3 train.py"]
    assert "SM521" not in codes(tmp_path, command, **{"train.py": "import absent_package\n"})

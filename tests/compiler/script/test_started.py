"""What a command starts is read like a script, if it certainly starts it."""

import json
import sys

import pytest

from smspec.script.started import started_by_command, started_by_script
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
    ["conda", "run", "--no-capture-output", "-n", "train", "python", "train.py", "--lr", "1"],
    ["uv", "run", "--frozen", "--with", "numpy", "train.py", "--lr", "1"],
    ["uv", "run", "python3", "train.py", "--lr", "1"],
    ["poetry", "run", "accelerate", "launch", "train.py", "--lr", "1"],
    ["bash", "-c", "pipenv run python train.py --lr 1"],
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
    ["conda", "run", "--cwd", "/", "python3", "train.py", "--lr", "1"],
    ["poetry", "run", "train", "--lr", "1"],
    ["uv", "run", "--directory", "x", "train.py", "--lr", "1"],
]
SCRIPTS = {
    "a line": "python3 train.py --lr 1\n",
    "the directory of the script": 'cd "$(dirname "$0")"\npython train.py --lr 1\n',
    "the directory of bash": "cd $(dirname ${BASH_SOURCE[0]})\npython train.py --lr 1\n",
    "settings": "#!/bin/bash -e\nset -uo pipefail\nmkdir -p out\nexport A=1\nexec python3 -u train.py --lr 1\n",
    "a launcher": "ulimit -n 4096\ntorchrun --nproc_per_node 4 \\\n  train.py --lr 1\n",
    "packages": "pip install -r requirements.txt\naccelerate launch train.py --lr 1 2>&1 | tee log\n",
    "an environment": "conda run -n train python train.py --lr 1\n",
    "a status": "python3 train.py --lr 1 || exit 1\n",
}
UNREAD_SCRIPTS = {
    "a condition": 'if [ -n "$A" ]; then python3 train.py --lr 1; fi\n',
    "another directory": "cd sub\npython3 train.py --lr 1\n",
    "a directory of a variable": 'cd "$DIR"\npython3 train.py --lr 1\n',
    "an unknown program": 'python3 "$SCRIPT" --lr 1\n',
    "an unknown argument": "python3 train.py --lr $LR\n",
    "an unquoted list": "python3 train.py --lr $@\n",
    "changed arguments": 'set -- --epochs 1\npython3 train.py "$@"\n',
    "shifted arguments": 'shift\npython3 train.py "$@"\n',
    "an activated environment": "source activate train\npython3 train.py --lr 1\n",
    "another Python": "export PATH=/other:$PATH\npython3 train.py --lr 1\n",
    "a function": "train() { python3 train.py --lr 1; }\ntrain\n",
    "another try": "python3 train.py --lr 1 || python3 other.py\n",
    "a program before": "python3 other.py\npython3 train.py --lr 1\n",
    "a status that is lost": "python3 train.py --lr 1 || exit 0\n",
    "a status that is handled": "python3 train.py --lr 1 || echo failed\n",
    "a text": "cat <<END\npython3 train.py --lr 1\nEND\n",
    "another interpreter": "#!/usr/bin/perl\npython3 train.py --lr 1\n",
}


def codes(directory, command, more="", *, entry="", **files):
    for name, text in {"train.py": TRAIN, "other.py": "", **files}.items():
        (directory / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / "src" / name).write_text(text)
        (directory / "src" / name).chmod(0o755)
    (directory / "job.yaml").write_text(f"{HEAD}entry_point: {entry or json.dumps({'command': command})}\n{more}")
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


ENTRIES = {"entry_point": "run.sh", "command": "{command: [bash, run.sh]}", "program": "{command: [./run.sh]}"}


def of_script(directory, text, entry="run.sh", more="", **files):
    text = text if text.startswith("#!") else "#!/bin/bash\n" + text
    return codes(directory, [], more, entry=entry, **{"run.sh": text, **files})


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("kind", ENTRIES)
def test_program_of_a_shell_script_is_read(kind, name, tmp_path):
    found = of_script(tmp_path, SCRIPTS[name], ENTRIES[kind])
    assert found["SM501"] == ("entry_point.script" if kind == "entry_point" else "entry_point.command")
    assert "SM512" not in found


@pytest.mark.parametrize("name", UNREAD_SCRIPTS)
def test_program_that_a_script_may_not_start_is_not_read(name, tmp_path):
    assert "SM501" not in of_script(tmp_path, UNREAD_SCRIPTS[name])


FAULTS = {
    "SM517": "import argparse\ndef f(:\n",
    "SM521": "import absent_package\n",
    "SM555": TRAIN.replace("p.parse", "p.add_argument('--epochs')\np.parse"),
    "SM556": "cfg = open('config.json').read()\n" + TRAIN,
    "SM502": TRAIN.replace("type=int", "required=True"),
}


@pytest.mark.parametrize("code", FAULTS)
def test_fault_of_the_program_of_a_script_is_found(code, tmp_path):
    if code == "SM517" and sys.version_info < (3, 11):
        pytest.skip("what this Python cannot parse may be right for that of the image")
    assert code in of_script(tmp_path, "python3 train.py\n", **{"train.py": FAULTS[code]})


def test_script_passes_on_its_arguments(tmp_path):
    for number, (name, is_known) in enumerate((("epochs", True), ("lr", False))):
        (tmp_path / str(number)).mkdir()
        found = of_script(
            tmp_path / str(number), 'exec python3 train.py "$@"\n', more=f"hyperparameters: {{{name}: 1}}\n"
        )
        assert ("SM501" in found) is not is_known


def test_packages_of_a_script_make_missing_modules_unknown(tmp_path):
    for number, text in enumerate(("pip install absent-package\npython3 train.py\n", "uv run train.py\n")):
        (tmp_path / str(number)).mkdir()
        assert "SM521" not in of_script(tmp_path / str(number), text, **{"train.py": "import absent_package\n"})


def test_hyperparameters_of_a_script_may_be_used_by_it(tmp_path):
    """The script may use them: it has them as arguments, and as variables."""
    found = of_script(
        tmp_path, 'python3 train.py --epochs "$SM_HP_EPOCHS"\n', more="hyperparameters: {epochs: 1, lr: 2}\n"
    )
    assert "SM501" not in found and "SM502" not in found


def test_backslash_at_the_end_of_a_script_is_dropped(tmp_path):
    assert "SM501" not in of_script(tmp_path, "python3 train.py --epochs 1 \\")
    for end in ("\\", " \\"):
        found = started_by_script(f"python3 train.py --epochs 1{end}", "run.sh")
        assert found is not None and found.arguments == (("--epochs", 0), ("1", 0))
    found = started_by_script("python3 train.py 1\\\\", "run.sh")
    assert found is not None and found.arguments == (("1\\", 0),)


LEVELS = {
    "a/run.sh": ('cd "$(dirname "$0")/.."', 'cd "$(dirname "$0")"/..', "cd $(dirname $0)/../"),
    "a/b/run.sh": ('cd "$(dirname "${BASH_SOURCE[0]}")/../.."',),
    "run.sh": ('cd "$(dirname "$0")"', "cd $(dirname $0)/"),
}
ALL_LEVELS = sorted({line for lines in LEVELS.values() for line in lines})


@pytest.mark.parametrize("name", LEVELS)
def test_script_goes_to_the_source_from_its_directory(name, tmp_path):
    for line in ALL_LEVELS:
        found = started_by_script(f"set -e\n{line}\npython3 train.py\n", name)
        assert (found is not None) is (line in LEVELS[name]), line
    text = f"#!/bin/bash\n{LEVELS[name][0]}\npython3 train.py --lr 1\n"
    assert codes(tmp_path, [], entry=name, **{name: text})["SM501"] == "entry_point.script"

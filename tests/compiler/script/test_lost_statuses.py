"""Failures that shell scripts hide: every verdict is compared with what bash and dash do."""

import itertools
import os
import random
import shutil
import subprocess
import time

import pytest

from smspec.script.shell.lost_statuses import lost_statuses
from support.script.random_shell_scripts import random_script

SHELLS = [name for name in ("bash", "dash") if shutil.which(name)]
STUB = """#!/bin/sh
case "$0 $*" in *"$FAILS"*) [ -e "$MARK" ] && [ -z "$ALWAYS" ] || { : > "$MARK"; exit 3; } ;; esac
echo loss 1
"""
COMMANDS = ("uv", "conda", "poetry", "python3", "pip", "torchrun", "accelerate", "deepspeed", "cp", "aws")

# Each with the cure that is offered, in bash; the one command that fails is the only one with `train` or `install`.
LOST = {
    "a line": ("python3 train.py\necho done\n", "errexit"),
    "Python in a variable": ('PYTHON=python3\n"${PYTHON:-python}" -u $DIR/train.py 2>&1 | tee log\n', "pipefail"),
    "a launcher": ("torchrun --nproc_per_node 4 train.py\ncp m.bin out\n", "errexit"),
    "accelerate": ("accelerate launch train.py\necho done\n", "errexit"),
    "a module": ("python3 -u -m pkg.train --lr 1\necho done\n", "errexit"),
    "pip of Python": ("python3 -m pip install x\necho done\n", "errexit"),
    "tee": ("set -e\npython3 train.py 2>&1 | tee log\n", "pipefail"),
    "tee of uv": ("uv run python3 train.py | tee log\n", "pipefail"),
    "tee of uv with options": ("uv run --frozen --with x train.py | tee log\n", "pipefail"),
    "tee of conda": ("conda run -n env --no-capture-output python3 train.py | tee log\n", "pipefail"),
    "tee of poetry": ("poetry run torchrun train.py | tee log\n", "pipefail"),
    "an option of Python with a value": ("python3 -X faulthandler -W ignore train.py | tee log\n", "pipefail"),
    "options of Python in one word": ("python3 -Werror -Xdev -um train | tee log\n", "pipefail"),
    "pip as a module in one word": ("python3 -um pip install x | tee log\n", "pipefail"),
    "tee of a script": ("echo 'exec python3 train.py' > a.sh\nbash -x a.sh 2>&1 | tee log\n", "pipefail"),
    "tee without errexit": ("python3 train.py | tee log\n", "pipefail"),
    "three stages": ("python3 train.py | cat | tee log\n", "pipefail"),
    "a filter of pip": ("set -e\npip install x | cat\necho\n", "pipefail"),
    "tee before more": ("set -e\ntorchrun train.py 2>&1 | tee log\ncp m.bin out\n", "pipefail"),
    "a pipe in a function": ("set -e\nrun() {\n  python3 train.py | tee log\n}\nrun\n", "pipefail"),
    "background": ("python3 train.py &\nwait\n", "wait"),
    "background with errexit": ("set -e\npython3 train.py &\nwait\necho done\n", "wait"),
    "several at a time": ("for gpu in 0 1; do\n  GPU=$gpu python3 train.py &\ndone\nwait\n", "wait"),
    "background at the end": ("nohup python3 train.py > log 2>&1 &\n", "wait"),
    "a variable": ("loss=$(python3 train.py)\necho $loss\n", "errexit"),
    "an exported variable": ("set -e\nexport LOSS=$(python3 train.py)\necho $LOSS\n", "declaration"),
    "a local variable": ('set -e\nmain() {\n  local x="$(python3 train.py)"\n  echo $x\n}\nmain\n', "declaration"),
    "backquotes": ("set -e\nexport LOSS=`python3 train.py`\n", "declaration"),
    "printed": ('set -e\necho "loss: $(python3 train.py)"\n', "output"),
    "the middle of if": ('if [ -n "$A" ]; then\n  python3 train.py\n  echo done\nfi\n', "errexit"),
    "before if": ("python3 train.py\nif true; then echo; fi\n", "errexit"),
    "the middle of case": ("case $A in\n  *) python3 train.py; echo ;;\nesac\n", "errexit"),
    "a loop": ("for fold in 1 2 3; do\n  python3 train.py $fold\ndone\n", "errexit"),
    "a loop over seq": ("for i in $(seq 1 5); do python3 train.py $i; done\n", "errexit"),
    "the middle of a loop": ("for i in 1 2 3; do python3 train.py $i; echo $i; done\n", "errexit"),
    "after a loop": ("for fold in $A 1; do\n  python3 train.py $fold\ndone\necho done\n", "errexit"),
    "an AND list": ("set -e\npip install x && python3 run.py\necho done\n", "check"),
    "a function in a condition": ("set -e\nmain() { python3 train.py; echo; }\nmain || exit 1\n", "check"),
    "a function in if": ("set -e\nmain() {\n python3 train.py\n echo\n}\nif ! main; then exit 1; fi\n", "check"),
    "an exit trap": ("set -e\ntrap 'echo bye; exit 0' EXIT\npython3 train.py\n", "trap"),
    "an exit trap without errexit": ("trap 'exit 0' EXIT\npython3 train.py\necho\n", "trap"),
    "a function as a trap": ("set -e\nend() { rm -f x; exit 0; }\ntrap end EXIT\npython3 train.py\n", "trap"),
    "no pipefail": ("set -euo pipefail\nset +o pipefail\npython3 train.py | tee log\n", "setting"),
    "no pipefail in the middle": ("set -eo pipefail\necho\nset +o pipefail\npip install x | cat\necho\n", "setting"),
    "a trap that cleans up": ("trap 'rm -f log' EXIT\npython3 train.py\ncp m.bin out\n", "errexit"),
    "exit 0": ("python3 train.py\nexit 0\n", "errexit"),
    "return 0": ("main() {\n  python3 train.py\n  return 0\n}\nmain\n", "errexit"),
    "a group": ("{ python3 train.py; echo done; } > log\n", "errexit"),
    "a subshell": ("set -e\n(python3 train.py | cat)\necho\n", "pipefail"),
    "a subshell in a pipe": ("(python3 train.py) | tee log\n", "pipefail"),
    "several lines": ("python3 train.py \\\n  --lr 0.1 \\\n  --epochs 3\ncp m.bin out\n", "errexit"),
    "a comment": ("python3 train.py # || exit 1\necho done\n", "errexit"),
    "a here-document": (
        "cat > c.yaml <<END\npython3 run.py || exit 1\nEND\npython3 train.py\ncp c.yaml out\n",
        "errexit",
    ),
    "quotes": ("echo 'set -e; it''s'\npython3 train.py --text \"a; b || c\"\necho\n", "errexit"),
    "a time limit": ("timeout 60 python3 train.py\necho\n", "errexit"),
    "nested substitutions": ('A=$(echo $(echo ")") "${B:-x}")\npython3 train.py\necho $((1 + 2)) $A\n', "errexit"),
}

HANDLED = {
    "the last line": "python3 train.py\n",
    "exec": 'exec python3 train.py "$@"\necho never\n',
    "Python in a variable": "PYTHON=python3\nset -e\n$PYTHON train.py\necho done\n",
    "errexit": "set -e\npython3 train.py\necho done\n",
    "errexit by name": "set -o errexit\npip install x\necho\n",
    "errexit among others": "set -euxo pipefail\npython3 train.py | tee log\necho\n",
    "pipefail at the end": "set -o pipefail\npython3 train.py | tee log\n",
    "OR exit": "pip install x || exit 1\necho\n",
    "OR a group": "python3 train.py || { echo failed; exit 1; }\necho\n",
    "OR a function": "die() { echo failed; exit 1; }\npython3 train.py || die\necho\n",
    "deliberately": "python3 train.py || true\necho done\n",
    "if": "if python3 train.py; then echo good; fi\n",
    "if not": "if ! python3 train.py; then exit 1; fi\necho\n",
    "the status": "python3 train.py\nstatus=$?\ncp m.bin out\nexit $status\n",
    "the status in a test": "python3 train.py\nif [ $? -ne 0 ]; then exit 1; fi\necho\n",
    "the status of a pipe": "python3 train.py | tee log\nexit ${PIPESTATUS[0]}\n",
    "an ERR trap": "trap 'exit 1' ERR\npython3 train.py\necho\n",
    "the status in an exit trap": "trap 'code=$?; rm -f log; exit $code' EXIT\nset -e\npython3 train.py\n",
    "wait for one": 'python3 train.py &\npid=$!\nwait "$pid"\n',
    "wait for the next": "python3 train.py &\nwait -n\n",
    "wait for all": 'for i in 1 2; do python3 train.py & p="$p $!"; done\nfor i in $p; do wait $i || exit 1; done\n',
    "a service": "python3 train_monitor.py &\npython3 run.py\nkill %1\n",
    "a service beside the training": "set -e\npython3 train_server.py &\npython3 run.py\nwait\n",
    "deliberately without errexit": "set -e\nset +e\npython3 train.py\nset -e\necho\n",
    "until": "until python3 train.py; do sleep 0; done\n",
    "the last in if": "if true; then\n  python3 train.py\nfi\n",
    "the last in a function": 'main() {\n  python3 train.py\n}\nmain "$@"\n',
    "AND at the end": "pip install x && python3 run.py\n",
    "a check of the result": "python3 train.py\ntest -f m.bin\n",
    "a check by grep": "python3 train.py > log 2>&1\ngrep -q finished log\n",
    "grep behind a pipe": "python3 train.py | grep loss\n",
    "a loop of unknown length": "for fold in $A; do python3 train.py $fold; done\n",
    "errexit under a condition": 'if [ -n "$A" ]; then set -e; fi\npython3 train.py\necho\n',
    "a process substitution": "python3 train.py > >(tee log) 2>&1\n",
    "a version": "python3 --version\npip list\npython3 -c 'import train'\necho\n",
    "a version with options": "python3 -X dev -V | tee log\nuv run python3 -c '1' | tee log\nuv run | tee log\n",
    "a script of the setup": "bash train_setup.sh\n./train_setup.sh | grep x\nbash -c x | tee log\nA=1 | tee log\n",
    "another tool": "uv pip list | tee log\nconda run -n env nvidia-smi | tee log\npoetry run ruff a.py | tee log\n",
    "a sourced library": "source ./train_lib.sh\npython3 train.py\necho\n",
    "eval": 'eval "set -e"\npython3 train.py\necho\n',
    "unknown syntax": "select x in train; do python3 train.py; done\necho\n",
    "a broken script": "if true; then\npython3 train.py\necho\n",
    "a text": "cat > c.yaml <<END\npython3 train.py\nEND\necho\n",
    "a comment": "# python3 train.py\necho\n",
    "an unknown option": 'set "$OPTIONS"\nset -n\npython3 train.py\necho\n',
    "nothing": "",
}


@pytest.fixture
def run(tmp_path):
    """Return the status of a script in a shell where one command fails the first time, None if it was not run."""
    (tmp_path / "bin").mkdir()
    for name in COMMANDS:
        (tmp_path / "bin" / name).write_text(STUB)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "code").mkdir()
    numbers = itertools.count()

    def status(shell, text, fails, **variables):
        mark = tmp_path / f"mark{next(numbers)}"
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        env = {"PATH": path, "FAILS": fails, "MARK": str(mark), **variables}
        done = subprocess.run(
            [shell, "/dev/stdin"], input=text.encode(), env=env, cwd=tmp_path / "code", capture_output=True, timeout=60
        )
        deadline = time.monotonic() + 60
        while text.endswith("&\n") and not mark.exists() and time.monotonic() < deadline:
            time.sleep(0.01)  # the script has ended, and its command has not
        return done.returncode if mark.exists() else None

    return status


@pytest.mark.parametrize("name", LOST)
def test_hidden_failure_is_found_as_shells_hide_it(name, run):
    text, cure = LOST[name]
    assert [(one.cure) for one in lost_statuses(text, "bash")] == [cure]
    fails = "install" if "install" in text else "train"
    for shell in SHELLS:
        if shell == "bash" or lost_statuses(text, "sh"):
            # Not every dash has pipefail: such a script ends before its command runs.
            unknown = (None,) if shell == "dash" and "pipefail" in text else ()
            assert run(shell, text, fails, A="1") in (0, *unknown), shell


@pytest.mark.parametrize("name", HANDLED)
def test_handled_failure_is_accepted(name):
    for shell in ("bash", "sh"):
        assert lost_statuses(HANDLED[name], shell) == []


@pytest.mark.parametrize("name", [name for name in LOST if LOST[name][1] in ("errexit", "pipefail")])
def test_cure_ends_the_script_with_the_failure(name, run):
    text, cure = LOST[name]
    options = "set -e\n" if cure == "errexit" else "set -eo pipefail\n"
    assert lost_statuses(options + text, "bash") == []
    if "bash" in SHELLS:
        assert run("bash", options + text, "install" if "install" in text else "train", A="1") != 0


MENDED = {
    "an exit trap": ("echo bye; exit 0", "s=$?; echo bye; exit $s"),
    "a function as a trap": ("rm -f x; exit 0", "s=$?; rm -f x; exit $s"),
    "no pipefail": ("set +o pipefail\n", "set +o pipefail\nset -eo pipefail\n"),
    "no pipefail in the middle": ("set +o pipefail\n", ""),
    "printed": ('echo "loss: $(python3 train.py)"', 'output=$(python3 train.py) || exit 1\necho "loss: $output"'),
    "an AND list": ("python3 run.py", "python3 run.py || exit 1"),
    "a function in a condition": ("train.py", "train.py || exit 1"),
}


@pytest.mark.parametrize("name", MENDED)
def test_advice_ends_the_script_with_the_failure(name, run):
    text = LOST[name][0].replace(*MENDED[name])
    assert lost_statuses(text, "bash") == []
    if "bash" in SHELLS:
        assert run("bash", text, "install" if "install" in text else "train", A="1") != 0


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("shell", SHELLS)
def test_verdict_is_that_of_the_shell(shell, seed, run):
    """A random script that is said to hide the failure of a command ends with 0 wherever the command runs."""
    text = random_script(random.Random(f"{seed} {shell}"), is_bash=shell == "bash")
    lines = text.split("\n")
    for lost in lost_statuses(text, "bash" if shell == "bash" else "sh"):
        program = next(word for word in lines[lost.line - 1].replace(")", " ").split() if word.startswith("t_"))
        for one, other, words in (("0", "0", ""), ("1", "0", "1 2"), ("0", "1", "1"), ("1", "1", "1 2")):
            always = "1" if lost.cure == "tries" else ""
            status = run(shell, text, f" {program}", A=one, B=other, L=words, ALWAYS=always)
            assert status in (0, None), (lost, text)


@pytest.mark.parametrize(
    "text",
    ["(" * 500, "${a:-" * 5000, '"$(' * 90, "$(" * 500, "if true; then " * 300, "`" * 99, '"', "<<", "case x in", "'"],
)
def test_hostile_scripts_are_not_understood(text):
    assert lost_statuses(text + "\npython3 train.py\necho\n", "bash") == []


def test_long_script_takes_no_time():
    text = "if [ $x ]; then set -e; else set +e; fi\n" * 400 + "python3 train.py\necho\n" * 100
    assert lost_statuses(text, "bash") == []

"""Shell scripts: how they start, and which failures they ignore."""

import subprocess

import pytest

from smspec.script.program import ForeignScript


def script(text, name="train.sh"):
    return ForeignScript(name=name, file=f"src/{name}", content=text.encode())


@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/bin/sh -e", "#!/usr/bin/env sh"])
def test_carriage_return_hides_the_interpreter(first, tmp_path):
    for ending, starts in (("\n", True), ("\r\n", False)):
        text = f"{first}{ending}true{ending}"
        assert script(text).has_broken_interpreter is not starts
        file = tmp_path / "train.sh"
        file.write_bytes(text.encode())
        file.chmod(0o755)
        try:
            status = subprocess.run([file], capture_output=True).returncode
        except FileNotFoundError:
            status = 127
        assert (status == 0) is starts


IGNORING = {
    "pip": ("pip install -r requirements.txt\npython3 train.py\n", "pip", 1),
    "training": ("#!/bin/sh\n\npython3 train.py --epochs 3\necho done\n", "python3", 3),
    "a variable": ("A=1 torchrun \\\n  train.py\ncp model /opt/ml/model\n", "torchrun", 1),
}


@pytest.mark.parametrize("name", IGNORING)
def test_ignored_failure_is_found(name):
    text, command, line = IGNORING[name]
    assert [(found, place.line) for found, place in script(text).ignored_failures()][:1] == [(command, line)]
    assert [*script(f"set -euo pipefail\n{text}").ignored_failures()] == []


@pytest.mark.parametrize(
    "text",
    [
        "python3 train.py\n",
        'cd /opt/ml/code\nexec python3 train.py "$@"\n',
        "#!/bin/bash -e\npip install x\npython3 train.py\n",
        "pip install x || exit 1\npython3 train.py\n",
        "pip install x && python3 train.py\necho done\n",
        "set -o errexit\npip install x\npython3 train.py\n",
        "trap 'exit 1' ERR\npip install x\npython3 train.py\n",
        "python3 train.py\nstatus=$?\nexit $status\n",
        "cat > a.txt <<END\npython3\nEND\necho\n",
        "if true; then\n    pip install x\nfi\npython3 train.py\n",
        "# pip install x\npipx=1\npython3 train.py\n",
        "",
    ],
)
def test_script_that_notices_failures_is_accepted(text):
    assert [*script(text).ignored_failures()] == []


def test_only_shell_scripts_are_searched():
    assert [*script("pip install x\nexit\n", "train.pl").ignored_failures()] == []

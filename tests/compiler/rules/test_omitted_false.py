"""False under `args_style: flags` is no word: an option whose default is true stays true, and a finding has it."""

import json

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import smspec

SCRIPT = "import argparse\np = argparse.ArgumentParser()\n{}\nprint('got', p.parse_args().shuffle)\n"
OPTION = "p.add_argument('--shuffle', {})"
SWITCH = "action=argparse.BooleanOptionalAction"


def codes(directory, option, value="false", style="flags", more=""):
    spec = BUILT.replace("entry_point: train.py", f"entry_point: {{script: train.py, args_style: {style}{more}}}")
    assert spec != BUILT
    write_job(directory, spec.replace("{epochs: 2}", f"{{shuffle: {value}}}"))
    (directory / "src/train.py").write_text(SCRIPT.format(OPTION.format(option)))
    return of_job(directory)


def of_job(directory):
    done = smspec("validate", "--format", "json", cwd=directory)
    return [(record["code"], record["path"]) for record in json.loads(done.out) if record["code"] == "SM505"]


@pytest.mark.parametrize(
    "option",
    [f"{SWITCH}, default=True", "action='store_true', default=True", "type=bool, default=True", "default='yes'"],
)
def test_false_that_changes_nothing_is_reported(tmp_path, option):
    assert codes(tmp_path, option) == [("SM505", "hyperparameters.shuffle")]


@pytest.mark.parametrize(
    ("option", "more"),
    [
        (f"{SWITCH}, default=False", {}),
        (SWITCH, {}),
        ("action='store_true'", {}),
        ("action='store_false'", {}),
        ("type=int, default=0", {}),
        ("default=None", {}),
        ("default=find()", {}),
        (f"{SWITCH}, default=True", {"value": "true"}),
        (f"{SWITCH}, default=True", {"more": ", args: [--no-shuffle]"}),
        ("default='yes'", {"style": "json"}),
    ],
)
def test_false_that_is_the_default_or_arrives_is_accepted(tmp_path, option, more):
    assert codes(tmp_path, option, **more) == []


TEXTS = {
    "if a.shuffle:\n    open(a.shuffle)": True,
    "if a.shuffle:\n    if os.path.isfile(a.shuffle):\n        open(a.shuffle)": True,
    "open(a.shuffle or 'x')": True,
    "if a.shuffle and a.shuffle.lower() in ('1', 'yes'):\n    open(a.shuffle)": False,
    "if a.shuffle not in NO:\n    open(a.shuffle)": False,
    "if a.shuffle and os.path.isfile(a.shuffle):\n    open(a.shuffle)": False,
    "if os.path.exists(a.shuffle):\n    open(a.shuffle)": False,
}


@pytest.mark.parametrize("use", TEXTS)
def test_false_that_a_script_compares_is_accepted(tmp_path, use):
    write_job(tmp_path, BUILT.replace("{epochs: 2}", "{shuffle: false}"))
    parser = "import argparse, os\nNO = ('', str(False))\np = argparse.ArgumentParser()\n"
    declared = "p.add_argument('--shuffle', default='')\na = p.parse_args()\n"
    (tmp_path / "src/train.py").write_text(f"{parser}{declared}{use}\n")
    assert bool(of_job(tmp_path)) is TEXTS[use]

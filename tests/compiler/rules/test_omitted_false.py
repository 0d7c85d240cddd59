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

"""`None` without quotes is a warning, unless the script has it as a string."""

import json

import pytest

from support.small_job import BUILT, write_job
from support.smspec_command import smspec

SPEC = BUILT.replace("{epochs: 2}", "{Transformation: None}")
HEAD = "import argparse\np = argparse.ArgumentParser()\n"
PROGRAMS = {
    "choice": ('p.add_argument("--Transformation", choices=["None", "log"])\nprint(p.parse_args())\n', False),
    "default": ("p.add_argument('--Transformation', default='None')\nprint(p.parse_args())\n", False),
    "comparison": (
        'p.add_argument("--Transformation")\nif p.parse_args().Transformation != "None":\n    print(1)\n',
        False,
    ),
    "any case": (
        'p.add_argument("--Transformation")\nif p.parse_args().Transformation.lower() == "none":\n    print(1)\n',
        False,
    ),
    "default None": ('p.add_argument("--Transformation", default=None)\nprint(p.parse_args().Transformation)\n', True),
    "identity": (
        'p.add_argument("--Transformation")\nif p.parse_args().Transformation is not None:\n    print("yes")\n',
        True,
    ),
    "other text": ('p.add_argument("--Transformation")\nprint("Nones", p.parse_args())\n', True),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_none_is_reported_unless_the_script_has_it(name, tmp_path):
    program, is_reported = PROGRAMS[name]
    write_job(tmp_path, SPEC, **{"src/train.py": HEAD + program})
    found = json.loads(smspec("validate", "--format", "json", cwd=tmp_path).out)
    assert ("SM215" in [one["code"] for one in found]) == is_reported


def test_choice_in_another_module_of_the_source_counts(tmp_path):
    program = (
        HEAD + "from steps import STEPS\np.add_argument('--Transformation', choices=STEPS)\nprint(p.parse_args())\n"
    )
    write_job(tmp_path, SPEC, **{"src/train.py": program, "src/steps.py": "STEPS = ['None', 'log']\n"})
    assert "SM215" not in smspec("validate", cwd=tmp_path).out


def test_none_of_a_job_without_a_script_is_reported(tmp_path):
    command = SPEC.replace("entry_point: train.py", "entry_point: {command: [./train.sh]}")
    write_job(tmp_path, command, **{"src/train.sh": "#!/bin/sh\necho\n"})
    assert "SM215" in smspec("validate", cwd=tmp_path).out

"""No error is reported for hundreds of valid scripts, read and run with the real argparse."""

import sys

import pytest

from support.sampled_cases import only_with_all_programs
from support.script import (
    programs_of_ends,
    programs_of_objects,
    programs_of_parsers,
    programs_of_variables,
)
from support.script.programs_in_forks import statuses
from support.script.read_programs import findings, script_environment

pytestmark = pytest.mark.slow

HEAD = "import argparse, contextlib, functools, os, sys\n"
MADE = "p = argparse.ArgumentParser()\n"
READY = {"SM_CHANNEL_TRAIN": "/opt/ml/input/data/train", "SM_MODEL_DIR": "/opt/ml/model", "SM_HOSTS": '["algo-1"]'}
JOB = {"channels": {"train": {"s3": "s3://example-data/ctr/train/"}}, "hyperparameters": {"epochs": 3}}
FUTURE = "from __future__ import annotations\n"


def whole(text, made):
    """Return a program with its first lines; an import from the future goes before them."""
    return (FUTURE if text.startswith(FUTURE) else "") + HEAD + made + text.removeprefix(FUTURE)


PROGRAMS = {
    **{f"parser: {name}": whole(text, MADE) for name, text in programs_of_parsers.PROGRAMS.items()},
    **{f"object: {name}": whole(text, MADE) for name, text in programs_of_objects.PROGRAMS.items()},
    **{f"end: {name}": whole(text, MADE) for name, text in programs_of_ends.PROGRAMS.items()},
    **{f"variable: {name}": whole(text, "") for name, text in programs_of_variables.PROGRAMS.items()},
}
if sys.version_info < (3, 11):
    del PROGRAMS["end: a handler of a group"]  # it is written in a newer Python


@only_with_all_programs
def test_scripts_are_valid():
    ended = statuses(PROGRAMS, script_environment(**JOB).words, READY)
    assert {name: status for name, status in ended.items() if status != 0} == {}


@pytest.mark.parametrize("name", PROGRAMS)
def test_valid_script_has_no_error(name):
    assert [one.message for one in findings(PROGRAMS[name], **JOB) if one.severity == "error"] == []


@pytest.mark.parametrize("made", ["", "class C:\n    x = 1\n", "def f():\n    return 1\nf()\n", "import json\n"])
def test_faulty_script_has_its_error(made):
    text = whole(made + "p.parse_args()\n", MADE)
    assert statuses({"x": text}, script_environment(**JOB).words, READY) == {"x": 2}
    assert [one.code for one in findings(text, **JOB)] == ["SM501"]

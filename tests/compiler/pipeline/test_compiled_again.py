"""A process remembers what unchanged files show, and sees each change of them."""

import shutil
import sys
from pathlib import Path

import pytest

from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import gather
from smspec.pipeline.script_reading import Started, read_program
from smspec.workspace.source_listing import scan_source
from support.small_job import BUILT, write_job

SPECS = Path(__file__).parents[3] / "specs"
PARSER = """\
import argparse
import helper
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
print(parser.parse_args())
"""
RENAMED = PARSER.replace("--epochs", "--rounds")
STARTED = Started(path="train.py", named="train.py", key="script")


def codes(spec):
    return sorted({diagnostic.code for diagnostic in compile_spec(gather(str(spec))).diagnostics})


def calls(function):
    """Return how many functions of Python are called."""
    found = []
    sys.setprofile(lambda _frame, event, _arg: found.append(event) if event == "call" else None)
    try:
        function()
    finally:
        sys.setprofile(None)
    return len(found)


@pytest.fixture
def spec(tmp_path):
    return write_job(tmp_path, **{"src/train.py": PARSER, "src/helper.py": "x = 1\n"})


def first_and_last(spec, change, restore):
    """Return what is found before a change, after it, and after it is undone."""
    before = codes(spec)
    change()
    after = codes(spec)
    restore()
    assert codes(spec) == before
    return set(after) - set(before)


def test_changed_spec_is_seen(spec):
    wrong = BUILT.replace("epochs", "loops")
    assert "SM501" in first_and_last(spec, lambda: spec.write_text(wrong), lambda: spec.write_text(BUILT))


def test_changed_script_is_seen(spec):
    script = spec.parent / "src/train.py"
    assert "SM501" in first_and_last(spec, lambda: script.write_text(RENAMED), lambda: script.write_text(PARSER))


def test_module_that_is_excluded_later_is_seen(spec):
    """The listing is the same before and after: a module that is not there may be excluded, or not exist."""
    (spec.parent / "src/helper.py").unlink()
    excluded, ignoring = spec.parent / "src/helper/__init__.py", spec.parent / "src/.dockerignore"
    ignoring.write_text("helper\n")
    missing = codes(spec)
    excluded.parent.mkdir()
    excluded.write_text("x = 1\n")
    assert codes(spec) != missing


def test_file_that_changed_after_its_listing_is_not_remembered(spec):
    source = spec.parent / "src"
    listing = scan_source(str(source)).listing
    (source / "train.py").write_text(RENAMED)
    assert "--rounds" in repr(read_program(STARTED, listing, str(source)))
    (source / "train.py").write_text(PARSER)
    assert "--epochs" in repr(read_program(STARTED, listing, str(source)))


def test_second_compilation_costs_a_third(tmp_path):
    shutil.copytree(SPECS / "script-mode", tmp_path / "job", ignore=shutil.ignore_patterns("build", "run"))
    first = calls(lambda: codes(tmp_path / "job/job.yaml"))
    assert calls(lambda: codes(tmp_path / "job/job.yaml")) < first / 3

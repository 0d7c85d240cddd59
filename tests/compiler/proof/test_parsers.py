"""Where the driver stops a script, and what it says about its parsers."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from smspec.proof.driver import starting
from smspec.proof.observation import parser_rests

FIRST = """
import argparse, sys
first = argparse.ArgumentParser(add_help=False)
first.add_argument("--lr")
second = argparse.ArgumentParser()
second.add_argument("--epochs", type=int)
"""
AFTER = "\nprint('ran on', flush=True)\n"
PARSE = "first.parse_known_args()"


@pytest.fixture
def observed(tmp_path):
    """Return what the driver records of a script with ``--epochs 3 --lr 1``."""
    library, code = tmp_path / "lib", tmp_path / "src"
    library.mkdir()
    code.mkdir()
    shutil.copytree(os.path.dirname(starting.__file__), library / "_smspec_check")
    (library / "sitecustomize.py").write_text("import _smspec_check.starting\n")

    def observe(text, words=("--epochs", "3", "--lr", "1")):
        script, result = code / "train.py", tmp_path / "result"
        script.write_text(text)
        rests = parser_rests({os.path.realpath(script): text})
        asked = {"result": str(result), "writable": [str(tmp_path)], "code": str(code), "parsers": 1}
        asked |= {"taken": rests.taken, "open": rests.open}
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(library), starting.PARSE: json.dumps(asked)}
        done = subprocess.run([sys.executable, script, *words], env=environment, capture_output=True, text=True)
        assert "ran on" not in done.stdout
        return json.loads(result.read_text())

    return observe


@pytest.mark.parametrize(
    ("rest", "kind", "is_open"),
    [
        (f"args, rest = {PARSE}\nsecond.parse_args(rest)", "parsed", False),
        (f"args, rest = {PARSE}\nsecond.add_argument('--x', required=True)\nsecond.parse_args(rest)", "rejected", None),
        (f"args, rest = {PARSE}\nif rest: second.parse_args(rest)", "parsed", True),
        (f"def rest(): return {PARSE}\nsecond.parse_args(rest()[1])", "parsed", True),
        (f"args, rest = {PARSE}\nsys.argv = sys.argv[:1] + rest\nsecond.parse_args()", "parsed", True),
        (f"args, rest = {PARSE}\nprint(rest)", "parsed", False),
        (f"args = {PARSE}[0]", "parsed", False),
    ],
)
def test_next_parser_reads_what_the_first_leaves(observed, rest, kind, is_open):
    record = observed(FIRST + rest + AFTER)
    assert (record["kind"], record.get("is_open")) == (kind, is_open)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("try:\n    first.parse_args()\nexcept SystemExit:\n    pass", "caught"),
        ("try:\n    first.parse_args()\nexcept SystemExit as error:\n    kept = error", "ended"),
        ("try:\n    first.parse_args()\nexcept SystemExit:\n    first.parse_known_args()", "parsed"),
        ("try:\n    first.parse_args()\nexcept SystemExit:\n    sys.exit(3)", "rejected"),
        ("try:\n    first.parse_args()\nexcept SystemExit:\n    raise ValueError('no')", "rejected"),
        ("try:\n    first.parse_args()\nfinally:\n    first = None", "rejected"),
        ("try:\n    second.parse_args(['--x'])\nexcept SystemExit:\n    pass\n1 / 0", "raised"),
    ],
)
def test_rejection_that_the_script_catches_is_none(observed, text, kind):
    """Only the rejection that ends the script is an error."""
    after = "" if kind in ("ended", "raised") else AFTER
    record = observed(FIRST + text + after)
    assert record["kind"] == kind
    if kind in ("caught", "rejected"):
        assert "unrecognized arguments: --epochs 3" in record["message"]


@pytest.mark.parametrize(
    "call",
    [
        "os.execv(sys.executable, [sys.executable, *sys.argv])",
        "os.execvpe(sys.executable, [sys.executable, *sys.argv], {**os.environ, 'NEW': '1'})",
        "os.execl(sys.executable, sys.executable, *sys.argv)",
    ],
)
def test_script_that_starts_itself_again_is_stopped(observed, call):
    again = f"import os, sys\nif 'AGAIN' not in os.environ:\n    os.environ['AGAIN'] = '1'\n    {call}\n"
    assert observed(f"{again}{FIRST}{PARSE}{AFTER}")["kind"] == "parsed"

"""The failure file: what SageMaker shows as FailureReason."""

import pytest

from support.runtime.container import Container


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def test_failure_file_has_error_status_and_command(any_python, tmp_path):
    """Cause, exit status, end of the last traceback, command."""
    container = Container(tmp_path / "ml", any_python)
    container.configure({"lr": "0.1"})
    done = container.run_script("def train():\n    raise ValueError('boom é')\ntrain()\n")
    lines = done.failure.split("\n")
    assert lines[:3] == [
        "ExecuteUserScriptError: ValueError: boom é",
        "ExitCode 1",
        "Traceback (most recent call last):",
    ]
    assert lines[-2] == "ValueError: boom é"
    assert lines[-1] == f'Command "{any_python} -- train.py --lr 0.1"'
    assert "    raise ValueError('boom é')" in lines


def test_failure_file_of_the_script_is_kept(container):
    """Also when the program ends with 0."""
    script = "import os, sys; open(os.environ['SM_OUTPUT_DIR'] + '/failure', 'w').write('mine'); sys.exit({})"
    assert container.run_script(script.format(5)).failure == "mine"
    done = container.run_script(script.format(0))
    assert (done.status, done.failure) == (0, "mine")


@pytest.mark.parametrize("character", ["x", "é", "€", "𝄞"])
def test_failure_file_fits_1024_characters_and_bytes(container, character):
    """SageMaker shows the first 1024 characters."""
    container.configure({"text": character * 600})
    script = f"def f(n):\n    if n: f(n - 1)\n    raise ValueError({character!r} * 3000)\nf(50)\n"
    failure = container.run_script(script).failure
    assert failure.startswith(f"ExecuteUserScriptError: ValueError: {character}")
    assert "\nExitCode 1\n" in failure
    assert 'Command "' in failure
    assert 900 < len(failure.encode()) <= 1024


def test_long_message_is_shortened(container):
    """The exception and the lines before it are not lost behind its message."""
    done = container.run_script("import sys\nraise ValueError('table ' + 'x' * 300_000 + ' end')")
    assert done.failure.startswith("ExecuteUserScriptError: ValueError: table xxx")
    assert "File " in done.failure
    assert len(done.failure.encode()) <= 1024


def test_last_traceback_is_the_reason(container):
    """Not an old one that was logged on the way; the one that the last was raised in stands behind it."""
    script = """
import logging
try:
    raise KeyError("early")
except KeyError:
    logging.exception("goes on")
try:
    raise OSError("first")
except OSError:
    raise RuntimeError("last")
"""
    failure = container.run_script(script).failure
    assert failure.startswith("ExecuteUserScriptError: RuntimeError: last; while handling OSError: first\n")
    assert "early" not in failure


def test_traceback_with_rank_prefixes_is_recognized(container):
    """Launchers mark what their processes write."""
    script = """
import sys, traceback
try:
    raise ValueError("of rank 0")
except ValueError:
    for line in traceback.format_exc().splitlines():
        print("[rank0]: " + line, file=sys.stderr)
print("the launcher has seen an error", file=sys.stderr)
sys.exit(1)
"""
    assert container.run_script(script).failure.startswith(
        "ExecuteUserScriptError: ValueError: of rank 0\nExitCode 1\n"
    )


def test_reason_without_traceback_is_the_last_line(container):
    """A shell script, a compiled program, or sys.exit with a message."""
    failure = container.run_script("import sys; print('loading', file=sys.stderr); sys.exit('no data in /x')").failure
    assert failure.split("\n")[:4] == [
        "ExecuteUserScriptError: no data in /x",
        "ExitCode 1",
        "loading",
        "no data in /x",
    ]


def test_failure_without_output_names_the_status(container):
    """Nothing was written, so nothing but the status is known."""
    failure = container.run_script("import sys; sys.exit(9)").failure
    assert failure.startswith('ExecuteUserScriptError: no message\nExitCode 9\nCommand "')


def test_secrets_are_masked(container):
    """By the name of the hyperparameter: in the command, the reason, and the log."""
    container.configure({"api_key": "s3cr3t-value", "tokenizer": "bert-base", "lr": "1"})
    done = container.run_script("import sys; raise ValueError(sys.argv)")
    assert "s3cr3t-value" not in done.failure
    assert "--api_key ****** --lr 1 --tokenizer bert-base" in done.failure
    assert not [line for line in done.stderr.splitlines() if line.startswith(b"smspec") and b"s3cr3t" in line]
    assert b"s3cr3t-value" in done.stderr  # What the program itself writes is its own.


@pytest.mark.parametrize("value", ["s3cr3t-value", "two words 'q'", "äöü/+=secret", "several\\nlines of it"])
def test_variables_named_like_secrets_are_masked(container, value):
    """In the reason, in the traceback, in the log of the runtime; also as a part of another text."""
    value = value.replace("\\n", "\n")
    script = """
import json, os, sys, urllib.parse
secret = os.environ["DB_PASSWORD"]
print(secret, json.dumps([secret]), urllib.parse.quote(secret), file=sys.stderr)
raise RuntimeError("cannot log in to db://me:%s@host with %r" % (urllib.parse.quote(secret, safe=""), secret))
"""
    done = container.run_script(script, environ={"DB_PASSWORD": value})
    first = done.failure.split("\n")[0].replace('"', "'")
    assert first == "ExecuteUserScriptError: RuntimeError: cannot log in to db://******@host with '******'"
    for part in (value, *value.split("\n")):
        assert part not in done.failure
        assert not [line for line in done.stderr.splitlines() if line.startswith(b"smspec") and part.encode() in line]


def test_control_characters_are_removed(container):
    """Colors and carriage returns of progress bars."""
    script = "import sys; sys.stderr.write('10%\\r20%\\r\\x1b[31mfailed\\x1b[0m\\x00\\n'); sys.exit(1)"
    failure = container.run_script(script).failure
    assert failure.startswith("ExecuteUserScriptError: failed\n")
    assert not {"\x1b", "\x00", "\r"} & set(failure)


def test_undecodable_error_is_escaped(container):
    """A lone surrogate in an exception: the toolkit ends with 0 over it."""
    container.configure({"bad": '"\\ud800"'})
    plan = {"kind": "script", "program": "train.py", "args_style": "none"}
    container.write(
        "code/train.py", "import smspec_runtime; raise ValueError(smspec_runtime.job().hyperparameters['bad'])"
    )
    done = container.run(plan=plan)
    assert done.status == 1
    assert done.failure.startswith("ExecuteUserScriptError: ValueError: ")


def test_unstartable_script_is_reported(container):
    """Its name and the reason."""
    done = container.run(plan={"kind": "command", "command": ["./no-such"], "args_style": "none"})
    assert done.status == 127
    assert done.failure.startswith("ExecuteUserScriptError: ./no-such: No such file or directory\nExitCode 127\n")

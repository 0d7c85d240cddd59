"""Help, usage, and errors on screens of several widths; colors of verdicts; suggestions for what was mistyped."""

import re

import pytest

from smspec.cli import COMMANDS, FIRST
from smspec.cli.console import coloured_verdicts
from smspec.diagnostics.wrapping import wrapped
from support.smspec_command import smspec

WIDTHS = (60, 80, 120, 200)

PAGES = [["--help"], *([command, "--help"] for command in COMMANDS)]

FAULTY = """\
smspec: v1
name: a
input_mode: Pip
hosts: {instance_type: ml.m5.xlarge, count: 1, volume: 1GB, a_key_that_nobody_knows_but_which_is_long: [1, 2, 3, 4, 5]}
"""


def words(text):
    return text.split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page[0])
def test_help_fits_the_screen(page):
    shown = {columns: smspec(*page, columns=columns).out for columns in WIDTHS}
    for columns, text in shown.items():
        assert [line for line in text.splitlines() if len(line) > columns] == []
    assert len({tuple(words(text)) for text in shown.values()}) == 1  # no word is broken, and none is lost


def test_help_has_80_columns_without_a_screen():
    for page in PAGES:
        assert [line for line in smspec(*page).out.splitlines() if len(line) > 80] == []


def test_overview_begins_with_the_first_commands():
    start = smspec("--help").out.partition("write a spec:")[0]
    assert re.findall(r"`(\w+)`", start) == list(FIRST)


@pytest.mark.parametrize("columns", WIDTHS)
def test_errors_fit_the_screen(columns, tmp_path):
    (tmp_path / "job.yaml").write_text(FAULTY)
    done = smspec("validate", cwd=tmp_path, columns=columns)
    assert done.status == 1
    lines = [*done.out.splitlines(), *done.err.splitlines()]
    assert [line for line in lines if len(line) > columns] == []
    usual = smspec("validate", cwd=tmp_path).out
    messages = [line.partition(": ")[2] for line in usual.splitlines() if re.match(r"(error|warning|note)\[", line)]
    unwrapped = " ".join(done.out.split())
    assert messages
    assert [message for message in messages if message not in unwrapped] == []


def test_findings_in_a_file_are_not_wrapped(tmp_path):
    (tmp_path / "job.yaml").write_text(FAULTY)
    out = smspec("validate", cwd=tmp_path).out
    assert any(len(line) > 80 for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "--fromat=json"], "unknown option `--fromat`; did you mean `--format`?"),
        (["submit", "--dryrun"], "unknown option `--dryrun`; did you mean `--dry-run`?"),
        (["diff", "--zzzzzz"], "unknown option `--zzzzzz`"),
        (["run", "--format", "jsn"], "argument --format: expected one of text, json, got `jsn`; did you mean `json`?"),
        (["fmt", "-z"], "unknown option `-z`"),
        (["prices", "all"], "unexpected argument `all`"),
        (["logs"], "the following arguments are required: NAME|SPEC"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_mistyped_option_has_two_lines(arguments, sentence):
    done = smspec(*arguments)
    assert done.status == 2
    usage, fault = done.err.splitlines()
    assert usage.startswith(f"usage: smspec {arguments[0]} [OPTIONS]")
    assert usage.endswith(f", see smspec {arguments[0]} --help")
    assert fault == f"smspec: {sentence}"


def test_value_of_an_unknown_option_is_not_shown():
    assert "hunter2" not in smspec("run", "--pasword=hunter2").err


@pytest.mark.parametrize("columns", [10, 20, 33, 80])
def test_wrapped_text_loses_nothing(columns):
    text = "a word, a/very/long/path/that/does/not/fit and `some code`; wörter 漢字漢字漢字 end"
    lines = wrapped(text, columns, first="help: ", rest="      ").split("\n")
    assert " ".join(line.strip() for line in lines).removeprefix("help: ") == text
    assert all(len(line) <= max(columns, 20) or " " not in line.strip() for line in lines[1:])


def test_verdicts_have_colors():
    assert coloured_verdicts("checked 2 jobs: 1 error, 2 warnings") == (
        "checked 2 jobs: \x1b[31m1 error\x1b[0m, \x1b[33m2 warnings\x1b[0m"
    )
    assert coloured_verdicts("checked 1 job: no problems found").endswith("\x1b[32mno problems found\x1b[0m")
    assert coloured_verdicts("exp-Failed: Completed") == "exp-Failed: \x1b[32mCompleted\x1b[0m"
    assert coloured_verdicts("`Failed` 0 errors") == "`Failed` 0 errors"

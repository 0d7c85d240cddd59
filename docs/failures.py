"""Writes docs/failures.md, from the cases of tests/failures: ``python docs/failures.py``. A test keeps it current."""

import sys
from pathlib import Path

PAGE = Path(__file__).with_name("failures.md")

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]
from diagnostics import links  # noqa: E402

from support.known_failures import Failure, failures, topics, url  # noqa: E402

PAGES = links()
"""The link to the page of each code, and its title."""

HEAD = """\
# Failures that smspec prevents

<!-- Written by docs/failures.py from the cases of tests/failures: change those and run it. -->

These are {reports} failures of training jobs that users reported in public issue trackers. smspec prevents {prevented}
of them: it reports the fault before the job starts, the job does not fail, or, where the report is about a missing or
unclear message, smspec gives the cause. Each row has a test in [tests/failures](../tests/failures), with a job that
fails in this way. Where `smspec validate` reports a code, the test also repairs the job, and smspec reports nothing.
The tests of commands that call AWS use local servers of its APIs.
"""

NOT_YET = """\
## Not prevented

| failure | why |
|---|---|"""

NOT_APPLICABLE = """\
## Not about job specs

| failure | why |
|---|---|"""


def page() -> str:
    """Return the whole page."""
    count = {
        "reports": sum(len(failure.reports) for failure in failures()),
        "prevented": sum(len(failure.reports) for failure in failures() if not failure.reason),
    }
    lines = [HEAD.format(**count)]
    for topic, title in topics():
        prevented = [failure for failure in failures() if failure.topic == topic and not failure.reason]
        lines += [f"## {title}\n", "| failure | smspec | command |", "|---|---|---|"]
        lines += [f"| {reported(failure)} | {answer(failure)} | {commands(failure)} |" for failure in prevented]
        lines.append("")
    for head, is_applicable in ((NOT_YET, True), (NOT_APPLICABLE, False)):
        rest = [failure for failure in failures() if failure.reason and failure.is_applicable == is_applicable]
        lines += [head, *(f"| {reported(failure)} | {failure.reason} |" for failure in rest), ""]
    return "\n".join(lines)


def reported(failure: Failure) -> str:
    """Return what each report says, with a link to it."""
    return "<br>".join(f"{text} [{report}]({url(report)})" for report, text in failure.reports.items())


def answer(failure: Failure) -> str:
    """Return the codes with their titles, and what else smspec does."""
    shown = [", ".join(PAGES[code]) for code in failure.codes]
    return "; ".join([*shown, *([failure.answer] if failure.answer else [])])


def commands(failure: Failure) -> str:
    """Return the commands that answer, without options that only a test needs."""
    names = dict.fromkeys(command.partition(" --python")[0] for command in failure.commands)
    return ", ".join(f"`smspec {name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

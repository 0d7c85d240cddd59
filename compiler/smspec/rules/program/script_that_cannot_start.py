"""The runtime starts a script that is not Python as a program of the system."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.script.foreign_script import ForeignScript

RULE = Rule("SM541", "script that cannot start", instead_of="SM512")

_PATH = ("entry_point", "script")


def check(script: ForeignScript) -> Iterator[Finding]:
    """Reject a notebook, and a script whose first line ends with a carriage return."""
    if script.name.endswith(".ipynb"):
        stem = script.name.removesuffix(".ipynb")
        yield RULE.at(
            _PATH,
            f"`entry_point.script` is `{script.name}`, a notebook",
            help=f"run `jupyter nbconvert --to script {script.name}`, and use `{stem}.py`",
        )
    elif script.has_broken_interpreter:
        yield RULE.at(
            _PATH,
            f"`entry_point.script`: the first line of `{script.name}` ends with a carriage return",
            help="convert the line endings to LF, and add `*.sh text eol=lf` to .gitattributes",
        )

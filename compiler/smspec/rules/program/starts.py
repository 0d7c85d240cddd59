"""Rules about a program that cannot start: its syntax, its handler, and scripts that are not Python."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, dotted_version, file_name, here
from smspec.script.program import ForeignScript

BROKEN_SYNTAX = Rule("SM517", "broken syntax", instead_of="SM512")


def broken_syntax(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a module with an error in its text that the Python of the image reports too.

    Python compiles a module before it runs any of it: an error anywhere in it ends the script at its import.
    """
    for fault in both.reach.faults:
        yield BROKEN_SYNTAX.at(
            both.path,
            f"`{file_name(fault.place)}` line {fault.place.line}: {fault.reason}",
            help="fix the line; `python3 -m py_compile FILE` shows the same error",
            notes=here("Python rejects the module here", fault.place),
        )


NEWER_SYNTAX = Rule("SM518", "syntax of a newer Python")


def newer_syntax(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a module with a construct that the Python of the image does not have yet.

    Each version of Python adds syntax that older ones reject.
    """
    for found in both.reach.new_syntax:
        since = dotted_version(found.since)
        yield NEWER_SYNTAX.at(
            both.path,
            f"`{file_name(found.place)}` line {found.place.line} requires Python {since}, "
            f"but the image has {both.python_name}",
            help=f"use a base image with Python {since} or later, or change the line",
            notes=here(f"{found.construct} is new in Python {since}", found.place),
        )


UNCALLABLE_HANDLER = Rule("SM522", "uncallable handler")


def uncallable_handler(both: ProgramAndImage) -> Iterator[Finding]:
    """Reject a handler that the runtime cannot call, or that has nothing to call.

    The runtime makes an object of a handler class without arguments, and calls handlers with positional ones.
    """
    for fault in both.reach.handler:
        message = f"`{file_name(fault.place)}`: {fault.reason}"
        yield UNCALLABLE_HANDLER.at(both.path, message, help=fault.help, notes=here("it is defined here", fault.place))


SCRIPT_THAT_CANNOT_START = Rule("SM541", "script that cannot start", instead_of="SM512")

_PATH = ("entry_point", "script")


def script_that_cannot_start(script: ForeignScript) -> Iterator[Finding]:
    """Reject a notebook, and a script whose first line ends with a carriage return.

    The runtime starts a script that is not Python as a program of the system.
    """
    if script.name.endswith(".ipynb"):
        stem = script.name.removesuffix(".ipynb")
        yield SCRIPT_THAT_CANNOT_START.at(
            _PATH,
            f"`entry_point.script` is `{script.name}`, a notebook",
            help=f"run `jupyter nbconvert --to script {script.name}`, and use `{stem}.py`",
        )
    elif script.has_broken_interpreter:
        yield SCRIPT_THAT_CANNOT_START.at(
            _PATH,
            f"`entry_point.script`: the first line of `{script.name}` ends with a carriage return",
            help="convert the line endings to LF, and add `*.sh text eol=lf` to .gitattributes",
        )


IGNORED_FAILURE = Rule("SM542", "ignored failure in a shell script", "warning")


def ignored_failure(script: ForeignScript) -> Iterator[Finding]:
    """Warn about a shell script without `set -e` that ignores the failure of a command.

    A shell goes on after a command that fails, and the job then ends with the status of the last command.
    """
    for command, place in script.ignored_failures():
        yield IGNORED_FAILURE.at(
            ("entry_point", "script"),
            f"`{script.name}` ignores a failure of `{command}` in line {place.line}",
            help="add `set -e` at the beginning of the script",
            notes=(Note("the script goes on after this command, whatever its status", place),),
        )
        return


RULES = (broken_syntax, newer_syntax, uncallable_handler)
OF_OTHER_SCRIPTS = (script_that_cannot_start, ignored_failure)

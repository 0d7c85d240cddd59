"""Rules about a program that cannot start: its syntax, its handler, and scripts that are not Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, dotted_version, file_name, here
from smspec.script.program import ForeignScript
from smspec.source import Path, Span, dotted
from smspec.spec.model import JobSpec

if TYPE_CHECKING:
    from smspec.script.shell.endless_commands import EndlessCommand

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

_ENDINGS = "convert the line endings to LF, and add `* text=auto eol=lf` to .gitattributes"
_MARK = "save the file as UTF-8 without a byte order mark"


def script_that_cannot_start(script: ForeignScript, _: JobSpec) -> Iterator[Finding]:
    """Reject a notebook, and a script whose first line ends with a carriage return, or names no interpreter.

    The runtime starts a script that is not Python as a program of the system.
    """
    key = dotted(script.path)
    if script.name.endswith(".ipynb"):
        stem = script.name.removesuffix(".ipynb")
        yield SCRIPT_THAT_CANNOT_START.at(
            script.path,
            f"`{key}` is `{script.name}`, a notebook",
            help=f"run `jupyter nbconvert --to script {script.name}`, and use `{stem}.py`",
        )
    elif script.has_broken_interpreter:
        yield SCRIPT_THAT_CANNOT_START.at(
            script.path,
            f"`{key}`: the first line of `{script.name}` ends with a carriage return",
            help=_ENDINGS,
        )
    elif script.hides_interpreter and not script.dialect:
        yield SCRIPT_THAT_CANNOT_START.at(
            script.path,
            f"`{key}`: a byte order mark hides the first line of `{script.name}`, so `/bin/sh` runs it",
            help=_MARK,
        )


IGNORED_FAILURE = Rule("SM542", "ignored failure in a shell script", "warning")

_CURES = {
    "errexit": "add `set -e` at the beginning of the script",
    "pipefail": "add `set -eo pipefail` at the beginning of the script",
    "wait": 'save its process id with `pid=$!`, and add `wait "$pid"`, which has its status',
    "each": 'replace this `wait` with one for each process: `wait "$pid" || exit 1`',
    "tries": "add a test after the loop, which ends the script with `exit 1` if no try was successful",
    "trap": "change the trap, so that it ends with the status that it begins with: `s=$?; …; exit $s`",
    "setting": "remove the `set +…` before it, or add `set -eo pipefail` after that line",
    "declaration": "declare the variable in a line before, and assign it without `local` or `export`",
    "check": "add `|| exit 1` to the command",
    "output": "add a line before with `output=$(COMMAND) || exit 1`, and use `$output` instead",
}


def ignored_failure(script: ForeignScript, _: JobSpec) -> Iterator[Finding]:
    """Warn about a shell script that ends with status 0 although a command fails.

    A shell goes on after a command that fails, and the job then ends with the status of the last command.
    """
    # Imported late: few scripts are of a shell.
    from smspec.script.shell.lost_statuses import lost_statuses

    for one in (script, *script.called):
        # What is sourced has the settings of its caller; a program may look at more than the status.
        if not one.dialect or one.is_sourced or script.shell == "python":
            continue
        for lost in lost_statuses(one.text, one.dialect, **_settings(one))[:1]:
            place = Span(one.file, lost.line, 1, lost.line, 2)
            is_of_sh = lost.cure in ("pipefail", "setting") and one.dialect == "sh"
            where = f" in line {lost.line}" if one.name else ""
            effect = "all tries of this command fail" if lost.cure == "tries" else "this command fails"
            yield IGNORED_FAILURE.at(
                script.path,
                f"`{one.name or dotted(one.path)}` ignores a failure of `{lost.command}`{where}",
                help=("run the script with bash, and " if is_of_sh else "") + _CURES[lost.cure],
                notes=(Note(f"the script ends with status 0 although {effect}", place if one.name else None),),
            )


ENDLESS_WAIT = Rule("SM576", "endless wait of a host", "warning")


def endless_wait(both: ProgramAndImage) -> Iterator[Finding]:
    """Warn about a script in which hosts certainly reach a line that never ends, or never ends well.

    SageMaker ends a job when all hosts have ended; until then it bills all of them.
    """
    # Imported late, as is the other: few scripts wait for ever.
    if both.job.distribution is None and both.reach.may_wait:
        from smspec.script import endless_waits

        script = both.reach.texts[0]
        found = endless_waits.endless_wait(script.text, _host_count(both.job))
        if found is not None:
            yield _endless(found, both.path, file_name(Span(script.name, 1, 1, 1, 1)), script.name, both.job)


def endless_wait_of_a_shell(script: ForeignScript, job: JobSpec) -> Iterator[Finding]:
    """Warn about such a line of a shell script."""
    if job.distribution is None and script.dialect:
        from smspec.script.shell import endless_commands

        found = endless_commands.endless_command(script.text, script.dialect, _host_count(job), **_settings(script))
        if found is not None:
            yield _endless(found, script.path, script.name, script.file, job)


def _endless(found: EndlessCommand, path: Path, name: str, file: str, job: JobSpec) -> Finding:
    if found.fails:
        effect = "it waits until the head is gone, and then ends with status 1"
        help = "remove `--block`, and add `while ray health-check --address HEAD:6379; do sleep 10; done`"
    elif found.command.startswith("ray"):
        effect = "the command does not end while Ray runs"
        help = "remove `--block`: the command ends when Ray has started"
    elif found.is_server:
        effect = "the command does not end while the server runs"
        help = "start it in the background, with `&` in a shell or `subprocess.Popen`"
    else:
        effect = "SageMaker bills all hosts until the last one ends"
        help = "replace it with a wait for the leader, such as a test of its port, that ends with status 0"
    where = f" in line {found.line}" if name else ""
    count = _host_count(job)
    hosts = f" {'all' if found.everywhere else 'some'} of the {count} hosts" if count > 1 else " it"
    return ENDLESS_WAIT.at(
        path,
        f"`{name or dotted(path)}` never succeeds: `{found.command}`{where} blocks{hosts}",
        help=help,
        notes=(Note(effect, Span(file, found.line, 1, found.line, 2) if name else None),),
    )


def _host_count(job: JobSpec) -> int:
    return 1 if job.hosts is None else job.hosts.total


def _settings(script: ForeignScript) -> dict[str, bool]:
    """Return which settings the first line of a script, or the command that starts it, has."""
    options = script.interpreter[1]
    is_strict = re.search(r"(?<![\w-])-[a-z]*e|\berrexit\b", options) is not None
    return {"errexit": is_strict, "pipefail": "pipefail" in options}


DAMAGED_SCRIPT = Rule("SM553", "damaged shell script", "warning")

_HARMLESS = frozenset({b":", b"echo", b"printf", b"true"})


def damaged_script(script: ForeignScript, job: JobSpec) -> Iterator[Finding]:
    """Warn about carriage returns and a byte order mark in shell scripts, and about a script that cannot be executed.

    A shell takes a carriage return for a part of the last word of its line.
    """
    for one in (script, *script.called):
        is_called, line = one is not script, 1
        is_damaged = not one.sets_content
        if is_damaged and one.has_broken_interpreter:
            if not is_called:
                continue
            what, effect, help = (
                ": the first line ends with a carriage return",
                "no interpreter has this name",
                _ENDINGS,
            )
        elif is_damaged and one.hides_interpreter and (one.dialect or is_called):
            what, effect, help = " begins with a byte order mark", "`/bin/sh` runs the script, not this line", _MARK
        elif is_called and not one.shell and not one.sets_mode and (job.delivery == "channel" or not one.is_executable):
            what, effect = f" is not executable, but line {one.line} of a script calls it", "the call has status 126"
            help = f"start it with `bash {one.name}`, or run `git update-index --chmod=+x`"
            help = help if job.delivery != "channel" else f"start it with `bash {one.name}`: S3 stores no execute bit"
        elif is_damaged and (damaged := _damaged_line(one)) is not None:
            what, line, help = f": line {damaged} ends with a carriage return", damaged, _ENDINGS
            effect = "the carriage return becomes a part of the last word"
        else:
            continue
        place = Span(one.file, line, 1, line, 2) if one.name else None
        name = one.name or dotted(one.path)
        yield DAMAGED_SCRIPT.at(script.path, f"`{name}`{what}", help=help, notes=(Note(effect, place),))


def _damaged_line(script: ForeignScript) -> int | None:
    """Return the first line with a carriage return at the end of a command that it changes."""
    if b"\r\n" not in script.content or not script.dialect:
        return None
    for number, line in enumerate(script.content.split(b"\n"), 1):
        words = line.split()
        if line.endswith(b"\r") and words and not words[0].startswith(b"#") and words[0] not in _HARMLESS:
            return number
    return None


RULES = (broken_syntax, newer_syntax, uncallable_handler, endless_wait)
OF_OTHER_SCRIPTS = (script_that_cannot_start, ignored_failure, endless_wait_of_a_shell, damaged_script)

"""The output of a command, results to one stream, everything else to the other; and the errors that end one."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from smspec.diagnostics import SEVERITIES, Diagnostic, InvalidInput
from smspec.diagnostics.quoting import (
    masked,
    multiline_visible,
    seen,
    visible,
    without_commands,
    without_credentials,
)
from smspec.source import SourceText

_USUAL_COLUMNS = 80
"""Those of a terminal that does not know its own."""
_STYLES_OF_VERDICTS = {
    "no problems found|no differences|Completed|kept": "32",
    "[1-9][0-9]* errors?|Failed|broken": "31",
    "[1-9][0-9]* warnings?|Stopped|not rehearsed": "33",
}
"""Green is what is well, red what is not, and yellow between."""
_DIGITS = 6
"""So many digits of COLUMNS are read."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_NO_THREAD = "can't start new thread"


class Console:
    """The two streams of a command. Only results go to ``out``; a closed reader is not an error.

    Neither gets the credentials of this process, whichever field of a response repeats them, nor orders to a terminal
    or to a CI system: text with colors has methods of its own.
    """

    def __init__(self, out: TextIO | None, err: TextIO | None, environment: Mapping[str, str]) -> None:
        self._out = out
        self._err = err
        wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        self.out_in_colour = wanted and _is_terminal(out)
        self.err_in_colour = wanted and _is_terminal(err)
        self.err_is_terminal = _is_terminal(err)
        self.out_columns = _columns(out, environment)
        """How many columns a line of ``out`` may have; None for a file or a pipe."""
        self.err_columns = _columns(err, environment)
        self.verbosity = 0
        self.has_lost_its_reader = False
        """Whether the reader of results has closed its end, as `head` does."""
        self._gravest: Diagnostic | None = None

    def result(self, text: str, *, has_verdict: bool = False) -> None:
        """Write a complete result for people. Raise as `content` does.

        ``has_verdict``: it says what became of a job or a check, which has colors on a terminal.
        """
        shown = without_commands(multiline_visible(text))
        self.content(coloured_verdicts(shown) if has_verdict and self.out_in_colour else shown)

    def painted_result(self, text: str) -> None:
        """Write a result for people, every value of which is visible already: it may have colors."""
        self.content(without_commands(seen(text)))

    def commands(self, text: str) -> None:
        """Write commands for a CI system, in which every value is visible already."""
        self.content(seen(text))

    def content(self, text: str) -> None:
        """Write a result as it is: a file, or JSON. Raise `ResourceUnavailable` for a full disk or a closed stream."""
        if self._out is None:
            raise ResourceUnavailable("standard output is closed")
        try:
            self._out.write(without_credentials(text))
            self._out.flush()
        except BrokenPipeError:
            # `smspec … | head` may close the pipe: the exit status stays the same.
            self.has_lost_its_reader = True
            _abandon(self._out)
        except OSError as fault:
            _abandon(self._out)
            from smspec.diagnostics.quoting import system_reason  # imported late: rarely needed

            raise ResourceUnavailable(f"standard output: {system_reason(fault)}") from fault

    def warned(self, diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> None:
        """Show diagnostics next to a result."""
        from smspec.diagnostics.text_format import OF_VALIDATE, framed

        diagnostics = tuple(one for one in self.wanted(diagnostics) if one.code not in OF_VALIDATE)
        self.paint(framed(diagnostics, texts, colour=self.err_in_colour, columns=self.err_columns))
        self.has_framed(diagnostics)

    def wanted(self, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return what a person is shown; with ``-q``, no notes."""
        return tuple(one for one in diagnostics if self.verbosity >= 0 or one.severity != "note")

    def has_framed(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Record the first of the most severe diagnostics that were shown as text, for `finish`."""
        shown = (*filter(None, [self._gravest]), *diagnostics)
        self._gravest = min(shown, key=lambda each: SEVERITIES.index(each.severity), default=None)

    def finish(self) -> None:
        """Print how to get the details of the diagnostics: once per command, after its summary."""
        if self._gravest is not None:
            self.remark(f"For details, run `smspec explain {self._gravest.code}`.")
            self._gravest = None

    def remark(self, *lines: str, has_verdict: bool = False) -> None:
        """Write lines that are neither a result nor a problem; with ``-q``, nothing."""
        if self.verbosity >= 0:
            self.say(*lines, has_verdict=has_verdict)

    def detail(self, line: str) -> None:
        """Write one line that only ``-v`` asks for."""
        if self.verbosity > 0:
            self.say(line)

    def say(self, *lines: str, has_verdict: bool = False) -> None:
        """Write lines that are not a result, wrapped for a screen; names of others in them begin no line.

        ``has_verdict``: as of `result`.
        """
        shown = "".join(f"{self._fitted(visible(line))}\n" for line in lines)
        self.paint(coloured_verdicts(shown) if has_verdict and self.err_in_colour else shown)

    def _fitted(self, line: str) -> str:
        if self.err_columns is None or len(line) <= self.err_columns // 2:  # no letter has more than two columns
            return line
        from smspec.diagnostics.wrapping import wrapped  # imported late: on a screen only

        return wrapped(line, self.err_columns, rest="  ")

    def write(self, text: str) -> None:
        """Write lines that are not a result; a closed stream is no reason to stop."""
        self.paint(multiline_visible(text))

    def paint(self, text: str) -> None:
        """Write what may have colors and move the cursor, every value of which is visible already."""
        if self._err is None:
            return
        try:
            self._err.write(without_credentials(without_commands(seen(text))))
            self._err.flush()
        except (OSError, ValueError):
            _abandon(self._err)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{'  '.join(cells).rstrip()}\n" for cells in padded)


def process_console() -> Console:
    """Return the console of this process: UTF-8 and ``\
`` in any locale, so that results are reproducible."""
    sys.stdout, sys.stderr = _buffered(sys.stdout), _buffered(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    return Console(sys.stdout, sys.stderr, os.environ)


def _buffered(stream: TextIO) -> TextIO:
    """Return a stream that writes everything: with PYTHONUNBUFFERED, Python loses what a signal interrupts."""
    raw = getattr(stream, "buffer", None)
    return io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=True) if isinstance(raw, io.FileIO) else stream


def coloured_verdicts(text: str) -> str:
    """Return a text, the values of which are visible already, with its verdicts and counts in color."""
    import re  # imported late: on a terminal only

    styles = "|".join(f"(?P<s{style}>{words})" for words, style in _STYLES_OF_VERDICTS.items())
    # Not inside a name: jobs may be called `exp-Failed`.
    verdict = re.compile(rf"(?<![\w./`-])(?:{styles})(?![\w./`-])")
    return verdict.sub(lambda found: f"\x1b[{(found.lastgroup or '')[1:]}m{found[0]}\x1b[0m", text)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _columns(stream: TextIO | None, environment: Mapping[str, str]) -> int | None:
    """Return COLUMNS, or the columns of the terminal of a stream; None for a file or a pipe."""
    wanted = environment.get("COLUMNS", "")
    if wanted.isascii() and wanted.isdigit() and int(wanted[:_DIGITS]):
        return int(wanted[:_DIGITS])
    if stream is None or not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS


def _abandon(stream: TextIO) -> None:
    """Discard the content of the buffer, so that the interpreter does not write it at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()
    except (OSError, ValueError):
        pass


class UsageError(Exception):
    """The command line is invalid: exit status 2. ``usage`` shows the correct form."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class CommandRefused(Exception):
    """The command would do harm, or its outcome is not the one that was requested: exit status 1."""


class ResourceUnavailable(Exception):
    """A file, a program, or a service that the command needs is missing or broken: exit status 3."""


def report_error(fault: Exception, console: Console) -> int:
    """Write a sentence about the error and return its exit status."""
    if os.environ.get("SMSPEC_DEBUG"):
        import traceback

        console.write("".join(traceback.format_exception(fault)))
    if isinstance(fault, InvalidInput):
        console.warned(fault.diagnostics, fault.texts)
        return 1
    if isinstance(fault, UsageError):
        console.paint(fault.usage)
        return _report(str(fault), 2, console)
    if isinstance(fault, CommandRefused):
        return _report(str(fault), 1, console)
    if isinstance(fault, ResourceUnavailable):
        return _report(str(fault), 3, console)
    if isinstance(fault, OSError):
        return _report(_sentence(fault), 3, console)
    if isinstance(fault, MemoryError):
        return _report("out of memory", 3, console)
    if isinstance(fault, RuntimeError) and str(fault) == _NO_THREAD:
        return _report("cannot start a thread: the limit of processes, or of memory, is reached", 3, console)
    # Imported late: most commands succeed, and without memory or descriptors nothing can be imported.
    from smspec.collection.result_tree import ResultRefused
    from smspec.output.atomic_file import OutputFailed, OutputRefused
    from smspec.spec.layers.variables import OptionError
    from smspec.workspace.git import GitFailed
    from smspec.workspace.own_directories import UnsafeCache

    statuses = {OptionError: 2, OutputRefused: 1, ResultRefused: 1, OutputFailed: 3, GitFailed: 3, UnsafeCache: 3}
    for kind, status in statuses.items():
        if isinstance(fault, kind):
            return _report(str(fault), status, console)
    _report(f"internal error: {type(fault).__name__}: {fault}", 70, console)
    console.say(
        "this is a bug in smspec: report the line above, the command, and the spec if you can share it;"
        " set SMSPEC_DEBUG=1 for a traceback"
    )
    return 70


def _report(sentence: str, status: int, console: Console) -> int:
    # The words of a command line may contain secrets, and are shown in the logs of a pipeline.
    console.say(f"smspec: {visible(masked(sentence))}")
    return status


def _sentence(fault: OSError) -> str:
    from smspec.diagnostics.quoting import system_reason

    if fault.errno is None and fault.args and isinstance(fault.args[0], list):
        _, target, reason = fault.args[0][0]  # the first of what `shutil.copytree` could not copy
        return f"`{target}`: {reason}"
    named = fault.filename
    if fault.filename2 is not None and fault.errno in _NO_ROOM:
        named = fault.filename2  # a copy names its original first, but its target has no room
    if named is None:
        return system_reason(fault)
    name = named if isinstance(named, str) else os.fsdecode(named)
    return f"`{name}`: {system_reason(fault)}"

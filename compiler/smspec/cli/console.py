"""Where a command's words go: results to one stream, everything else to the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TextIO

from smspec.cli.command_errors import ResourceUnavailable
from smspec.diagnostics import Diagnostic
from smspec.diagnostics.severity import SEVERITIES
from smspec.source import SourceText


class Console:
    """The two streams of a command. Only results go to ``out``; a reader that went away is not a fault."""

    def __init__(self, out: TextIO | None, err: TextIO | None, environment: Mapping[str, str]) -> None:
        self._out = out
        self._err = err
        wanted = not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        self.out_in_colour = wanted and _is_terminal(out)
        self.err_in_colour = wanted and _is_terminal(err)
        self.err_is_terminal = _is_terminal(err)
        self._gravest: Diagnostic | None = None

    def result(self, text: str) -> None:
        """Write a result, whole. Raises `ResourceUnavailable` when it cannot be kept: disk full, stream closed."""
        if self._out is None:
            raise ResourceUnavailable("standard output is closed")
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            # `smspec … | head` has seen enough: what was decided, and the exit status, stay the same.
            _abandon(self._out)
        except OSError as fault:
            _abandon(self._out)
            from smspec.diagnostics.external_messages import reason  # late: hardly ever

            raise ResourceUnavailable(f"standard output: {reason(fault)}") from fault

    def warned(self, diagnostics: Iterable[Diagnostic], texts: Iterable[SourceText]) -> None:
        """Show diagnostics next to a result."""
        from smspec.diagnostics.text_format import framed

        diagnostics = tuple(diagnostics)
        self.write(framed(diagnostics, texts, colour=self.err_in_colour))
        self.has_framed(diagnostics)

    def has_framed(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Remember the first of the gravest diagnostics that people were shown, for `finish`."""
        shown = (*filter(None, [self._gravest]), *diagnostics)
        self._gravest = min(shown, key=lambda each: SEVERITIES.index(each.severity), default=None)

    def finish(self) -> None:
        """Print where the details of the diagnostics are: once for a command, after its summary."""
        if self._gravest is not None:
            self.say(f"For details, run `smspec explain {self._gravest.code}`.")
            self._gravest = None

    def say(self, line: str) -> None:
        """Write one line that is not a result."""
        self.write(f"{line}\n")

    def write(self, text: str) -> None:
        """Write what is not a result; nobody listening is no reason to stop."""
        if self._err is None:
            return
        try:
            self._err.write(text)
            self._err.flush()
        except (OSError, ValueError):
            _abandon(self._err)


def process_console() -> Console:
    """Return the console of this process: UTF-8 and ``\\n`` whatever the locale, so that results are the same bytes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    return Console(sys.stdout, sys.stderr, os.environ)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _abandon(stream: TextIO) -> None:
    """Send what is still in the buffer nowhere, so that the interpreter does not try again when it ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        stream.flush()
    except (OSError, ValueError):
        pass

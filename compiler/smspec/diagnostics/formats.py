"""The output formats of diagnostics: one file each, imported on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.source import SourceText

Format: TypeAlias = Callable[[Sequence[Diagnostic], Sequence[SourceText], bool], str]
"""Formats diagnostics, with their texts and whether to use color; empty if there are none."""


# All imports here are late: a command writes one format, and mostly there is nothing to write.
def _text(diagnostics: Sequence[Diagnostic], texts: Sequence[SourceText], colour: bool) -> str:
    if not diagnostics:
        return ""
    from smspec.diagnostics.text_format import framed

    return framed(diagnostics, texts, colour=colour)


def _json(diagnostics: Sequence[Diagnostic], _texts: Sequence[SourceText], _colour: bool) -> str:
    from smspec.diagnostics.json_format import records

    return records(diagnostics)


def _sarif(diagnostics: Sequence[Diagnostic], texts: Sequence[SourceText], _colour: bool) -> str:
    from smspec.diagnostics.sarif import sarif

    return sarif(diagnostics, texts)


def _github(diagnostics: Sequence[Diagnostic], _texts: Sequence[SourceText], _colour: bool) -> str:
    from smspec.diagnostics.github_format import workflow_commands

    return workflow_commands(diagnostics)


def _junit(diagnostics: Sequence[Diagnostic], _texts: Sequence[SourceText], _colour: bool) -> str:
    from smspec.diagnostics.junit_format import junit

    return junit(diagnostics)


def _strict_junit(diagnostics: Sequence[Diagnostic], _texts: Sequence[SourceText], _colour: bool) -> str:
    from smspec.diagnostics.junit_format import junit

    return junit(diagnostics, is_strict=True)


FORMATS: dict[str, Format] = {"text": _text, "json": _json, "sarif": _sarif, "github": _github, "junit": _junit}
"""Name, as in ``--format``, → its function. The first is the default."""
STRICT_FORMATS: dict[str, Format] = {**FORMATS, "junit": _strict_junit}
"""The formats where warnings fail: only JUnit has a result for each finding."""

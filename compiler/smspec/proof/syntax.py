"""Compile the modules of a script with the Python of its image."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding
from smspec.local.python.interpreter import without_foreign_packages
from smspec.proof.codes import UNCOMPILED, UNCOMPILED_OPTIONAL
from smspec.proof.driver import compiling
from smspec.proof.reachable import OwnModule
from smspec.proof.sandbox import Sandbox
from smspec.rules.program.program_and_image import file_name, here
from smspec.source import Path, Span
from smspec.source.frozen import dataclass

_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxFault:
    """What the interpreter reports for a module."""

    module: OwnModule
    reason: str
    place: Span


def compile_modules(python: str, modules: Iterable[OwnModule], code: str, sandbox: Sandbox) -> list[SyntaxFault] | None:
    """Return the errors of the modules in a copy of the source, ``code``; None if the interpreter did not finish."""
    by_file = {os.path.join(code, module.path): module for module in modules}
    files, result = sandbox.path("modules.json"), sandbox.path("errors.json")
    with open(files, "w", encoding="utf-8") as file:
        json.dump(list(by_file), file)
    words = [python, "-I", "-S", compiling.__file__, files, result]
    sandbox.run(words, without_foreign_packages(os.environ), sandbox.directory, recorded=True)
    if not os.path.isfile(result):
        return None
    with open(result, encoding="utf-8") as file:
        errors = json.load(file)["errors"]
    return [
        SyntaxFault(module=module, reason=_reason(errors[path][0]), place=_place(module, errors[path]))
        for path, module in by_file.items()
        if path in errors
    ]


def syntax_findings(faults: Iterable[SyntaxFault], path: Path) -> Iterator[Finding]:
    """Yield the errors; a module that not every run imports is a risk."""
    for fault in faults:
        rule = UNCOMPILED if fault.module.is_certain else UNCOMPILED_OPTIONAL
        condition = "" if fault.module.is_certain else ", if the script imports it"
        yield rule.at(
            path,
            f"`{file_name(fault.place)}` line {fault.place.line}: {fault.reason}",
            help="fix the line, or use a base image with a newer Python",
            notes=here(f"Python rejects the module here{condition}", fault.place),
        )


def _reason(message: str) -> str:
    reason = message.partition(". Did you mean")[0].partition(". Perhaps")[0].partition(" (<")[0].rstrip(".?!")
    return reason[:_LONGEST] or "invalid syntax"


def _place(module: OwnModule, error: list[object]) -> Span:
    line, column = (max(value, 1) if isinstance(value, int) else 1 for value in error[1:3])
    return Span(module.written, line, column, line, column + 1)

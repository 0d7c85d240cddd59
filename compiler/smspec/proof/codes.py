"""The rules of a proof: what each of its parts reports."""

from __future__ import annotations

from smspec.diagnostics import Rule

UNCOMPILED = Rule("SM543", "module that the interpreter rejects")
FAILED_IMPORT = Rule("SM544", "failing import")
MISSING_LIBRARY = Rule("SM545", "missing shared library")
CRASHED_IMPORT = Rule("SM546", "crashing import")
SLOW_IMPORT = Rule("SM547", "import above the time limit", "warning")
REJECTED_ARGUMENTS = Rule("SM548", "rejected arguments")
FAILED_SCRIPT = Rule("SM549", "failure before the parser")
UNPROVEN = Rule("SM550", "unproven part of a job", "note")
UNCOMPILED_OPTIONAL = Rule("SM551", "rejected module behind a condition", "warning")
LIBRARY_OF_THIS_MACHINE = Rule("SM552", "shared library that only this machine has", "warning")

CODES = frozenset(
    rule.code
    for rule in (
        UNCOMPILED,
        FAILED_IMPORT,
        MISSING_LIBRARY,
        CRASHED_IMPORT,
        SLOW_IMPORT,
        REJECTED_ARGUMENTS,
        FAILED_SCRIPT,
        UNPROVEN,
        UNCOMPILED_OPTIONAL,
        LIBRARY_OF_THIS_MACHINE,
    )
)

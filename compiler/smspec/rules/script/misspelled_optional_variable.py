"""A misspelled variable with a default is never set, so the script always uses the default."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import distance
from smspec.rules.script.script_and_job import ScriptAndJob, read_at
from smspec.script.sagemaker_variables import is_set, near_variable

RULE = Rule("SM525", "misspelled optional variable", "warning")

_MOST_TYPOS = 2


def check(both: ScriptAndJob) -> Iterator[Finding]:
    """Warn about a variable with a default whose name differs from a known one by a typo."""
    seen: set[str] = set()
    for read in both.program.optional_variables:
        near = near_variable(read.written)
        if near is None or is_set(read.written) or read.written in both.environment.variables or read.written in seen:
            continue
        if distance(read.written, near, _MOST_TYPOS) > _MOST_TYPOS:
            continue
        seen.add(read.written)
        yield RULE.at(
            both.environment.program_path,
            f"`{both.name}` reads `{read.written}`, which SageMaker never sets, and uses its default",
            label=f"did you mean `{near}`?",
            help=f"read `{near}` in the script, or set `{read.written}` in `environment`",
            notes=read_at(read.place),
        )

"""The messages for authors: findings, their positions, and their output formats.

A check returns `Finding`s: a `Rule` with its public code, a path such as ``channels.train.input_mode``, and words. It
knows no lines. `placed` converts findings to `Diagnostic`s at lines of a text, and a format prints these as text, JSON,
SARIF, JUnit, or annotations of GitHub. An input that cannot be read at all raises `InvalidInput`, with diagnostics.

Two duties of all output are here, too: secrets in quoted text are masked, and characters that a terminal would
interpret are made visible. The pages of the codes are next to the rules, and `explanation` returns them.

The package must not know specs, requests, or rules: it imports `smspec.source` only, and a rule is a value to it.
"""

from smspec.diagnostics.diagnostic import Diagnostic, InvalidInput, placed
from smspec.diagnostics.finding import HERE, Evidence, Finding, Note, Rule, Severity

__all__ = ["HERE", "Diagnostic", "Evidence", "Finding", "InvalidInput", "Note", "Rule", "Severity", "placed"]

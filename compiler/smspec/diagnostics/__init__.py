"""The messages for authors: findings, their positions, and their output formats."""

from smspec.diagnostics.diagnostic import Diagnostic
from smspec.diagnostics.finding import HERE, Evidence, Finding, Rule
from smspec.diagnostics.locating import placed
from smspec.diagnostics.note import Note
from smspec.diagnostics.rejected import InvalidInput
from smspec.diagnostics.severity import Severity

__all__ = ["HERE", "Diagnostic", "Evidence", "Finding", "InvalidInput", "Note", "Rule", "Severity", "placed"]

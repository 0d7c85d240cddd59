"""The size limits of a JSON text: the same as for a job spec."""

from __future__ import annotations

from smspec.diagnostics import Rule

BEYOND_THE_LIMITS = Rule("SM152", "JSON beyond the limits")

MAX_BYTES = 1_048_576
MAX_DEPTH = 64
# One for every name and every scalar, two for every list or object.
MAX_PARTS = 20_000
MAX_DIGITS = 400
"""The most digits of one number; doubles have 309 before the point, and Python rejects thousands."""

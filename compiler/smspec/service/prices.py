"""Instance prices per hour, as far as they are known."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

Prices = Mapping[str, Fraction]
"""Instance type → US dollars per hour."""

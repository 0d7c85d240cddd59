"""What an hour on an instance costs, as far as somebody has said it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

Prices = Mapping[str, Fraction]
"""Instance type → US dollars for one hour."""

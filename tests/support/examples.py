"""Number of examples of a property test."""

from hypothesis import settings


def at_most(count: int) -> int:
    """Return ``count`` for `make explore`, and a quarter for the suite, which draws the same ones every time."""
    return max(count // 4, 25) if settings().derandomize else count

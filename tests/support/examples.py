"""Number of examples of a property test."""

from hypothesis import settings

from support.sampled_cases import IS_WHOLE

EXAMPLES = 50 if IS_WHOLE else 25


def at_most(count: int) -> int:
    """Return ``count`` for `make explore`; a quarter for `make test-all`, an eighth for `make test`.

    The last two draw the same ones every time.
    """
    return max(count // (4 if IS_WHOLE else 8), 25) if settings().derandomize else count

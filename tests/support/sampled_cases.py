"""Costly cases that resemble others: `make test` leaves them out, and names them; `make test-all` runs them."""

import os

import pytest

IS_WHOLE = bool(os.environ.get("SMSPEC_ALL_CASES"))
only_in_all = pytest.mark.skipif(not IS_WHOLE, reason="not in the sample: set SMSPEC_ALL_CASES=1")


def left_out(*values):
    """Return the values of a case that is not in the sample."""
    return pytest.param(*values, marks=only_in_all)

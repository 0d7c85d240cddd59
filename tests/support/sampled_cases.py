"""Costly cases that resemble others: `make test` leaves them out, and names them; `make test-all` runs them.

Those of containers also run in CI and `make test-containers`.
"""

import os

import pytest

IS_WHOLE = bool(os.environ.get("SMSPEC_ALL_CASES"))
only_in_all = pytest.mark.skipif(not IS_WHOLE, reason="not in the sample: set SMSPEC_ALL_CASES=1")
only_with_all_engines = pytest.mark.skipif(
    not os.environ.get("SMSPEC_ALL_ENGINES"), reason="not in the sample for containers: set SMSPEC_ALL_ENGINES=1"
)


def left_out(*values):
    """Return the values of a case that is not in the sample."""
    return pytest.param(*values, marks=only_in_all)

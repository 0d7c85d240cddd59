"""The kinds of changes, in the order in which they are found and reported. `COSMETIC` gets the remaining ones."""

from __future__ import annotations

from smspec.review.kinds.kind import Kind
from smspec.review.kinds.members import COST, DATA, ENVIRONMENT, HOSTS, HYPERPARAMETERS, OTHER, OUTPUT
from smspec.review.kinds.same_job import COSMETIC, JOB, RESTART, RESUME
from smspec.review.kinds.security import SECURITY
from smspec.review.kinds.software import CODE, IMAGE

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        *(IMAGE, CODE, DATA, HYPERPARAMETERS, ENVIRONMENT, RESTART, RESUME),
        *(SECURITY, HOSTS, OUTPUT, OTHER, COST, JOB, COSMETIC),
    )
}
"""Name → kind. The names are public: `--fail-on` accepts them, and the JSON output contains them."""

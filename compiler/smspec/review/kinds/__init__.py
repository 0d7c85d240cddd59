"""The kinds of changes, in the order in which they are found and reported. `cosmetic` gets the remaining ones."""

from __future__ import annotations

from smspec.review.kinds import (
    code,
    cosmetic,
    cost,
    data,
    environment,
    hosts,
    hyperparameters,
    image,
    job,
    other,
    output,
    restart,
    resume,
    security,
)
from smspec.review.kinds.kind import Kind

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        image.KIND,
        code.KIND,
        data.KIND,
        hyperparameters.KIND,
        environment.KIND,
        restart.KIND,
        resume.KIND,
        security.KIND,
        hosts.KIND,
        output.KIND,
        other.KIND,
        cost.KIND,
        job.KIND,
        cosmetic.KIND,
    )
}
"""Name → kind. The names are public: `--fail-on` accepts them, and the JSON output contains them."""

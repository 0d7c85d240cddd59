"""`environment`: the variables of the job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.adoption.remainder import Remainder


def keys(rest: Remainder) -> Iterator[tuple[str, object]]:
    """Take the variables if all of them are texts."""
    environment = rest.text_map("Environment")
    if environment is not None:
        yield "environment", environment

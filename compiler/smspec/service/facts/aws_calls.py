"""The IAM actions that calls of the AWS SDK need, and the resources that they are about.

A row of aws_calls.csv is one method of a kind of object, such as ``s3`` for a client or ``s3.Bucket``; a method may
have several rows. ``resource`` is the end of an ARN, with the parameters of the call in braces. A row with ``when``
is about calls with one of these arguments; ``mode:write``: with a mode in which a file is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from smspec.service.facts.table import table
from smspec.source.frozen import dataclass

_NAME = "aws_calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededActions:
    """``actions`` on ``resource``; ``parameters`` are the names of arguments that are passed by position."""

    actions: tuple[str, ...]
    resource: str
    parameters: tuple[str, ...]
    when: tuple[str, ...] = ()


def needed_actions(owner: str, method: str) -> tuple[NeededActions, ...]:
    """Return what a call needs; empty if the table does not have it."""
    return _rows().get((owner, method), ())


@cache
def _rows() -> Mapping[tuple[str, str], tuple[NeededActions, ...]]:
    found: dict[tuple[str, str], tuple[NeededActions, ...]] = {}
    for row in table(_NAME).rows():
        needed = NeededActions(
            actions=tuple(row["actions"].split()),
            resource=row["resource"],
            parameters=tuple(row["parameters"].split()),
            when=tuple(row["when"].split()),
        )
        key = (row["owner"], row["method"])
        found[key] = (*found.get(key, ()), needed)
    return found

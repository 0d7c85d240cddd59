"""Costly cases that resemble others: `make test` leaves them out and counts them; `make test-all` runs them.

A case is left out by name (`left_out`, `only_in_all`), or by its number in its test (`sampled`), never by chance: the
same tree has the same sample everywhere. Whoever names a file on the command line has all cases of it.
Those of containers also run in CI and `make test-containers`.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable

import pytest

ONE_OF = {
    **{f"tests/compiler/{name}/": 4 for name in ("collection", "local", "lock", "organization", "proof", "publishing")},
    **{f"tests/compiler/{name}/": 4 for name in ("rehearsal", "submission", "workspace")},
    **{f"tests/{name}/": 4 for name in ("differential", "rehearsal", "runtime")},
    **{f"tests/{name}/": 5 for name in ("compiler/cli", "conformance")},
}
"""Where tests are costly: the sample has one of so many cases of each of them."""
FEWEST = 4
"""A test with fewer cases has all of them in the sample."""
MOST_KINDS = 4
"""Of a parameter with at most so many values (engines, users, kinds), the sample has each."""
IS_WHOLE = bool(os.environ.get("SMSPEC_ALL_CASES"))
only_in_all = pytest.mark.left_out
only_with_all_engines = pytest.mark.skipif(
    not os.environ.get("SMSPEC_ALL_ENGINES"), reason="not in the sample for containers: set SMSPEC_ALL_ENGINES=1"
)


def left_out(*values: object):
    """Return the values of a case that is not in the sample."""
    return pytest.param(*values, marks=only_in_all)


def sampled(one_of: int):
    """Mark a test whose sample has one of so many cases; 1 is all of them. It goes before `ONE_OF`."""
    return pytest.mark.sampled(one_of)


def split(items: Iterable[pytest.Item], arguments: Iterable[str] = ()) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests in the sample, and those that it leaves out; ``arguments``: words that may name a file."""
    named = {os.path.abspath(word.partition("::")[0]) for word in arguments if ".py" in word}
    kept: list[pytest.Item] = []
    rest: list[pytest.Item] = []
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if str(item.path) in named:
            kept.append(item)
        elif item.get_closest_marker("left_out"):
            rest.append(item)
        elif _one_of(item) == 1 or not hasattr(item, "callspec") or _has_all_engines(item):
            kept.append(item)
        else:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in cases.values():
        chosen = {id(item) for item in _sample(each)}
        rest += [item for item in each if id(item) not in chosen]
        kept += [item for item in each if id(item) in chosen]
    order = {id(item): number for number, item in enumerate(items)}
    return sorted(kept, key=lambda item: order[id(item)]), rest


def _has_all_engines(item: pytest.Item) -> bool:
    return bool(os.environ.get("SMSPEC_ALL_ENGINES")) and item.get_closest_marker("docker") is not None


def _one_of(item: pytest.Item) -> int:
    if mark := item.get_closest_marker("sampled"):
        return mark.args[0]
    return max((number for place, number in ONE_OF.items() if item.nodeid.startswith(place)), default=1)


def _sample(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases of one test that are in the sample: by their names, so that a new case changes no other."""
    if len(cases) < FEWEST:
        return cases
    found = [item for item in cases if zlib.crc32(item.nodeid.encode()) % _one_of(item) == 0] or cases[:1]
    for name in cases[0].callspec.params:
        kinds: list[object] = []
        firsts = [item for item in [*found, *cases] if _is_new(item.callspec.params[name], kinds)]
        if len(kinds) <= MOST_KINDS:
            found += [item for item in firsts if item not in found]
    return found


def _is_new(value: object, kinds: list[object]) -> bool:
    """Whether a value is another kind; what has more of them than the sample takes is not looked at to its end."""
    if len(kinds) > MOST_KINDS or value in kinds:
        return False
    kinds.append(value)
    return True

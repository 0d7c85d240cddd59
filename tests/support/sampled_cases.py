"""Costly cases that resemble others: `make test` leaves them out and counts them; `make test-all` runs them.

A case is left out by hand (`left_out`, `only_in_all`), or by its name (`ONE_OF`, `PROGRAMS`, `sampled`), never by
chance: the same tree has the same sample everywhere. A file named on the command line has all its cases.
CI also has those of containers and of other programs, `make test-containers` those of containers.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Iterable

import pytest

ONE_OF = {
    **{f"tests/compiler/{name}/": 8 for name in ("collection", "local", "lock", "organization", "proof", "publishing")},
    **{f"tests/compiler/{name}/": 8 for name in ("rehearsal", "submission", "workspace")},
    **{f"tests/{name}/": 8 for name in ("differential", "rehearsal", "runtime")},
    **{f"tests/{name}": 12 for name in ("compiler/cli/", "compiler/render/test_state_machine.py", "conformance/")},
}
"""Where tests are costly: the sample has one of so many cases of each of them."""
PROGRAMS = {
    **{f"tests/conformance/test_{name}.py": 5 for name in ("github_action", "gitlab_snippet", "pre_commit")},
    **{f"tests/conformance/test_{name}": 5 for name in ("docker", "local_run_containers", "local_run_fed", "pushed")},
    **{f"tests/conformance/test_{name}": 3 for name in ("check", "confined", "git_checkouts", "hostile", "local_run")},
    **{f"tests/conformance/test_{name}": 3 for name in ("output_of_strangers", "pipes", "ways_out")},
    **{f"tests/compiler/cli/test_{name}": 3 for name in ("chosen_job", "collect", "job_commands", "named_job")},
    **{f"tests/compiler/cli/test_{name}": 3 for name in ("preflight", "source_in_s3", "submi", "upload_data")},
    "tests/rehearsal/": 4,
    "tests/compiler/render/test_state_machine.py": 4,
}
"""Where each test starts programs or asks servers for seconds: of a file, the sample has one of so many tests that have
no cases, and of all cases that need an engine. CI has all of them."""
FEWEST = 3
"""A test with fewer cases has all of them in the sample."""
MOST_KINDS = 2
"""Of a parameter with at most so many values (engines, users, kinds), the sample has each."""
IS_WHOLE = bool(os.environ.get("SMSPEC_ALL_CASES"))
HAS_ENGINES = bool(os.environ.get("SMSPEC_ALL_ENGINES"))
HAS_PROGRAMS = bool(os.environ.get("SMSPEC_ALL_PROGRAMS"))
LEFT_OUT = pytest.StashKey[list[pytest.Item]]()
"""The cases that are not in the sample of this run."""
only_in_all = pytest.mark.left_out
only_with_all_engines = pytest.mark.skipif(
    not HAS_ENGINES, reason="not in the sample for containers: set SMSPEC_ALL_ENGINES=1"
)

only_with_all_programs = pytest.mark.skipif(
    not HAS_PROGRAMS, reason="not in the sample for programs: set SMSPEC_ALL_PROGRAMS=1"
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
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(_group(item), []).append(item)
    chosen = {id(item) for group in groups.values() for item in _sample(group)}
    for item in items:
        is_kept = id(item) in chosen and not item.get_closest_marker("left_out")
        (kept if is_kept or str(item.path) in named else rest).append(item)
    return kept, rest


def _group(item: pytest.Item) -> str:
    """Return what an item is a case of: its test, or its file, where that starts programs."""
    return str(item.path) if _is_of_file(item) else item.nodeid.partition("[")[0]


def _is_of_file(item: pytest.Item) -> bool:
    """Whether the sample draws an item from its file: also each case that needs an engine, unless all of them run."""
    in_engine = bool(item.get_closest_marker("docker")) and not HAS_ENGINES and not item.get_closest_marker("sampled")
    return bool(_of_programs(item)) and (in_engine or not hasattr(item, "callspec"))


def _of_programs(item: pytest.Item) -> int:
    return _number(item.nodeid.partition("::")[0], is_programs=True)


def _one_of(item: pytest.Item) -> int:
    if mark := item.get_closest_marker("sampled"):
        return mark.args[0]
    return _number(item.nodeid.partition("::")[0], is_programs=False) or 1


@functools.cache
def _number(file: str, *, is_programs: bool) -> int:
    table = PROGRAMS if is_programs else ONE_OF
    return max((number for place, number in table.items() if file.startswith(place)), default=0)


def _sample(group: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases that are in the sample: by their names, so that a new case changes no other."""
    cases = [item for item in group if not item.get_closest_marker("left_out")]
    if cases and (_is_of_file(cases[0]) or not hasattr(cases[0], "callspec")):
        return cases if HAS_PROGRAMS else _drawn(cases, _of_programs(cases[0]) or 1)
    if len(cases) < FEWEST or _one_of(cases[0]) == 1 or (HAS_ENGINES and cases[0].get_closest_marker("docker")):
        return cases
    found = _drawn(cases, _one_of(cases[0]))
    for name in cases[0].callspec.params:
        kinds: list[object] = []
        firsts = [item for item in [*found, *cases] if _is_new(item.callspec.params[name], kinds)]
        if len(kinds) <= MOST_KINDS:
            found += [item for item in firsts if item not in found]
    return found


def _drawn(cases: list[pytest.Item], one_of: int) -> list[pytest.Item]:
    return [item for item in cases if zlib.crc32(item.nodeid.encode()) % one_of == 0] or cases[:1]


def _is_new(value: object, kinds: list[object]) -> bool:
    """Whether a value is another kind; what has more of them than the sample takes is not looked at to its end."""
    if len(kinds) > MOST_KINDS or value in kinds:
        return False
    kinds.append(value)
    return True

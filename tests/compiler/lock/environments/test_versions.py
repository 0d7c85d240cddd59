"""Versions and conditions, compared with the reference implementation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from smspec.lock.environments.versions import fits, version

_numbers = st.integers(0, 12)
_releases = st.lists(_numbers, min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
_versions = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "1!"]),
        _releases,
        st.sampled_from(["", "", "", "a1", "b2", "rc1", ".alpha.3", "-pre"]),
        st.sampled_from(["", "", "", ".post1", "-2"]),
        st.sampled_from(["", "", "", ".dev3"]),
    ),
)
_conditions = st.builds("".join, st.tuples(st.sampled_from(["==", "!=", "<=", ">=", "<", ">"]), _versions)) | st.builds(
    "".join, st.tuples(st.sampled_from(["==", "!="]), _releases, st.just(".*"))
)


@given(_versions, _versions)
def test_versions_are_ordered_as_by_packaging(one: str, other: str) -> None:
    ours, theirs = (version(one), version(other)), (Version(one), Version(other))
    assert ours[0] is not None
    assert ours[1] is not None
    assert (ours[0].key < ours[1].key, ours[0].key == ours[1].key) == (theirs[0] < theirs[1], theirs[0] == theirs[1])


@given(_versions, st.lists(_conditions, min_size=1, max_size=2).map(",".join))
def test_conditions_are_met_as_by_packaging(candidate: str, conditions: str) -> None:
    ours = version(candidate)
    assert ours is not None
    assert fits(ours, conditions) == SpecifierSet(conditions).contains(candidate, prereleases=True)


@given(_versions, st.tuples(_numbers, _numbers).map(lambda parts: f"~={parts[0]}.{parts[1]}"))
def test_compatible_release_is_as_by_packaging(candidate: str, condition: str) -> None:
    ours = version(candidate)
    assert ours is not None
    assert fits(ours, condition) == SpecifierSet(condition).contains(candidate, prereleases=True)


def test_local_version_fits_the_public_one() -> None:
    local = version("2.5.1+cpu")
    assert local is not None
    assert fits(local, "==2.5.1")
    assert not fits(local, "==2.5.1+cu124")
    assert version("latest") is None

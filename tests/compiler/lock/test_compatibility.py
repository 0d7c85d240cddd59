"""Versions, conditions, and tags of wheels, compared with the reference implementation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from packaging import tags
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from smspec.lock.compatibility import fits, platforms, rank, version, wheel_name
from smspec.service.bare_image import BareImage

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


_IMAGES = st.builds(
    BareImage,
    python=st.tuples(st.just(3), st.integers(8, 13), st.just(4)),
    libc=st.sampled_from([("manylinux", 17), ("manylinux", 31), ("manylinux", 36), ("musllinux", 2)]),
    processor=st.sampled_from(["x86_64", "aarch64"]),
)
_PYTHONS = st.sampled_from(["py3", "py2", "py38", "py311", "cp38", "cp39", "cp311", "cp312", "cp3", "pp39"])
_ABIS = st.sampled_from(["none", "abi3", "cp38", "cp39", "cp311", "cp312", "cp313t"])
_PLATFORMS = st.sampled_from(
    [
        "any",
        "linux_x86_64",
        "manylinux1_x86_64",
        "manylinux2014_x86_64",
        "manylinux_2_28_x86_64",
        "manylinux_2_34_aarch64",
        "manylinux2014_aarch64",
        "musllinux_1_1_x86_64",
        "macosx_11_0_arm64",
        "win_amd64",
    ]
)
_NAMES = st.tuples(
    *(st.lists(each, min_size=1, max_size=2, unique=True) for each in (_PYTHONS, _ABIS, _PLATFORMS))
).map(lambda parts: "pkg-1.0-" + "-".join(".".join(part) for part in parts) + ".whl")


def supported(image: BareImage) -> list[tags.Tag]:
    """Return the tags of an image as pip orders them."""
    version, names = image.python[:2], platforms(image)
    interpreter = f"cp{version[0]}{version[1]}"
    return [
        *tags.cpython_tags(version, [interpreter], names),
        *tags.compatible_tags(version, interpreter, names),
    ]


@given(_IMAGES, _NAMES, _NAMES)
def test_preferred_wheel_is_that_of_packaging(image: BareImage, one: str, other: str) -> None:
    order = supported(image)
    ours, theirs = [], []
    for name in (one, other):
        parsed = wheel_name(name)
        assert parsed is not None
        ours.append(rank(parsed, image))
        all_tags = tags.parse_tag("-".join(name.removesuffix(".whl").split("-")[2:]))
        theirs.append(min((order.index(tag) for tag in all_tags if tag in order), default=None))
    assert [rank is None for rank in ours] == [position is None for position in theirs]
    if None not in theirs:
        assert (ours[0] < ours[1]) == (theirs[0] < theirs[1])  # type: ignore[operator]  # neither is None


def test_other_files_are_no_wheels() -> None:
    assert wheel_name("pkg-1.0.tar.gz") is None
    assert wheel_name("pkg-1.0-py3-any.whl") is None


def test_newer_build_is_preferred() -> None:
    image = BareImage(python=(3, 11, 4), libc=("manylinux", 36), processor="x86_64")
    first, second = (wheel_name(f"pkg-1.0{build}-py3-none-any.whl") for build in ("", "-2"))
    assert first is not None
    assert second is not None
    assert rank(second, image) < rank(first, image)  # type: ignore[operator]  # both fit

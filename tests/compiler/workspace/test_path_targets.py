"""Real paths are those of the standard library, however often and in whatever order they are asked for."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.workspace.path_targets import RealPaths

STEPS = st.lists(st.sampled_from(("a", "b", "file", "link", "loop", "out", "dangling", "missing", "..", ".", "")))
PATHS = st.builds(lambda start, steps: start + "/".join(steps), st.sampled_from(("", "/", "//")), STEPS)


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    """A directory with links up, down, out, to nothing, and to themselves."""
    top = tmp_path_factory.mktemp("real")
    (top / "a/b/a").mkdir(parents=True)
    (top / "a/file").touch()
    (top / "b").mkdir()
    for path, target in {
        "link": "a/b",
        "a/b/link": "../..",
        "a/loop": "loop",
        "b/out": "/",
        "b/dangling": "../missing/a",
    }.items():
        (top / path).symlink_to(target)
    before = os.getcwd()
    os.chdir(top)
    yield top
    os.chdir(before)


@settings(max_examples=300)
@given(st.lists(PATHS, min_size=1, max_size=12))
def test_real_paths_are_those_of_the_library(top, paths):
    real_paths = RealPaths()
    for path in [*paths, *(f"{top}/{path}" for path in paths)]:
        assert real_paths.of(path) == os.path.realpath(path)


def test_name_that_no_file_can_have_is_not_a_link(top):
    assert RealPaths().of("a/b\0/..") == str(top / "a")

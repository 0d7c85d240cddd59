"""A relative path names the same file from every layer."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.spec.layers.short_forms import relocated

steps = st.sampled_from(["a", "b", "c"])
directories = st.lists(steps, max_size=3).map("/".join)
paths = st.lists(steps | st.just(".."), min_size=1, max_size=4).map("/".join)


@pytest.mark.parametrize(
    ("path", "origin", "home", "moved"),
    [
        ("src/", "org", "specs/a", "../../org/src/"),
        ("src", "specs/a", "specs/a", "src"),
        ("./src", "specs/a", "specs/a/", "./src"),
        ("../src", "org", "", "src"),
        ("src", "", "specs", "../src"),
        ("src", "../org", "../specs/a", "../../org/src"),
        ("..", "a/b", "a", "."),
        ("/data", "org", "specs", "/data"),
        ("s3://b/k", "org", "specs", "s3://b/k"),
        ("src", "/abs/org", "specs", "/abs/org/src"),
    ],
)
def test_paths_are_relocated(path, origin, home, moved):
    assert relocated(path, origin, home) == moved


@given(paths, directories, directories)
def test_relocated_path_is_the_same_file(path, origin, home):
    root = "/r1/r2/r3/r4"
    moved = relocated(path, f"{root}/{origin}", f"{root}/{home}")
    assert posixpath.normpath(f"{root}/{home}/{moved}") == posixpath.normpath(f"{root}/{origin}/{path}")

"""Short forms are expanded, a relative path names the same file from every layer, and everything else is unchanged."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.source import SourceText, to_data
from smspec.spec.layers.short_forms import expanded, relocated
from smspec.spec.yaml import read
from support.spec.trees import json_values, tree

KEYS = ("source", "entry_point", "channels", "distribution", "output", "checkpoints", "image", "overlays")


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("source: src/", {"source": {"dir": "src/"}}),
        ("entry_point: train.py", {"entry_point": {"script": "train.py"}}),
        (
            "channels: {train: s3://a/b, val: {s3: s3://c}}",
            {"channels": {"train": {"s3": "s3://a/b"}, "val": {"s3": "s3://c"}}},
        ),
        ("distribution: torchrun", {"distribution": {"torchrun": {}}}),
        ("distribution: mpi", {"distribution": {"mpi": {}}}),
        ("output: s3://a", {"output": {"s3": "s3://a"}}),
        ("checkpoints: s3://a", {"checkpoints": {"s3": "s3://a"}}),
        ("image: python:3.12", {"image": "python:3.12"}),
        ("tensorboard: s3://a", {"tensorboard": "s3://a"}),
        ("output: ${{ vars.x }}", {"output": {"s3": "${{ vars.x }}"}}),
        ("distribution: ${{ vars.x }}", {"distribution": "${{ vars.x }}"}),
        ("output: 5", {"output": 5}),
        ("source: [src]", {"source": ["src"]}),
        ("channels: s3://a", {"channels": "s3://a"}),
    ],
)
def test_every_short_form_is_expanded(short, long):
    assert to_data(expanded(read(SourceText("job.yaml", short)).root)) == long


@given(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4))
def test_expansion_is_idempotent(spec):
    once = expanded(tree(spec))
    assert expanded(once) is once


def test_expanded_value_keeps_its_position():
    root = expanded(read(SourceText("job.yaml", "a: 1\noutput: s3://b\n")).root)
    output = root.get("output")
    assert {output.span, output.entries[0][0].span, output.get("s3").span} == {output.span}
    assert (output.span.line, output.span.column) == (2, 9)


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

"""A fix is certain only if a single name can be meant."""

import pytest

from smspec.diagnostics.suggestions import Fix, spelling_fix


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("retires", ["retries", "role"], "retries"),
        ("FASTFILE", ["File", "FastFile"], "FastFile"),
        ("instance-type", ["instance_type"], "instance_type"),
        ("pipe", ["Pipe", "Pipes"], "Pipe"),
    ],
)
def test_one_name_is_meant(word, known, meant):
    assert spelling_fix(word, known) == Fix(word, meant)


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("trains", ["train", "trains2", "strain"]),
        ("val", ["vol"]),
        ("4xlarge", ["8xlarge"]),
        ("abcdxy", ["abcdef"]),
        ("remote", ["remote_debug"]),
        ("a-b", ["a_b", "ab"]),
        ("same", ["same"]),
        ("", []),
    ],
)
def test_nothing_is_certain(word, known):
    assert spelling_fix(word, known) is None

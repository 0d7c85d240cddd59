"""A typo suggests the intended name, or nothing; a fix is certain only if a single name can be meant."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.suggestions import Fix, nearest, spelling_fix


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("instance_typ", ["instance_count", "instance_type"], "instance_type"),
        ("ml.p4d.24xlrage", ["ml.p4de.24xlarge", "ml.p4d.24xlarge"], "ml.p4d.24xlarge"),
        ("pipe", ["File", "FastFile", "Pipe"], "Pipe"),
        ("InputMode", ["input_mode"], "input_mode"),
        ("chekcpoints", ["checkpoints"], "checkpoints"),
        ("foo", ["bar", "source"], None),
        ("", ["a"], None),
        ("x", ["y"], None),
        ("aab", ["aac", "aad"], "aac"),
        ("RemoteDebug", ["RetryStrategy", "RemoteDebugConfig"], "RemoteDebugConfig"),
        ("Enable", ["EnableNetworkIsolation", "EnableManagedSpotTraining"], None),
        ("Remo", ["RemoteDebugConfig"], None),
    ],
)
def test_nearest_name_is_offered(word, known, expected):
    assert nearest(word, known) == expected


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8), st.data())
def test_known_name_is_its_own_suggestion(known, data):
    name = data.draw(st.sampled_from(known))
    found = nearest(name, [name, *known])
    assert found == name


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

"""A typo suggests the intended name, and nothing if no name is near."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.suggestions import nearest


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

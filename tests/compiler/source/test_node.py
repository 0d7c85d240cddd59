"""Trees with one part replaced, added, or removed."""

import pytest

from smspec.source import SourceText, pruned, to_data
from smspec.spec.yaml import read


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (("list", 1), {"list": [{"a": 1, "b": 2}, 4], "other": 5}),
        (("list", 0, "a"), {"list": [{"b": 2}, 3, 4], "other": 5}),
        (("other",), {"list": [{"a": 1, "b": 2}, 3, 4]}),
        (("list", 3), {"list": [{"a": 1, "b": 2}, 3, 4], "other": 5}),
        (("other", "a"), {"list": [{"a": 1, "b": 2}, 3, 4], "other": 5}),
    ],
    ids=["item", "in an item", "key", "no item", "below a scalar"],
)
def test_part_is_removed(path, left):
    root = read(SourceText(name="job.yaml", text="{list: [{a: 1, b: 2}, 3, 4], other: 5}")).root
    assert to_data(pruned(root, path)) == left

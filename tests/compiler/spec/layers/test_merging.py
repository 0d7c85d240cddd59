"""Merging follows RFC 7396 on trees with positions."""

from dataclasses import replace

import pytest
from hypothesis import given

from smspec.source import Mapping, Span, to_data
from smspec.spec.layers.merging import combine_patches, merge_patch
from support.spec.trees import json_objects, json_values, tree


def rfc_7396(target, patch):
    """The pseudocode of RFC 7396, section 2."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = rfc_7396(target.get(name), value)
    return target


@pytest.mark.parametrize(
    ("original", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_rfc_7396_examples_hold(original, patch, result):
    assert to_data(merge_patch(tree(original), tree(patch))) == result


@given(json_values, json_values)
def test_trees_merge_like_json(target, patch):
    assert to_data(merge_patch(tree(target), tree(patch))) == rfc_7396(target, patch)


@given(json_objects)
def test_layer_on_an_empty_spec_loses_only_its_nulls(layer):
    assert to_data(merge_patch(None, tree(layer))) == rfc_7396({}, layer)


@given(json_objects, json_objects)
def test_merging_a_layer_two_times_changes_nothing(target, patch):
    once = merge_patch(tree(target), tree(patch))
    assert merge_patch(once, tree(patch)) == once


def replaces(first, second):
    """Return whether a patch sets or removes a value and then merges into it, which no single patch can."""
    return any(
        isinstance(value, dict)
        and name in first
        and (not isinstance(first[name], dict) or replaces(first[name], value))
        for name, value in second.items()
    )


@given(json_objects, json_objects, json_objects)
def test_combined_patches_equal_both_patches(target, first, second):
    if not replaces(first, second):
        combined = combine_patches(tree(first), tree(second))
        assert to_data(merge_patch(tree(target), combined)) == rfc_7396(rfc_7396(target, first), second)


def test_combined_patches_still_remove_keys():
    combined = combine_patches(tree({"a": 1, "b": {"c": 1}}), tree({"a": None, "b": {"d": None}}))
    assert to_data(combined) == {"a": None, "b": {"c": 1, "d": None}}


def test_parts_keep_the_position_of_their_last_writer():
    def written_in(file, data):
        node = tree(data)
        return _moved(node, Span(file, 1, 1, 1, 2))

    merged = merge_patch(
        written_in("base", {"a": {"x": 1, "y": 2}, "b": 3}), written_in("own", {"a": {"y": 4, "z": 5}})
    )
    places = {key.text: (key.span.file, value.span.file) for key, value in merged.entries}
    inner = {key.text: (key.span.file, value.span.file) for key, value in merged.get("a").entries}
    assert places == {"a": ("own", "own"), "b": ("base", "base")}
    assert inner == {"x": ("base", "base"), "y": ("own", "own"), "z": ("own", "own")}


def _moved(node, span):
    if isinstance(node, Mapping):
        entries = tuple((replace(key, span=span), _moved(value, span)) for key, value in node.entries)
        return replace(node, entries=entries, span=span)
    return replace(node, span=span)

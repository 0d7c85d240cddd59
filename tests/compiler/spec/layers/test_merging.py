"""Merging follows RFC 7396 on trees with positions; a null is idle exactly if the merged spec is equal without it."""

import copy
from dataclasses import replace

import pytest
from hypothesis import given, settings

from smspec.source import Mapping, SourceText, Span, to_data
from smspec.spec.layers import Assembly
from smspec.spec.layers.merging import combine_patches, layered, merge_patch, nulls_of
from smspec.spec.yaml import read
from support.examples import at_most
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


def nulls(value, path=()):
    """Yield the path of every null below mappings."""
    for key, inner in value.items():
        if inner is None:
            yield (*path, key)
        elif isinstance(inner, dict):
            yield from nulls(inner, (*path, key))


def without(value, path):
    changed = copy.deepcopy(value)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    del holder[path[-1]]
    return changed


@settings(max_examples=at_most(600))
@given(json_objects, json_objects)
def test_null_without_effect_is_idle(below, above):
    spec = layered(None, tree(below))
    merged = to_data(layered(spec, tree(above)))
    found = (null for null in nulls_of(spec, tree(above)) if null.is_idle)
    idle = {null.path for null in found if not any(isinstance(step, int) for step in null.path)}
    for path in nulls(above):
        assert (path in idle) == (to_data(layered(spec, tree(without(above, path)))) == merged)


def idle(*texts, overlay=None):
    layers = [read(SourceText(f"{number}.yaml", f"smspec: v1\n{text}")) for number, text in enumerate(texts)]
    nulls = Assembly(layers).merged(overlay).document.nulls
    return [(".".join(map(str, null.path)), null.place.file) for null in nulls if null.is_idle]


def test_nulls_of_every_layer_are_checked():
    assert idle("spot: {max_wait: 1h}\n", "name: a\nspot: null\n") == []
    assert idle("spot:\n", "name: a\nspot: {max_wait: 1h}\n") == [("spot", "0.yaml")]
    assert idle("name: a\nspot: {max_wait: 1h}\noverlays: {dev: {spot: null}}\n", overlay="dev") == []
    assert idle("name: a\noverlays: {dev: {spot: null}}\n", overlay="dev") == [("spot", "0.yaml")]
    assert idle("name: a\noverlays: {dev: {spot: null}}\n") == []
    assert idle("overlays: {dev: {}}\n", "name: a\noverlays: {dev: null, test: null}\n") == [
        ("overlays.test", "1.yaml")
    ]
    assert idle("name: a\nextends:\noverlays:\nvars:\n") == [
        ("extends", "0.yaml"), ("overlays", "0.yaml"), ("vars", "0.yaml")
    ]  # fmt: skip


def test_null_that_changes_the_entry_point_kind_is_used():
    assert idle("entry_point: {script: a.py}\n", "name: a\nentry_point: {command: [b], script: null}\n") == []


def test_nulls_in_lists_are_idle_except_in_json():
    assert idle("name: a\nmetrics: [{name: x, regex: }]\n") == [("metrics.0.regex", "0.yaml")]
    assert idle("name: a\nhyperparameters: {a: [null, {b: null}]}\napi: {Tags: [{Key: null}]}\n") == []

"""A null is idle exactly if the merged spec is equal without it."""

import copy

from hypothesis import given, settings

from smspec.source import SourceText, to_data
from smspec.spec.layers.assembly import Assembly
from smspec.spec.layers.merging import idle_nulls, layered
from smspec.spec.yaml.yaml_reader import read
from support.examples import at_most
from support.spec.trees import json_objects, tree


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
    idle = {path for path, _ in idle_nulls(spec, tree(above)) if not any(isinstance(step, int) for step in path)}
    for path in nulls(above):
        assert (path in idle) == (to_data(layered(spec, tree(without(above, path)))) == merged)


def idle(*texts, overlay=None):
    layers = [read(SourceText(f"{number}.yaml", f"smspec: v1\n{text}")) for number, text in enumerate(texts)]
    return [(".".join(map(str, path)), place.file) for path, place in Assembly(layers).merged(overlay).document.idle]


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

"""Schema, decoder and model have the same keys, the same choices and the same defaults."""

import dataclasses
import re
import runpy
import typing
from pathlib import Path

import pytest

from smspec.service.shapes import pinned_model
from smspec.spec import decoding, model
from smspec.spec.schema.keys import choices, keys_in, spec_keys, strict
from smspec.spec.shape.view import viewed
from smspec_runtime import launchers as runtime_launchers
from support.spec.job_documents import document_of

ROOT = Path(__file__).parents[4]
KINDS = [
    (decoding.IMAGE, model.BuiltImage, ("image",)),
    (decoding.SOURCE, model.Source, ("source",)),
    (decoding.FILE_SYSTEM, model.FileSystem, ("channels", "*", "file_system")),
    (decoding.GROUP, model.InstanceGroup, ("hosts", "groups", "*")),
    (decoding.HOSTS, model.Hosts, ("hosts",)),
    *((decoding.LAUNCHERS.get(name), kind, ("distribution", name)) for name, kind in model.DISTRIBUTIONS.items()),
    (decoding.STOPPING, model.Stopping, ("stopping",)),
    (decoding.SPOT, model.Spot, ("spot",)),
    (decoding.OUTPUT, model.Output, ("output",)),
    (decoding.CHECKPOINTS, model.Checkpoints, ("checkpoints",)),
    (decoding.NETWORK, model.Network, ("network",)),
    (decoding.METRIC, model.Metric, ("metrics", "*")),
    (decoding.IGNORED_CHECK, model.IgnoredCheck, ("checks", "ignore", "*")),
]
ENTRIES = [
    (decoding.SCRIPT, model.ScriptEntry),
    (decoding.COMMAND, model.CommandEntry),
    (decoding.MODULE, model.ModuleEntry),
    (decoding.PIPE_LOOP, model.PipeLoopEntry),
]
EVERY = [
    *KINDS,
    *((table, kind, ("entry_point",)) for table, kind in ENTRIES),
    (decoding.CHANNEL, model.Channel, ("channels", "*")),
    (decoding.JOB, model.JobSpec, ()),
]


def fields(kind):
    return {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize(("table", "kind", "key"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_keys_fields_and_decoders_are_the_same(table, kind, key):
    assert set(keys_in(key)) == set(table) == fields(kind)


def test_keys_of_entry_points():
    for table, kind in ENTRIES:
        assert set(table) == fields(kind)
    assert set(keys_in(("entry_point",))) == {key for table, _ in ENTRIES for key in table}
    assert list(decoding.ENTRY_POINTS) == [next(iter(table)) for table, _ in ENTRIES]


def test_keys_of_channels_and_of_the_job():
    assert set(keys_in(("channels", "*"))) == set(decoding.CHANNEL) == fields(model.Channel) - {"name"}
    assert set(keys_in(())) - {"extends", "vars", "overlays"} == set(decoding.JOB)
    assert set(decoding.JOB) - {"smspec", "checks"} == fields(model.JobSpec) - {"ignored_checks"}
    assert set(keys_in(("checks",))) == set(decoding.CHECKS)


def test_every_launcher_is_in_the_model_the_schema_the_decoder_and_the_runtime():
    kinds = set(typing.get_args(model.Distribution))
    assert set(model.DISTRIBUTIONS.values()) == kinds, "`Distribution` and `DISTRIBUTIONS`, spec/model.py"
    names = set(model.DISTRIBUTIONS)
    assert set(keys_in(("distribution",))) == names, "`distribution` in job.v1.schema.json"
    assert set(decoding.LAUNCHERS) == names, "`LAUNCHERS`, spec/decoding.py"
    assert names <= set(runtime_launchers.LAUNCHERS), "`LAUNCHERS`, smspec_runtime/launchers/__init__.py"


ONLY_UNDER_API = {"Converse"}
"""For serverless jobs, of which the spec has no keys."""


@pytest.mark.parametrize(
    ("literal", "shape"),
    [
        (model.InputMode, "TrainingInputMode"),
        (model.S3DataType, "S3DataType"),
        (model.S3DataDistribution, "S3DataDistribution"),
        (model.Compression, "CompressionType"),
        (model.RecordWrapper, "RecordWrapper"),
        (model.OutputCompression, "OutputCompressionType"),
        (model.FileSystemType, "FileSystemType"),
        (model.FileSystemAccess, "FileSystemAccessMode"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_words_are_those_of_the_api(literal, shape):
    assert set(typing.get_args(literal)) == set(pinned_model().shapes[shape].enum) - ONLY_UNDER_API


def test_every_launcher_has_a_short_form():
    pattern = re.compile(spec_keys()[("distribution",)]["pattern"])
    assert [name for name in model.DISTRIBUTIONS if not pattern.search(name)] == []


def default_of(field):
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


@pytest.mark.parametrize(("table", "kind", "key"), EVERY, ids=lambda value: getattr(value, "__name__", ""))
def test_defaults_are_the_same(table, kind, key):
    """What a model takes for a key that was not written is what the schema says; nothing and empty are not said."""
    for field in dataclasses.fields(kind):
        if field.name not in table:
            continue
        schema = spec_keys()[(*key, field.name)]
        default = default_of(field)
        if field.name == "args_style":
            # Each kind of entry point has its own, so the schema tells them in its description.
            assert f"`{default}` for a {kind.__name__.removesuffix('Entry').lower()}" in schema["description"]
        elif default is not dataclasses.MISSING and default not in (None, "", (), {}):
            assert schema["default"] == default
        else:
            assert schema.get("default", "") == ""


def literals(annotation):
    """Return every literal value that a type allows."""
    if typing.get_origin(annotation) is typing.Literal:
        return set(typing.get_args(annotation))
    return {value for inner in typing.get_args(annotation) for value in literals(inner)}


@pytest.mark.parametrize(("table", "kind", "key"), EVERY, ids=lambda value: getattr(value, "__name__", ""))
def test_choices_are_the_same(table, kind, key):
    hints = typing.get_type_hints(kind)
    for name in set(table) & set(hints):
        schema = spec_keys()[(*key, name)]
        if name == "processes_per_host":
            assert literals(hints[name]) == {"auto"}
        elif name == "read":
            assert literals(hints[name]) == set(choices(schema["additionalProperties"]))
        elif "properties" not in strict(schema) and "items" not in strict(schema):
            assert literals(hints[name]) == set(choices(schema))


def test_where_the_schema_takes_any_scalar_the_view_takes_its_text():
    """``environment: {A: 1e-3}`` is the text ``1e-3``, in every place whose schema lets it be a number."""
    places = []

    def walk(schema, path):
        if schema is True or not isinstance(schema, dict):
            return
        if path and {"string", "number", "boolean"} <= set(schema.get("type", ())):
            places.append(path)
        for name, inner in schema.get("properties", {}).items():
            walk(inner, (*path, name))
        walk(schema.get("additionalProperties"), (*path, "A"))
        walk(schema.get("items"), (*path, 0))

    for key in keys_in(()):
        if key not in ("extends", "vars", "overlays"):
            walk(spec_keys()[(key,)], (key,))
    assert len(places) == 7
    for path in places:
        data = 1e-3
        for step in reversed(path):
            data = [data] if step == 0 else {step: data}
        seen = viewed(document_of(data).root)
        for step in path:
            seen = seen[step]
        assert seen == "0.001"


def test_the_reference_page_is_current(update):
    """``python docs/spec_reference.py`` writes it."""
    script = runpy.run_path(str(ROOT / "docs/spec_reference.py"))
    if update:
        script["PAGE"].write_text(script["page"](), encoding="utf-8")
    is_current = script["PAGE"].read_text(encoding="utf-8") == script["page"]()
    assert is_current, "docs/spec-reference.md is not what the schema says now: `make golden` writes it"

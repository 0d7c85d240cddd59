"""Schema and model have equal choices and defaults; test_table.py compares their keys."""

import dataclasses
import re
import runpy
import typing
from pathlib import Path

import pytest

from smspec.service.shapes import pinned_model
from smspec.spec import model
from smspec.spec.keys import ROWS, rows_below
from smspec.spec.keys.row import ChoiceForm, NamedForm, StructureForm, StructureListForm
from smspec.spec.schema import choices, keys_in, spec_keys, strict
from smspec.spec.shape import viewed
from smspec_runtime import launchers as runtime_launchers
from support.spec.job_documents import document_of

ROOT = Path(__file__).parents[4]
HOLDERS = [
    ("", model.JobSpec),
    *((row.path, kind) for row in ROWS if isinstance(row.form, ChoiceForm) for kind in row.form.kinds),
    *((row.path, row.form.kind) for row in ROWS if isinstance(row.form, StructureForm)),
    *((f"{row.path}.*", row.form.kind) for row in ROWS if isinstance(row.form, StructureListForm | NamedForm)),
]
"""Every mapping of a spec by its path, and the class of the model that holds it."""


def keys_of(path, kind):
    """Return the keys of a mapping that a class of the model has a field for, each with that field."""
    fields = {field.name: field for field in dataclasses.fields(kind)}
    return [(tuple(row.path.split(".")), fields[row.name]) for row in rows_below(path) if row.name in fields]


def test_entry_point_kind_is_named_by_one_of_its_keys():
    assert {
        key for key, kind in model.ENTRY_POINTS.items() if key not in {f.name for f in dataclasses.fields(kind)}
    } == set()
    assert set(model.ENTRY_POINTS.values()) == set(typing.get_args(model.EntryPoint))


def test_every_launcher_is_in_schema_model_and_runtime():
    kinds = set(typing.get_args(model.Distribution))
    assert set(model.DISTRIBUTIONS.values()) == kinds, "`Distribution` and `DISTRIBUTIONS`, spec/model.py"
    names = set(model.DISTRIBUTIONS)
    assert set(keys_in(("distribution",))) == names, "`distribution` in job.v1.schema.json"
    assert {row.name for row in rows_below("distribution")} == names, "`ROWS`, spec/keys/hosts.py"
    assert names <= set(runtime_launchers.LAUNCHERS), "`LAUNCHERS`, smspec_runtime/launchers/__init__.py"


ONLY_UNDER_API = {"Converse"}
"""For serverless jobs, of which the spec has no keys."""

FREE = {"hosts.instance_type", "hosts.groups.*.instance_type"}
"""AWS adds to these words every month: another is a warning."""


@pytest.mark.parametrize("row", [row for row in ROWS if row.member], ids=lambda row: row.path)
def test_choices_equal_the_api_enums(row):
    shapes = {".".join("*" if step == 0 else str(step) for step in path): it for path, it in pinned_model().walk()}
    words = set(choices(spec_keys()[tuple(row.path.split("."))]))
    if row.path not in FREE:
        assert words == set(shapes[row.member].enum) - ONLY_UNDER_API


def test_every_launcher_has_a_short_form():
    pattern = re.compile(spec_keys()[("distribution",)]["pattern"])
    assert [name for name in model.DISTRIBUTIONS if not pattern.search(name)] == []


def default_of(field):
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


@pytest.mark.parametrize(("path", "kind"), HOLDERS, ids=lambda value: getattr(value, "__name__", ""))
def test_schema_and_model_have_equal_defaults(path, kind):
    """Defaults of the model are in the schema, except None and empty values."""
    for key, field in keys_of(path, kind):
        schema = spec_keys()[key]
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


@pytest.mark.parametrize(("path", "kind"), HOLDERS, ids=lambda value: getattr(value, "__name__", ""))
def test_schema_and_model_have_equal_choices(path, kind):
    hints = typing.get_type_hints(kind)
    for key, field in keys_of(path, kind):
        name, schema = field.name, spec_keys()[key]
        if name == "processes_per_host":
            assert literals(hints[name]) == {"auto"}
        elif name == "read":
            assert literals(hints[name]) == set(choices(schema["additionalProperties"]))
        elif "properties" not in strict(schema) and "items" not in strict(schema):
            assert literals(hints[name]) == set(choices(schema))


def test_scalar_is_read_as_text_where_any_scalar_is_valid():
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
    assert len(places) == 9
    for path in places:
        data = 1e-3
        for step in reversed(path):
            data = [data] if step == 0 else {step: data}
        seen = viewed(document_of(data).root)
        for step in path:
            seen = seen[step]
        assert seen == "0.001"


def test_reference_page_is_current(update):
    """``python docs/spec_reference.py`` writes it."""
    script = runpy.run_path(str(ROOT / "docs/spec_reference.py"))
    if update:
        script["PAGE"].write_text(script["page"](), encoding="utf-8")
    is_current = script["PAGE"].read_text(encoding="utf-8") == script["page"]()
    assert is_current, "docs/spec-reference.md is not what the schema says now: `make golden` writes it"

"""Describe faults of a table of keys: schema, model, and API model must agree."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from smspec.service.shapes import Model, Shape
from smspec.spec import model
from smspec.spec.keys.row import TOOLS, ChoiceForm, KeyRow, NamedForm, StructureForm, StructureListForm, ValueForm

LAYERS = {"smspec", "extends", "vars", "overlays"}
"""Read before there is a job, so that no job has them."""

FIELDS = {"checks": "ignored_checks"}
"""Keys whose field in the model has another name."""


def faults(rows: tuple[KeyRow, ...], schema: Mapping[tuple[str, ...], object], api: Model) -> Iterator[str]:
    """Yield what is missing or does not agree, each with where to put it right."""
    paths = [row.path for row in rows]
    yield from (f"`{path}` has two rows" for path in sorted({path for path in paths if paths.count(path) > 1}))
    keys = {".".join(key) for key in schema if not _is_a_layers(key) and key[-1] != "*"}
    yield from (
        f"`{key}` is in job.v1.schema.json and has no row: add one in spec/keys/" for key in sorted(keys - set(paths))
    )
    yield from (
        f"`{path}` has a row and is not in job.v1.schema.json: add its entry" for path in paths if path not in keys
    )
    shapes = {".".join("*" if step == 0 else str(step) for step in path): shape for path, shape in api.walk()}
    for row in rows:
        yield from _member_faults(row, shapes, api)
        yield from _word_faults(row)
    yield from _field_faults(rows)


def _is_a_layers(key: tuple[str, ...]) -> bool:
    return key[0] in LAYERS and len(key) > 1


def _member_faults(row: KeyRow, shapes: dict[str, Shape], api: Model) -> Iterator[str]:
    if not row.member:
        if not row.kind and row.path.split(".")[0] not in {*LAYERS, "checks"}:
            yield f"`{row.path}` has neither a member of the request nor a kind of change: nothing says where it goes"
        return
    shape = shapes.get(row.member)
    if shape is None:
        yield f"`{row.path}`: the API model has no member `{row.member}`"
        return
    if not row.kind:
        yield f"`{row.path}` has no kind of change: `diff` would not know what to call one"
    if row.irregular:
        return
    kind = "integer" if shape.kind == "long" else shape.kind
    wanted = {StructureForm: "structure", StructureListForm: "list", NamedForm: "list"}.get(type(row.form))
    wanted = wanted or (row.form.shape if isinstance(row.form, ValueForm) else "")
    if kind != wanted:
        yield f"`{row.path}` writes {wanted or 'nothing'}, and `{row.member}` is of the type {kind}"
    elif kind == "list" and isinstance(row.form, ValueForm) and api.shapes[shape.item].kind != "string":
        yield f"`{row.path}` writes a list of texts, and `{row.member}` is one of {api.shapes[shape.item].kind}s"


def _word_faults(row: KeyRow) -> Iterator[str]:
    for tool, words in row.words.items():
        if tool not in TOOLS:
            yield f"`{row.path}` has words of `{tool}`, which is not in TOOLS, spec/keys/row.py"
        if not words.split():
            yield f"`{row.path}` has no words of `{tool}`: remove the entry"


def _field_faults(rows: tuple[KeyRow, ...]) -> Iterator[str]:
    holders = {"": [model.JobSpec]}
    for row in rows:
        form = row.form
        if isinstance(form, ChoiceForm):
            kinds = [kind for kind in form.kinds if row.path != "distribution"]
            holders[row.path] = kinds
        elif isinstance(form, StructureForm):
            holders[row.path] = [form.kind]
        elif isinstance(form, StructureListForm | NamedForm):
            holders[f"{row.path}.*"] = [form.kind]
    for path, kinds in holders.items():
        below = [row for row in rows if row.path.rpartition(".")[0] == path]
        names = {FIELDS.get(row.path, row.name) for row in below if row.path not in LAYERS}
        fields = {field.name for kind in kinds for field in dataclasses.fields(kind)}
        called = " or ".join(kind.__name__ for kind in kinds)
        if kinds:
            yield from (
                f"`{path}.{name}` has a row, and {called} no such field, spec/model.py"
                for name in sorted(names - fields)
            )
            # The name of a channel is no key: it is the name that the author gives.
            yield from (
                f"{called} has the field `{name}`, and `{path}.{name}` no row"
                for name in sorted(fields - names - ({"name"} if path == "channels.*" else set()))
            )

"""The job as the resource `aws_sagemaker_training_job` of Terraform's AWS provider, formatted like `terraform fmt`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from smspec.render.tree import Members, Rendering, without_place
from smspec.service.shapes import Model, Shape, items, member, pinned_model

UNKNOWN_TO_TERRAFORM: Members = frozenset(
    {
        ("InputDataConfig", "DataSource", "DatasetSource"),
        ("ResourceConfig", "InstancePreferences"),
        ("ServerlessJobConfig", "SequenceLength"),
    }
)
"""Members for which the resource has no argument (provider documentation, r/sagemaker_training_job)."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# HCL can escape these only by number (HCL native syntax, quoted template expressions).
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")


def terraform(name: str, payload: dict[str, object], region: str | None = None) -> Rendering:
    """Return the resource ``name`` with all members, and a note about those that the provider may not support."""
    model = pinned_model()
    members = {key: value for key, value in payload.items() if key != "Tags"}
    label = name if re.match("[A-Za-z_]", name) else f"job_{name}"
    lines = [f'resource "aws_sagemaker_training_job" {_quoted(label)} {{']
    lines += _indented(_body(model, model.root, members, tags=_tags(payload), region=region))
    missing = without_place(payload, UNKNOWN_TO_TERRAFORM)
    notes = (f"the resource has no argument for {', '.join(missing)}",) if missing else ()
    return Rendering(text="\n".join([*lines, "}", ""]), notes=notes)


def argument(member_name: str) -> str:
    """Return the provider's name for a member of the API."""
    return _WORDS.sub("_", member_name).lower().replace("sage_maker", "sagemaker")


def _tags(payload: dict[str, object]) -> dict[str, str]:
    """Return the tags as a map for the provider."""
    return {str(member(tag, "Key")): str(member(tag, "Value")) for tag in items(payload, "Tags")}


def _body(
    model: Model, shape: Shape, value: dict[str, object], *, tags: dict[str, str], region: str | None = None
) -> Iterator[str]:
    """Yield the lines of a block: arguments of one line, aligned, then those of several lines, then the blocks."""
    short: dict[str, str] = {} if region is None else {"region": _quoted(region)}
    long: list[list[str]] = []
    for name, inner in value.items():
        inner_shape = model.shapes[shape.members[name]] if name in shape.members else None
        kind = inner_shape.kind if inner_shape else ""
        if inner_shape and kind == "structure" and isinstance(inner, dict):
            long.append(_block(model, inner_shape, name, inner))
        elif inner_shape and kind == "list" and model.shapes[inner_shape.item].kind == "structure":
            item = model.shapes[inner_shape.item]
            long += [_block(model, item, name, part) for part in items(value, name)]
        elif isinstance(inner, dict):
            long.append(_map(argument(name), inner))
        else:
            short[argument(name)] = _value(inner)
    if tags:
        long.append(_map("tags", dict(tags)))
    width = max(map(len, short), default=0)
    yield from (f"{name:{width}} = {text}" for name, text in short.items())
    for number, lines in enumerate(long):
        if number or short:
            yield ""
        yield from lines


def _block(model: Model, shape: Shape, name: str, value: object) -> list[str]:
    members = value if isinstance(value, dict) else {}
    lines = list(_body(model, shape, members, tags={}))
    return [f"{argument(name)} {{", *_indented(lines), "}"] if lines else [f"{argument(name)} {{}}"]


def _map(name: str, entries: dict[str, object]) -> list[str]:
    keys = {key: _quoted(key) for key in entries}
    width = max(map(len, keys.values()), default=0)
    return [f"{name} = {{", *(f"  {keys[key]:{width}} = {_value(value)}" for key, value in entries.items()), "}"]


def _value(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)


def _quoted(text: str) -> str:
    """Return a string as a quoted template without interpolation: `${` and `%{` are written with two signs."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${").replace("%{", "%%{")
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return '"' + _CONTROL.sub(lambda match: "\\u" + f"{ord(match[0]):04x}", escaped) + '"'


def _indented(lines: Iterator[str] | list[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]

"""What can be typed at a place of a spec: keys, values, names of the job, and variables."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.editor.editor_schema import CHOICE_WORDS, instance_words, prices_for
from smspec.editor.hover import JobLayers, job_path
from smspec.editor.tolerant_outline import CursorPlace
from smspec.service.facts import known_types
from smspec.source.frozen import dataclass
from smspec.spec.schema import author_schema, choices, key_path, keys_in, part, spec_keys, strict, types, written_key
from smspec.spec.schema.reference import explain_key, is_required
from smspec.spec.yaml.events import flow_style

Kind = Literal["key", "value", "name", "type", "variable", "code", "file"]
_MOST_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """``text`` takes the place of the prefix; ``snippet`` in editors that know tab stops. ``order`` sorts items."""

    label: str
    kind: Kind
    text: str
    order: str
    detail: str = ""
    documentation: str = ""
    snippet: str = ""


def completions(layers: JobLayers, place: CursorPlace) -> list[Item]:
    """Return what can be typed at a place of the first layer."""
    if place.kind != "key" and "${{" in place.prefix:
        return list(_variables(layers, place))
    items: list[Item] = []
    if place.kind != "value":
        items += _keys(layers, place)
    if place.kind != "key":
        items += _values(layers, place)
    return items


def _keys(layers: JobLayers, place: CursorPlace) -> Iterator[Item]:
    path = job_path(place.path)
    if path == ("entry_point", "read"):
        for name in layers.names(("channels",)):
            if name not in place.present:
                yield Item(label=name, kind="name", text=f"{name}: ", order=name, detail="channel")
        return
    is_overlay = len(place.path) == 2 and place.path[0] == "overlays"
    known = key_path(() if is_overlay else path)
    if known is None:
        return
    allowed = part(part(part(author_schema(), "definitions"), "overlay"), "properties") if is_overlay else None
    for position, name in enumerate(keys_in(known)):
        if name in place.present or (allowed is not None and name not in allowed):
            continue
        yield _key((*known, name), position, place)


def _key(key: tuple[str, ...], position: int, place: CursorPlace) -> Item:
    schema = spec_keys()[key]
    required = is_required(key)
    return Item(
        label=key[-1],
        kind="key",
        text=f"{key[-1]}: ",
        order=f"{'0' if required else '1'}{position:03}",
        detail=str(schema.get("title", "")) + (" (required)" if required else ""),
        documentation=explain_key(written_key(key)) or "",
        snippet=_snippet(key, place),
    )


def _snippet(key: tuple[str, ...], place: CursorPlace) -> str:
    """Return a key with tab stops for its value: those of the required keys in it, or the example of the schema."""
    schema = spec_keys()[key]
    allowed = types(strict(schema))
    needed = [name for name in keys_in(key) if is_required((*key, name))]
    if needed and not place.in_flow and "object" in allowed:
        lines = [f"{key[-1]}:"]
        lines += [f"  {name}: ${{{stop}:{_example((*key, name))}}}" for stop, name in enumerate(needed, 1)]
        return "\n".join(lines)
    if "const" in schema:
        return f"{key[-1]}: {schema['const']}"
    if "object" in allowed and "string" not in allowed and not place.in_flow:
        return f"{key[-1]}:\n  $0"
    if allowed[0] == "array" and not place.in_flow:
        return f"{key[-1]}:\n  - $0"
    return f"{key[-1]}: $0"


def _example(key: tuple[str, ...]) -> str:
    examples = spec_keys()[key].get("examples")
    text = flow_style(examples[0]) if isinstance(examples, list) and examples else ""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def _values(layers: JobLayers, place: CursorPlace) -> Iterator[Item]:
    path = job_path(place.path)
    space = " " if place.needs_space else ""
    known = key_path(path)
    if path[:2] == ("entry_point", "read") and len(path) == 3:
        read = part(spec_keys()["entry_point", "read"], "additionalProperties")
        yield from _plain(choices(read), space, words=CHOICE_WORDS["entry_point.read"])
    elif path[-1:] == ("instance_type",):
        yield from _instances(layers, space)
    elif path[:2] == ("checks", "ignore") and path[-1:] == ("rule",):
        for code in explained_codes():
            page = explanation(code) or ""
            title = page.partition("\n")[0].partition(": ")[2]
            yield Item(label=code, kind="code", text=space + code, order=code, detail=title, documentation=page)
    elif path[:1] == ("channels",) and path[2:3] == ("instance_groups",):
        yield from _plain(layers.values(("hosts", "groups", "*", "name")), space, "name")
    elif path[:1] == ("extends",) and len(path) == 2:
        yield from _files(layers, (".yaml", ".yml"), space, ".")
    elif path in (("entry_point",), ("entry_point", "script")):
        source = layers.value(("source",)) or layers.value(("source", "dir"))
        if source is not None:
            yield from _files(layers, (".py", ".sh"), space, source)
    elif known:
        schema = spec_keys()[known]
        if "const" in schema:
            yield from _plain([str(schema["const"])], space)
        yield from _plain(choices(schema), space, words=CHOICE_WORDS.get(written_key(known), {}))
        yield from _plain(["true", "false"] if "boolean" in types(strict(schema)) else [], space)
    if known and place.kind == "value" and path[:1] not in (("vars",), ("extends",), ("checks",)):
        yield from _variables(layers, place)


def _plain(
    values: Sequence[str], space: str, kind: Kind = "value", words: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Item]:
    for position, value in enumerate(values):
        yield Item(label=value, kind=kind, text=space + value, order=f"{position:03}", detail=words.get(value, ""))


def _instances(layers: JobLayers, space: str) -> Iterator[Item]:
    prices = prices_for(layers.layers[0].path, layers.value(("region",)))
    for position, kind in enumerate(known_types()):
        words = instance_words(kind, prices)
        yield Item(label=kind, kind="type", text=space + kind, order=f"{position:04}", detail=words)


def _variables(layers: JobLayers, place: CursorPlace) -> Iterator[Item]:
    space = " " if place.needs_space else ""
    head, mark, _ = place.prefix.rpartition("${{")
    for name in layers.names(("vars",)):
        reference = f"${{{{ vars.{name} }}}}"
        text = f"{head}{reference}" if mark else reference
        if place.in_flow and not place.is_quoted:
            text = f'"{text}"'
        default = layers.value(("vars", name, "default"))
        detail = f"variable, {default}" if default is not None else "variable"
        yield Item(label=reference, kind="variable", text=space + text, order=f"9{name}", detail=detail)


def _files(layers: JobLayers, ends: tuple[str, ...], space: str, below: str) -> Iterator[Item]:
    own = layers.layers[0].path
    if own is None:
        return
    here = os.path.dirname(own)
    places = [os.path.join(here, below)] + ([os.path.dirname(here)] if below == "." else [])
    names: list[str] = []
    for place in places:
        try:
            with os.scandir(place) as found:
                listed = sorted(one.name for one in found if one.is_file() and one.name.endswith(ends))
        except OSError:
            continue
        start = os.path.join(here, below) if below != "." else here
        names += [os.path.relpath(os.path.join(place, name), start) for name in listed]
    for name in names[:_MOST_FILES]:
        if os.path.realpath(os.path.join(here, name)) != own:
            yield Item(label=name, kind="file", text=space + name, order=name)

"""The description of every key of the spec, from the schema: for `smspec explain KEY` and for docs/."""

from __future__ import annotations

from smspec.diagnostics.quoting import one_of
from smspec.source import Path
from smspec.spec.keys import ROW
from smspec.spec.schema import (
    KeyPath,
    KeySchema,
    author_schema,
    choices,
    key_path,
    key_path_of_text,
    keys_in,
    part,
    spec_keys,
    strict,
    type_words,
    types,
    written_key,
)
from smspec.spec.yaml.events import flow_style


def keys() -> tuple[str, ...]:
    """Return every key of the spec in dotted form, such as ``channels.*.input_mode``."""
    return tuple(written_key(path) for path in spec_keys())


def explain_key(text: str) -> str | None:
    """Return the description of a key as Markdown, or None if the spec has no such key.

    A name can replace the `*` of a key: ``channels.train.s3`` is ``channels.*.s3``.
    """
    path = key_path_of_text(text)
    if path is None:
        return None
    schema = spec_keys()[path]
    lines = [f"# {written_key(path)}: {schema['title']}", "", str(schema["description"]), ""]
    lines.append(f"- value: {value_words(schema)}")
    if is_required(path):
        lines.append("- required")
    if "default" in schema:
        lines.append(f"- default: `{flow_style(schema['default'])}`")
    row = ROW.get(written_key(path))
    if row is not None and row.member:
        lines.append(f"- in the request: `{row.member}`")
    if row is not None and row.kind:
        lines.append(f"- kind of change: `{row.kind}`")
    below = keys_in(path) or keys_in((*path, "*"))
    if below:
        lines.append(f"- keys: {', '.join(f'`{key}`' for key in below)}")
    return "\n".join([*lines, "", "```yaml", *example_lines(path), "```"]) + "\n"


def example_lines(path: KeyPath) -> list[str]:
    """Return the examples of a key as YAML lines; `*` is shown as a name, an item of a list with its dash."""
    examples = spec_keys()[path].get("examples")
    name = path[-1]
    if name == "*":
        parent = types(spec_keys()[path[:-1]])
        name = "-" if "array" in parent else "NAME:"
    else:
        name = f"{name}:"
    return [f"{name} {flow_style(example)}" for example in (examples if isinstance(examples, list) else [])]


def value_words(schema: KeySchema) -> str:
    """Return a description of the values of a key."""
    listed = choices(schema)
    if listed:
        return one_of(listed)
    if "const" in schema:
        return f"`{schema['const']}`"
    wanted = strict(schema)
    expected = wanted.get("patternErrorMessage")
    allowed = types(wanted)
    if isinstance(expected, str):
        words = expected.removeprefix("expected ")
        return words if "object" not in allowed else f"{words}, or a mapping"
    words = type_words(allowed)
    if "array" in allowed:
        words += f" of {_items_words(part(wanted, 'items'))}"
    if "object" in allowed and "title" not in part(wanted, "additionalProperties"):
        each = part(wanted, "additionalProperties")
        words += f" of names to {_items_words(each)}" if each else ""
    return words + _range_words(wanted)


def _items_words(item: KeySchema) -> str:
    listed = choices(item)
    if listed:
        return one_of(listed)
    return "mappings" if "object" in types(strict(item)) else "strings"


def _range_words(schema: KeySchema) -> str:
    bounds = [("at least", schema.get("minimum")), ("at most", schema.get("maximum"))]
    limits = [f"{words} {bound}" for words, bound in bounds if bound is not None]
    return f", {' and '.join(limits)}" if limits else ""


def is_required(path: KeyPath) -> bool:
    """Return whether a key is always required in its mapping."""
    *parents, name = path
    complete = part(part(author_schema(), "definitions"), "complete")
    if path == ("smspec",) or name in _required(spec_keys().get(tuple(parents), {})):
        return True
    for parent in parents:
        complete = (
            part(complete, "additionalProperties") if parent == "*" else part(part(complete, "properties"), parent)
        )
    return name in _required(complete)


def _required(schema: KeySchema) -> tuple[str, ...]:
    listed = schema.get("required")
    return tuple(str(name) for name in listed) if isinstance(listed, list) else ()


def example_of(path: Path) -> str | None:
    """Return ``key: value`` for the key at ``path``, a bare value for an item of a list; None for an unknown key."""
    key = key_path(path)
    examples = spec_keys()[key].get("examples") if key else None
    if not path or not isinstance(examples, list) or not examples:
        return None
    value = flow_style(examples[0])
    return f"{flow_style(path[-1])}: {value}" if isinstance(path[-1], str) else value

"""Find where a merged document does not fit the schema: what is rejected, followed down to its smallest parts.

Each is a `ShapeFault`, before it becomes a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.schema import SchemaPart, accepts, checks, merged_schema, part, target

REFERENCE: SchemaPart = {"$ref": "#/definitions/reference"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeFault:
    """``keyword`` of ``schema``, with its ``argument``, rejects the ``value`` at ``path``.

    ``on`` is "key" where the name of the key does not fit, not its value.
    """

    path: Path
    keyword: str
    argument: SchemaPart
    schema: dict[str, SchemaPart]
    value: object
    on: Literal["key", "value"] = "value"

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the value, if it is a mapping."""
        return tuple(self.value) if isinstance(self.value, dict) else ()


@dataclass(frozen=True, slots=True)
class _Part:
    """``value``, at ``path`` of a document, must fit ``schema``; ``is_key``: it is the name of the key there."""

    schema: SchemaPart
    value: object
    path: Path
    is_key: bool


def shape_faults(data: object) -> Iterator[ShapeFault]:
    """Yield every place where the view of a merged document does not fit the schema, in the order of the schema."""
    return _faults(_Part(merged_schema(), data, (), is_key=False))


def _faults(whole: _Part) -> Iterator[ShapeFault]:
    root = merged_schema()
    schema = _resolved(whole.schema, root)
    for keyword, holds, argument in checks(schema):
        if holds(argument, whole.value, schema, root):
            continue
        faulty = [inner for inner in _parts(keyword, schema, whole) if not accepts(inner.schema, inner.value, root)]
        for inner in faulty:
            yield from _faults(inner)
        if not faulty:
            yield ShapeFault(
                path=whole.path,
                keyword=keyword,
                argument=argument,
                schema=schema,
                value=whole.value,
                on="key" if whole.is_key else "value",
            )


def _resolved(schema: SchemaPart, root: dict[str, SchemaPart]) -> dict[str, SchemaPart]:
    while isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str):
        schema = target(root, reference)
    assert isinstance(schema, dict), "what is refused whole is an unknown key or a reference, and both are seen above"
    return schema


def _parts(keyword: str, schema: dict[str, SchemaPart], whole: _Part) -> Iterator[_Part]:
    """Yield what a keyword requires of the parts of a value; nothing where the value itself does not fit."""
    argument, value, path = schema[keyword], whole.value, whole.path
    if keyword == "properties":
        entries = value if isinstance(value, dict) else {}
        for key, inner in part(schema, keyword).items():
            if key in entries:
                yield _Part(inner, entries[key], (*path, key), is_key=False)
    elif keyword == "additionalProperties" and isinstance(argument, dict):
        named = part(schema, "properties")
        for key, item in value.items() if isinstance(value, dict) else ():
            if key not in named:
                yield _Part(argument, item, (*path, key), is_key=False)
    elif keyword == "propertyNames":
        for key in value if isinstance(value, dict) else ():
            yield _Part(argument, key, (*path, key), is_key=True)
    elif keyword == "items":
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield _Part(argument, item, (*path, index), is_key=False)
    elif keyword == "allOf":
        for inner in argument if isinstance(argument, list) else ():
            yield _Part(inner, value, path, whole.is_key)
    elif keyword == "anyOf" and isinstance(argument, list) and argument[-1] == REFERENCE:
        # A merged job has no references, so only the other alternative can apply.
        yield _Part(argument[0], value, path, whole.is_key)
    elif keyword == "if":
        yield _Part(schema["then"], value, path, whole.is_key)

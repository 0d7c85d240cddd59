"""The JSON Schema of the spec: loading it, querying it, and explaining it.

The schema is a file of `smspec_schemas`, and editors use the same one. `accepts` decides whether a value fits, without
jsonschema, whose import takes longer than a whole check; it is loaded only for keywords that `accepts` does not
interpret. `explain_key` and docs/spec-reference.md use the descriptions. Why a value does not fit is found by
`smspec.spec.shape`, and the package must not know it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Union

from smspec.source import Path
from smspec.source.frozen import ByIdentity
from smspec_schemas import JOB_SCHEMA

SchemaPart = Union[None, bool, int, float, str, list["SchemaPart"], dict[str, "SchemaPart"]]

KeyPath = tuple[str, ...]

KeySchema = dict[str, SchemaPart]

_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "`true` or `false`",
}


@lru_cache(maxsize=1)
def author_schema() -> dict[str, SchemaPart]:
    """Return the schema of any file that an author writes, as published."""
    with open(JOB_SCHEMA, encoding="utf-8") as file:
        schema: dict[str, SchemaPart] = json.load(file)
    return schema


@lru_cache(maxsize=1)
def merged_schema() -> dict[str, SchemaPart]:
    """Return the schema of a merged job: no value is a reference or null any more, and required keys must be set."""
    schema = author_schema()
    return {**schema, "if": True, "definitions": {**part(schema, "definitions"), "reference": False}}


def part(schema: Mapping[str, SchemaPart], key: str) -> dict[str, SchemaPart]:
    """Return the mapping under ``key``; empty if there is none."""
    value = schema.get(key)
    return value if isinstance(value, dict) else {}


def target(root: dict[str, SchemaPart], reference: str) -> SchemaPart:
    """Return what a ``$ref`` such as ``#/definitions/name`` points to."""
    found: SchemaPart = root
    for step in reference.removeprefix("#/").split("/"):
        assert isinstance(found, dict)
        found = found[step]
    return found


@lru_cache(maxsize=1)
def spec_keys() -> dict[KeyPath, KeySchema]:
    """Return the schema of every key, in the order of the schema."""
    return dict(keys_below(author_schema(), ()))


def keys_below(schema: KeySchema, path: KeyPath) -> Iterator[tuple[KeyPath, KeySchema]]:
    """Yield the path and the schema of every key below one, in the order of the schema."""
    children = dict(part(schema, "properties"))
    for word in ("additionalProperties", "items"):
        if "title" in part(schema, word):
            children["*"] = part(schema, word)
    for name, child in children.items():
        if isinstance(child, dict):
            yield (*path, name), child
            yield from keys_below(child, (*path, name))


def key_path(path: Path) -> KeyPath | None:
    """Return the key that a path into a spec leads to, or None if the spec has no such key."""
    found: KeyPath = ()
    for step in path:
        named = (*found, step) if isinstance(step, str) else None
        if named is not None and named in spec_keys():
            found = named
        elif (*found, "*") in spec_keys():
            found = (*found, "*")
        else:
            return None
    return found


def key_path_of_text(text: str) -> KeyPath | None:
    """Return the key of ``channels.*.input_mode``, ``channels.train.input_mode``, or ``metrics[0].name``."""
    steps = re.sub(r"\[[0-9*]*\]", ".*", text.strip()).strip(".").split(".")
    if steps[0] == "overlays" and len(steps) > 2:
        # An overlay is a partial job: its keys are those of a job.
        steps = steps[2:]
    return key_path(tuple(steps)) if all(steps) else None


def written_key(path: KeyPath) -> str:
    """Return a key in dotted form: ``channels.*.input_mode``."""
    return ".".join(path)


def keys_in(path: KeyPath) -> tuple[str, ...]:
    """Return the names of the keys directly below a key, in the order of the schema."""
    return tuple(key[-1] for key in spec_keys() if key[:-1] == path and key[-1] != "*")


def choices(schema: KeySchema) -> tuple[str, ...]:
    """Return the values that a key can have, if it has a list of choices."""
    listed = strict(schema).get("enum")
    return tuple(str(value) for value in listed) if isinstance(listed, list) else ()


def types(schema: KeySchema) -> tuple[str, ...]:
    """Return the names of the types that a schema allows, as JSON Schema calls them (draft-07, ``type``)."""
    named = schema.get("type")
    return tuple(str(name) for name in named) if isinstance(named, list) else (str(named),)


def type_words(allowed: Collection[str]) -> str:
    """Return the types of a value as an author calls them."""
    if {"string", "number", "boolean"} <= set(allowed):
        return "a string or a number"
    return " or ".join(words for name, words in _TYPES.items() if name in allowed)


def strict(schema: KeySchema) -> KeySchema:
    """Return what a value must fit after variables are replaced: the schema itself, or the one it refers to."""
    alternatives = schema.get("anyOf")
    if isinstance(alternatives, list) and isinstance(alternatives[0], dict):
        schema = alternatives[0]
    reference = schema.get("$ref")
    if isinstance(reference, str):
        named = part(part(author_schema(), "definitions"), reference.removeprefix("#/definitions/"))
        return named or schema
    return schema


Root = dict[str, SchemaPart]

Keyword = Callable[[SchemaPart, object, Mapping[str, SchemaPart], Root], bool]


def accepts(schema: SchemaPart, value: object, root: Root) -> bool:
    """Return whether ``value`` fits ``schema``; references are looked up in ``root``."""
    if not isinstance(schema, dict):
        return bool(schema)
    reference = schema.get("$ref")
    if isinstance(reference, str):
        # Draft 7: ignore whatever is next to a $ref.
        return accepts(target(root, reference), value, root)
    known = _KNOWN.get(id(schema))
    for _, holds, argument in checks(schema) if known is None else known[1]:
        if not holds(argument, value, schema, root):
            return False
    return True


def checks(schema: dict[str, SchemaPart]) -> list[tuple[str, Keyword, SchemaPart]]:
    """Return each keyword of a schema with its check and argument; annotations have no check."""
    known = _KNOWN.get(id(schema))
    if known is None:
        found = [
            (name, KEYWORDS.get(name) or _by_jsonschema(name), argument)
            for name, argument in schema.items()
            if name not in ANNOTATIONS
        ]
        # Keep the schema too, so that no other schema gets its id.
        known = _KNOWN[id(schema)] = (schema, found)
    return known[1]


_KNOWN: dict[int, tuple[dict[str, SchemaPart], list[tuple[str, Keyword, SchemaPart]]]] = {}

_ACCEPTED: ByIdentity[bool] = ByIdentity()


def _by_jsonschema(name: str) -> Keyword:
    """Return a check that asks jsonschema about one keyword: it is imported only where such a keyword is used."""

    def holds(_: SchemaPart, value: object, schema: Mapping[str, SchemaPart], root: Root) -> bool:
        from jsonschema import Draft7Validator

        part_at_fault = Draft7Validator(root).evolve(schema=schema)  # references are resolved in the root
        return all(error.validator != name for error in part_at_fault.iter_errors(value))

    return holds


def _is_of_type(name: SchemaPart, value: object) -> bool:
    if isinstance(value, float):
        return name == "number" or (name == "integer" and value.is_integer())
    return name in _PYTHON_TYPES.get(type(value), ())


_PYTHON_TYPES: dict[type, tuple[str, ...]] = {
    str: ("string",),
    int: ("integer", "number"),
    bool: ("boolean",),
    dict: ("object",),
    list: ("array",),
    type(None): ("null",),
}


def _type(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    if isinstance(argument, list):
        for name in argument:  # noqa: SIM110
            if _is_of_type(name, value):
                return True
        return False
    return _is_of_type(argument, value)


def _properties(argument: SchemaPart, value: object, schema: Mapping[str, SchemaPart], root: Root) -> bool:
    if isinstance(value, dict) and isinstance(argument, dict):
        # The jobs of a repository, and the variants of a job, share the values of many top-level keys.
        is_whole = schema is root or schema is part(root, "definitions").get("complete")
        is_accepted = _accepts_again if is_whole else accepts
        for key, item in value.items():
            if key in argument and not is_accepted(argument[key], item, root):
                return False
    return True


def _accepts_again(schema: SchemaPart, value: object, root: Root) -> bool:
    """Return what `accepts` does, without looking twice at a value."""
    # Two roots share most of their parts, but not what a reference means. `_KNOWN` keeps both.
    return _ACCEPTED.of((id(schema), id(root)), value, lambda: accepts(schema, value, root))


def _additional_properties(argument: SchemaPart, value: object, schema: Mapping[str, SchemaPart], root: Root) -> bool:
    if isinstance(value, dict):
        named = part(schema, "properties")
        for key, item in value.items():
            if key not in named and not accepts(argument, item, root):
                return False
    return True


def _required(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, dict) or not isinstance(argument, list) or all(key in value for key in argument)


def _dependencies(argument: SchemaPart, value: object, schema: Mapping[str, SchemaPart], root: Root) -> bool:
    if not isinstance(value, dict) or not isinstance(argument, dict):
        return True
    return all(_required(needed, value, schema, root) for key, needed in argument.items() if key in value)


def _listed(schemas: SchemaPart) -> list[SchemaPart]:
    assert isinstance(schemas, list)
    return schemas


def _any_of(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    for schema in _listed(argument):  # noqa: SIM110
        if accepts(schema, value, root):
            return True
    return False


KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "enum": lambda choices, value, _, __: isinstance(value, str) and isinstance(choices, list) and value in choices,
    "const": lambda text, value, _, __: isinstance(value, str) and value == text,
    "pattern": lambda text, value, _, __: not isinstance(value, str) or re.search(str(text), value) is not None,
    "minLength": lambda least, value, _, __: not isinstance(value, str) or len(value) >= least,  # type: ignore[operator]
    "maxLength": lambda most, value, _, __: not isinstance(value, str) or len(value) <= most,  # type: ignore[operator]
    "minimum": lambda least, value, _, __: not _is_of_type("number", value) or not value < least,  # type: ignore[operator]
    "maximum": lambda most, value, _, __: not _is_of_type("number", value) or not value > most,  # type: ignore[operator]
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "propertyNames": lambda schema, value, _, root: (
        not isinstance(value, dict) or all(accepts(schema, key, root) for key in value)
    ),
    "dependencies": _dependencies,
    "items": lambda schema, value, _, root: (
        not isinstance(value, list) or all(accepts(schema, item, root) for item in value)
    ),
    "minItems": lambda least, value, _, __: not isinstance(value, list) or len(value) >= least,  # type: ignore[operator]
    "maxItems": lambda most, value, _, __: not isinstance(value, list) or len(value) <= most,  # type: ignore[operator]
    "anyOf": _any_of,
    "oneOf": lambda schemas, value, _, root: sum(accepts(schema, value, root) for schema in _listed(schemas)) == 1,
    "allOf": lambda schemas, value, _, root: all(accepts(schema, value, root) for schema in _listed(schemas)),
    "not": lambda schema, value, _, root: not accepts(schema, value, root),
    "if": lambda schema, value, around, root: not accepts(schema, value, root) or accepts(around["then"], value, root),
}
"""The interpreted keywords besides ``$ref``: ``enum`` of strings, ``dependencies`` on keys, ``if`` without ``else``."""

ANNOTATIONS = frozenset(
    {
        *("$schema", "$id", "$comment", "$ref", "title", "description", "default", "examples", "definitions", "then"),
        "patternErrorMessage",
    }
)
"""Keywords without a check of their own: descriptions, names of parts, and ``then``, which ``if`` reads."""

"""The JSON Schema of the job spec, as authors may write it and as a merged job must be, and every key in it.

A key has a path; `*` is a name that the author chooses, or any item of a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Union

from smspec.source import Path
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

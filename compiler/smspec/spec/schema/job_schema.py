"""The JSON Schema of the job spec, as authors may write it and as a merged job must be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Union

from smspec_schemas import JOB_SCHEMA

SchemaPart = Union[None, bool, int, float, str, list["SchemaPart"], dict[str, "SchemaPart"]]


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

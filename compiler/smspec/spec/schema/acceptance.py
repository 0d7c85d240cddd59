"""Return whether a value fits a JSON Schema, without a reason.

Importing jsonschema takes longer than all the rest of `smspec validate`, so this module interprets the keywords of
draft 7 that the schema of the spec uses, and leaves any other to jsonschema. For a value that does not fit,
`smspec.spec.shape.shape_faults` calls it on smaller and smaller parts. A test checks both against jsonschema. Checks of
every value are written as loops: `any` and `all` would take twice as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from smspec.source.memo import ByIdentity
from smspec.spec.schema.job_schema import SchemaPart, part, target

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
    return name in _TYPES.get(type(value), ())


_TYPES: dict[type, tuple[str, ...]] = {
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


def _enum(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return isinstance(value, str) and isinstance(argument, list) and value in argument


def _const(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return isinstance(value, str) and value == argument


def _pattern(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, str) or re.search(str(argument), value) is not None


def _min_length(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, str) or not isinstance(argument, int) or len(value) >= argument


def _max_length(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, str) or not isinstance(argument, int) or len(value) <= argument


def _minimum(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not _is_of_type("number", value) or not value < argument  # type: ignore[operator]  # both are numbers


def _maximum(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not _is_of_type("number", value) or not value > argument  # type: ignore[operator]  # both are numbers


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


def _property_names(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    return not isinstance(value, dict) or all(accepts(argument, key, root) for key in value)


def _required(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, dict) or not isinstance(argument, list) or all(key in value for key in argument)


def _dependencies(argument: SchemaPart, value: object, schema: Mapping[str, SchemaPart], root: Root) -> bool:
    if not isinstance(value, dict) or not isinstance(argument, dict):
        return True
    return all(_required(needed, value, schema, root) for key, needed in argument.items() if key in value)


def _items(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    return not isinstance(value, list) or all(accepts(argument, item, root) for item in value)


def _min_items(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, list) or not isinstance(argument, int) or len(value) >= argument


def _max_items(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], __: Root) -> bool:
    return not isinstance(value, list) or not isinstance(argument, int) or len(value) <= argument


def _any_of(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    for schema in argument if isinstance(argument, list) else ():  # noqa: SIM110
        if accepts(schema, value, root):
            return True
    return False


def _one_of(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    return isinstance(argument, list) and sum(accepts(schema, value, root) for schema in argument) == 1


def _all_of(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    return isinstance(argument, list) and all(accepts(schema, value, root) for schema in argument)


def _not(argument: SchemaPart, value: object, _: Mapping[str, SchemaPart], root: Root) -> bool:
    return not accepts(argument, value, root)


def _if(argument: SchemaPart, value: object, schema: Mapping[str, SchemaPart], root: Root) -> bool:
    return not accepts(argument, value, root) or accepts(schema["then"], value, root)


KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "pattern": _pattern,
    "minLength": _min_length,
    "maxLength": _max_length,
    "minimum": _minimum,
    "maximum": _maximum,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional_properties,
    "propertyNames": _property_names,
    "dependencies": _dependencies,
    "items": _items,
    "minItems": _min_items,
    "maxItems": _max_items,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "allOf": _all_of,
    "not": _not,
    "if": _if,
}
"""The interpreted keywords besides ``$ref``: ``enum`` of strings, ``dependencies`` on keys, ``if`` without ``else``."""

ANNOTATIONS = frozenset(
    {
        *("$schema", "$id", "$comment", "$ref", "title", "description", "default", "examples", "definitions", "then"),
        "patternErrorMessage",
    }
)
"""Keywords without a check of their own: descriptions, names of parts, and ``then``, which ``if`` reads."""

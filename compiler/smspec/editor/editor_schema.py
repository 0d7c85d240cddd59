"""The JSON Schema that `smspec schema` prints: the published one, with what YAML language servers show and offer.

It accepts exactly what the published schema accepts. The keywords beyond draft 7 (``markdownDescription``,
``enumDescriptions``, ``defaultSnippets``, ``doNotSuggest``) are those of vscode-json-languageservice and
yaml-language-server, src/languageservice/jsonSchema.ts.

Every command reads the published schema, which would be three times as large with them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from smspec.editor.choice_words import CHOICE_WORDS
from smspec.editor.instance_words import instance_words, prices_for
from smspec.service.facts.instances import known_types
from smspec.spec.schema.job_schema import KeySchema, SchemaPart, keys_below, part, spec_keys, strict, types, written_key
from smspec.spec.schema.reference import explain_key
from smspec.spec.yaml.scalars import flow_style
from smspec_schemas import JOB_SCHEMA

_TYPES = ("array", "boolean", "number", "object", "string")
_CONDITIONS = ("complete", "patchedAlgorithm", "patchedDataSource")
_KNOWN_TYPES = "instanceTypes"


def editor_schema() -> KeySchema:
    """Return a new schema for editors; OSError if the published one cannot be read."""
    with open(JOB_SCHEMA, encoding="utf-8") as file:
        content: KeySchema = json.load(file)
    for path, key in keys_below(content, ()):
        key["markdownDescription"] = (explain_key(written_key(path)) or "").partition("\n\n")[2].strip()
        examples = key.pop("examples")
        assert isinstance(examples, list)
        if path[-1] == "instance_type":
            key["defaultSnippets"] = [_instance_type(str(kind)) for kind in examples]
            key["allOf"] = [{"$ref": f"#/definitions/{_KNOWN_TYPES}"}]
        elif written_key(path) in CHOICE_WORDS:
            _describe_choices(key, CHOICE_WORDS[written_key(path)])
        elif path[-1] != "*" or "array" not in types(spec_keys()[path[:-1]]):
            _offer_examples(key, examples)
    for schema in list(_schemas(content)):
        _accept_null_without_offering_it(schema)
    definitions = part(content, "definitions")
    # These only say what a whole job needs; its keys are offered from where they are described.
    for schema in list(_schemas([definitions[name] for name in _CONDITIONS])):
        for required in part(schema, "properties").values():
            if isinstance(required, dict):
                required["doNotSuggest"] = True
    definitions[_KNOWN_TYPES] = {"defaultSnippets": [_instance_type(kind) for kind in known_types()]}
    return content


def _describe_choices(key: KeySchema, words: Mapping[str, str]) -> None:
    for schema in _schemas(key):
        listed = schema.get("enum")
        if isinstance(listed, list):
            schema["enumDescriptions"] = [words[str(value)] for value in listed]


def _offer_examples(key: KeySchema, examples: list[SchemaPart]) -> None:
    """Make snippets of examples: they have labels, tab stops, and no second place in the hover.

    Editors also offer a snippet inside of a mapping or list, where only a mapping fits: other examples stay what they
    are if the key can be one. For a list of mappings they offer the keys of an item; they always offer true and false.
    """
    shapes = set(types(strict(key))) & {"object", "array"}
    snippets = [example for example in examples if isinstance(example, dict) or not shapes]
    others = [example for example in examples if example not in snippets and "title" not in part(key, "items")]
    if others:
        key["examples"] = others
    if snippets and "boolean" not in types(strict(key)):
        has_forms = {"string", "object"} <= set(types(key))
        key["defaultSnippets"] = [_snippet(example, has_forms=has_forms) for example in snippets]


def _snippet(example: SchemaPart, *, has_forms: bool) -> KeySchema:
    """Return an example with tab stops. ``has_forms``: the key can be a string for short, or a mapping."""
    if isinstance(example, dict) and example:
        body: SchemaPart = {name: _tab_stop(stop, value) for stop, (name, value) in enumerate(example.items(), 1)}
    else:
        body = _tab_stop(1, example)
    snippet: KeySchema = {"label": flow_style(example), "body": body}
    if has_forms:
        snippet["description"] = "long form"
    return snippet


def _tab_stop(number: int, value: SchemaPart) -> str:
    text = flow_style(value).replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")
    return f"${{{number}:{text}}}"


def _accept_null_without_offering_it(schema: KeySchema) -> None:
    """Say "null, or one of these types" in a form that no editor takes for a list of values to complete."""
    allowed = schema.get("type")
    if isinstance(allowed, list) and "null" in allowed:
        assert "if" not in schema
        del schema["type"]
        kept = [name for name in allowed if name != "null"]
        schema["if"] = {"type": [*_TYPES]}
        schema["then"] = {"type": kept[0] if len(kept) == 1 else kept}


def _instance_type(kind: str) -> KeySchema:
    return {"label": kind, "description": instance_words(kind, prices_for(None, None)), "body": kind}


def _schemas(schema: SchemaPart) -> Iterator[KeySchema]:
    """Yield a schema and all within it, without what is an example."""
    if isinstance(schema, dict):
        yield schema
        for name, inner in schema.items():
            if name in ("properties", "definitions") and isinstance(inner, dict):
                # The names in it are of keys: `default` and `enum` are some, too.
                yield from (found for child in inner.values() for found in _schemas(child))
            elif name not in ("examples", "default", "enum", "defaultSnippets"):
                yield from _schemas(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _schemas(inner)

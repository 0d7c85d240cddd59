"""The schema that `smspec schema` prints: what it accepts is published, what it shows is for editors."""

import json
import re
from textwrap import indent

import pytest
from jsonschema import Draft7Validator

from smspec.editor.editor_schema import CHOICE_WORDS, editor_schema
from smspec.source import SourceText, to_data
from smspec.spec.schema import author_schema, keys_below, spec_keys, written_key
from smspec.spec.yaml import read
from support.smspec_command import smspec

SHOWN = {
    *("title", "description", "default", "examples", "$comment", "patternErrorMessage"),
    *("markdownDescription", "enumDescriptions", "defaultSnippets", "doNotSuggest"),
}
ANY_BUT_NULL = ["array", "boolean", "number", "object", "string"]
PRINTED = json.loads(smspec("schema").out)
KEYS = dict(keys_below(PRINTED, ()))


def schemas_in(schema, below=""):
    if isinstance(schema, dict):
        if below not in ("properties", "definitions"):
            yield schema
        for name, inner in schema.items():
            if below in ("properties", "definitions") or name not in SHOWN:
                yield from schemas_in(inner, "" if below in ("properties", "definitions") else name)
    elif isinstance(schema, list):
        for inner in schema:
            yield from schemas_in(inner)


def claims(schema, below=""):
    """Return a schema without what it only shows; the form that accepts null without offering it is `type` again."""
    if isinstance(schema, list):
        return [claims(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        name: claims(inner, "" if below in ("properties", "definitions") else name)
        for name, inner in schema.items()
        if below in ("properties", "definitions") or name not in SHOWN
    }
    if found.get("if") == {"type": ANY_BUT_NULL}:
        del found["if"]
        allowed = found.pop("then")["type"]
        found["type"] = [*([allowed] if isinstance(allowed, str) else allowed), "null"]
    if isinstance(found.get("type"), list):
        found["type"] = sorted(found["type"])
    if found.get("allOf") == [{"$ref": "#/definitions/instanceTypes"}]:
        del found["allOf"]
    return found


def test_printed_schema_accepts_what_the_published_one_accepts():
    Draft7Validator.check_schema(PRINTED)
    printed = claims(PRINTED)
    assert printed["definitions"].pop("instanceTypes") == {}
    assert printed == claims(author_schema())
    assert editor_schema() == PRINTED
    validator = Draft7Validator(PRINTED)
    for data in ({"smspec": "v1", "spot": None, "input_mode": None}, {"smspec": "v1", "hosts": {"instance_type": "x"}}):
        assert validator.is_valid(data)
    for data in ({"smspec": "v1", "spot": 3}, {"smspec": "v1", "input_mode": "pipe"}, {"smspec": "v1", "source": []}):
        assert not validator.is_valid(data)


def test_editors_offer_no_null():
    """They complete the values of `type`, `enum`, and `const`."""
    for schema in schemas_in(PRINTED):
        assert "null" not in schema.get("type", ())
        assert None not in schema.get("enum", ())
        assert schema.get("const", 1) is not None


def test_every_key_shows_its_page():
    assert KEYS.keys() == spec_keys().keys()
    for key in KEYS.values():
        assert "- value: " in key["markdownDescription"]
        assert "```yaml" in key["markdownDescription"]


def test_every_choice_is_described():
    described = {}
    for key, schema in KEYS.items():
        places = [*schema.get("anyOf", ()), *(schema.get("additionalProperties") or {}).get("anyOf", ())]
        for inner in places:
            if "enum" in inner:
                described[written_key(key)] = dict(zip(inner["enum"], inner["enumDescriptions"], strict=True))
    assert described == CHOICE_WORDS
    assert all("enumDescriptions" in schema for schema in schemas_in(PRINTED) if isinstance(schema.get("enum"), list))


def without_tab_stops(body):
    """Return the text that a snippet leaves if no tab stop is changed; a mapping in YAML's block style."""
    if isinstance(body, dict):
        return "\n".join(f"{name}: {without_tab_stops(text)}" for name, text in body.items())
    (text,) = re.fullmatch(r"\$\{\d+:((?:[^\\}]|\\.)*)\}", body, re.DOTALL).groups()
    return re.sub(r"\\(.)", r"\1", text)


SNIPPETS = [
    pytest.param(key, snippet, id=f"{written_key(key)} {number}")
    for key, schema in KEYS.items()
    for number, snippet in enumerate(schema.get("defaultSnippets", ()))
    if key[-1] != "instance_type"
]


@pytest.mark.parametrize(("key", "snippet"), SNIPPETS)
def test_snippet_inserts_an_example_of_the_key(key, snippet):
    text = without_tab_stops(snippet["body"])
    below = f"example:\n{indent(text, '  ')}\n" if isinstance(snippet["body"], dict) else f"example: {text}\n"
    inserted = to_data(read(SourceText("example.yaml", below)).root)["example"]
    examples = spec_keys()[key]["examples"]
    assert inserted in examples
    assert snippet["label"]


def test_mappings_and_instance_types_have_snippets():
    for name in ("channels", "channels.*", "entry_point", "hosts", "spot", "distribution", "source"):
        snippets = KEYS[tuple(name.split("."))]["defaultSnippets"]
        assert all(isinstance(snippet["body"], dict) for snippet in snippets)
    known = {one["label"]: one["description"] for one in PRINTED["definitions"]["instanceTypes"]["defaultSnippets"]}
    assert "1 GPU" in known["ml.g5.xlarge"]
    assert len(known) > 100


def test_every_alternative_has_a_label():
    """Editors name the first label that they find, else the name of the definition."""
    assert [name for name, schema in PRINTED["definitions"].items() if "title" not in schema] == ["instanceTypes"]


def test_keys_are_offered_from_one_place():
    """A condition on a key does not describe it."""
    for schema in schemas_in(PRINTED):
        for key in schema.get("properties", {}).values():
            assert not isinstance(key, dict) or "title" in key or "$ref" in key or key["doNotSuggest"]

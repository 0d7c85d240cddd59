"""The acceptor and jsonschema agree on every document and fault."""

import copy
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from smspec.source import Document
from smspec.spec import shape
from smspec.spec.decoding import decode
from smspec.spec.schema import ANNOTATIONS, KEYWORDS, accepts, author_schema, merged_schema
from smspec.spec.shape import shape_faults as shape_faults_of
from smspec.spec.shape import shape_findings, viewed
from smspec.spec.shape.shape_faults import REFERENCE, ShapeFault, shape_faults
from support.examples import at_most
from support.small_job import READY
from support.spec.job_documents import document_of, merged_text, whole_job

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 70_000),
    st.floats(),
    st.sampled_from([4.0, 1e300, 0.5]),
    st.text(max_size=6),
    st.sampled_from(
        ["v1", "x", "${{ vars.x }}", "90s", "1h30m", "50GB", "500MB", "2000MB", "32MB", "auto", "Pipe", "pipe", "None"]
    ),
    st.sampled_from(["s3://a/b", "s3://a\n", "ctr\n", "a" * 49, "m:f", "mpi", "us-west-2", "111122223333"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["s3", "name", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(data, path=()):
    """Return the path of every part of ``data``."""
    found = [path] if path else []
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in children:
        found += places(value, (*path, key))
    return found


def all_keys(data):
    return sorted({key for path in places(data) for key in path if isinstance(key, str)})


@st.composite
def changed_jobs(draw, most=3):
    """Return a good job with some values replaced, keys removed and keys added."""
    data = whole_job()
    for _ in range(draw(st.integers(1, most))):
        path = draw(st.sampled_from(places(data)))
        parent = data
        for step in path[:-1]:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "remove", "add"]))
        if change == "replace":
            parent[path[-1]] = draw(VALUES)
        elif change == "remove":
            del parent[path[-1]]
        elif isinstance(parent, dict):
            parent[draw(st.sampled_from([*all_keys(whole_job()), "script", "module", "torchrun", "args"]))] = draw(
                VALUES
            )
    return data


@settings(max_examples=at_most(400))
@given(changed_jobs())
def test_both_validators_agree(data):
    for schema in (author_schema(), merged_schema()):
        assert accepts(schema, data, schema) == Draft7Validator(schema).is_valid(data)


def faults_of(errors):
    """Return what jsonschema reports, each once: it has an error for every key that is missing in one mapping."""
    faults = []
    for error in errors:
        if error.validator == "anyOf" and error.validator_value[-1] == REFERENCE:
            faults += faults_of(inner for inner in error.context if inner.relative_schema_path[0] == 0)
            continue
        on_key = "propertyNames" in error.absolute_schema_path
        fault = ShapeFault(
            path=(*error.absolute_path, error.instance) if on_key else tuple(error.absolute_path),
            keyword=error.validator,
            argument=error.validator_value,
            schema=error.schema,
            value=error.instance,
            on="key" if on_key else "value",
        )
        if fault not in faults:
            faults.append(fault)
    return faults


@settings(max_examples=at_most(400))
@given(changed_jobs(most=8))
def test_both_validators_find_the_same_faults(data):
    """Not in the same order: that of jsonschema depends on a set of names, so on the seed of their hashes."""

    def ordered(faults):
        return sorted(faults, key=lambda fault: (list(map(str, fault.path)), fault.keyword, str(fault.argument)))

    found = list(shape_faults(data))
    assert ordered(found) == ordered(faults_of(Draft7Validator(merged_schema()).iter_errors(data)))


@settings(max_examples=at_most(400))
@given(changed_jobs())
def test_schema_and_decoder_agree_on_any_document(data):
    document = document_of(data)
    view = viewed(document.root)
    findings = shape_findings(document)
    assert bool(findings) != Draft7Validator(merged_schema()).is_valid(view)
    # An expression is replaced by what its variable holds before anything is decoded.
    if not findings and "${{" not in json.dumps(data):
        decode(document)
    for finding in findings:
        assert finding.code.startswith("SM2")
        assert finding.message
        assert finding.message[0] in "`" or finding.message[0].islower()
        assert not finding.message.endswith(".")


def test_whole_job_is_accepted():
    assert shape_findings(document_of(whole_job())) == []


def test_every_schema_keyword_is_interpreted():
    used = set()

    def walk(schema):
        if not isinstance(schema, dict):
            return
        used.update(schema)
        for key in ("properties", "definitions"):
            for inner in schema.get(key, {}).values():
                walk(inner)
        for key in ("additionalProperties", "items", "propertyNames", "not", "if", "then"):
            walk(schema.get(key))
        for key in ("anyOf", "oneOf", "allOf"):
            for inner in schema.get(key, ()):
                walk(inner)

    walk(author_schema())
    assert used - ANNOTATIONS == set(KEYWORDS), (
        "every keyword of the schema is interpreted, and none is interpreted in vain"
    )


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"uniqueItems": True}, ["a", "b"], ["a", "a"]),
        ({"items": {"multipleOf": 64}}, [128, 64], [128, 65]),
        ({"type": "object", "minProperties": 1}, {"a": 1}, {}),
        ({"properties": {"a": {"contains": {"$ref": "#/definitions/x"}}}}, {"a": ["y", "x"]}, {"a": ["y"]}),
        ({"items": {"type": "integer", "exclusiveMinimum": 0}}, [1], [0]),
    ],
)
def test_uninterpreted_keyword_falls_back_to_jsonschema(schema, good, bad):
    root = {**schema, "definitions": {"x": {"const": "x"}}}
    assert accepts(root, good, root)
    assert not accepts(root, bad, root)


def test_keyword_without_a_message_is_still_reported(monkeypatch):
    schema = copy.deepcopy(merged_schema())
    schema["properties"]["retries"]["multipleOf"] = 5
    monkeypatch.setattr(shape_faults_of, "merged_schema", lambda: schema)
    monkeypatch.setattr(shape, "merged_schema", lambda: schema)
    assert shape_findings(merged_text(READY + "retries: 10\n")) == []
    [finding] = shape_findings(merged_text(READY + "retries: 7\n"))
    assert (finding.message, finding.path) == (
        "`retries` does not meet `multipleOf: 5`, got integer `7`",
        ("retries",),
    )


@pytest.mark.parametrize("value", [4, 4.0])
def test_integer_may_have_a_decimal_point(value):
    data = whole_job()
    data["hosts"]["count"] = value
    assert shape_findings(document_of(data)) == []


def test_valid_spec_loads_no_jsonschema():
    """jsonschema takes longer to import than the rest of a validation takes."""
    script = (
        "import sys\n"
        "from smspec.spec.layers import merged\n"
        "from smspec.spec.yaml import read\n"
        "from smspec.source import SourceText\n"
        "from smspec.spec.shape import shape_findings\n"
        "from smspec.spec.decoding import decode\n"
        f"document = merged([read(SourceText('job.yaml', {READY!r}))])\n"
        "assert shape_findings(document) == []\n"
        "decode(document)\n"
        "print(sorted({'jsonschema', 'difflib', 'pathlib', 'importlib.metadata'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_unreplaced_reference_is_not_a_value():
    """Merging replaces them all; the check does not rely on it."""
    document = merged_text(READY)
    entries = [(key, value) for key, value in document.root.entries if key.text != "name"]
    name = document_of({"name": "${{ vars.name }}"}).root.entries[0]
    changed = Document(type(document.root)((*entries, name), document.root.span), document.texts)
    assert [finding.code for finding in shape_findings(changed)] == ["SM208"]


def test_accepted_value_does_not_vouch_for_an_equal_one():
    """What was accepted once is not looked at again: not for a different type, part, or meaning of a reference."""
    words = {"type": "object", "additionalProperties": {"$ref": "#/definitions/word"}}
    numbers = {"type": "array", "items": {"type": "integer"}}
    whole = {"count": {"type": "integer"}, "words": words, "numbers": numbers}
    root = {"properties": whole, "definitions": {"word": {"type": "string"}, "complete": {"properties": whole}}}
    assert accepts(root, {"words": {"a": "1"}, "numbers": [1, 0]}, root)
    assert accepts(root, {"words": {"a": "1"}, "numbers": [1, 0]}, root)
    for data in ({"numbers": [True, False]}, {"numbers": ["1", "0"]}, {"words": {"a": 1}}, {"words": [1, 0]}):
        assert not accepts(root["definitions"]["complete"], data, root)
        assert not accepts(root, data, root)
    assert accepts(root, {"count": 1}, root)
    assert not accepts(root, {"count": True}, root)
    other = {**root, "definitions": {"word": {"type": "integer"}}}
    assert not accepts(other, {"words": {"a": "1"}}, other)
    assert accepts(other, {"words": {"a": 1}}, other)
    assert not accepts(root, {"words": {"a": 1}}, root)

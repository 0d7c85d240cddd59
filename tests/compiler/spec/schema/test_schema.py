"""The schema as documentation: complete descriptions and valid examples."""

import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from smspec.source import SourceText, to_data
from smspec.spec.layers import merged
from smspec.spec.schema import author_schema, key_path_of_text, merged_schema, spec_keys, strict, written_key
from smspec.spec.schema.reference import explain_key, is_required, keys
from smspec.spec.shape import shape_findings
from smspec.spec.yaml import read
from smspec.spec.yaml.events import flow_style
from support.spec.job_documents import whole_job

ROOT = Path(__file__).parents[4]
SCHEMA = author_schema()
DEFINITIONS = SCHEMA["definitions"]
SPECS = sorted((ROOT / "specs").glob("*/*.yaml"))
REFERENCE = {"$ref": "#/definitions/reference"}
VALIDATOR = Draft7Validator(SCHEMA)


def schemas_in(schema):
    """Return every schema within one."""
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from schemas_in(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from schemas_in(value)


def test_schema_is_draft_7():
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    Draft7Validator.check_schema(SCHEMA)
    Draft7Validator.check_schema(merged_schema())
    # An identifier below a reserved top-level domain: nobody can serve anything there.
    assert SCHEMA["$id"] == "https://smspec.example/schemas/v1/job.schema.json"


def test_every_key_is_explained():
    for key, schema in spec_keys().items():
        assert schema["title"][0].isupper() or schema["title"] == key[-1]
        assert not schema["title"].endswith(".")
        assert schema["description"].endswith((".", ".)")), key
        assert len(schema["description"]) > 10
        assert schema["examples"], key
        # Markdown takes what looks like a tag for one, and shows nothing of it.
        assert "<" not in re.sub(r"`[^`]*`", "", schema["description"])


def examples():
    return [(key, schema, example) for key, schema in spec_keys().items() for example in schema["examples"]]


def test_every_example_is_valid():
    for key, schema, example in examples():
        assert [error.message for error in VALIDATOR.descend(example, schema)] == [], key


def test_every_example_is_printed_as_equal_yaml():
    for _, _, example in examples():
        text = flow_style({"example": example, "list": [example]})
        assert to_data(read(SourceText("example.yaml", text)).root) == {"example": example, "list": [example]}
        block = f"example: {flow_style(example)}\n"
        assert to_data(read(SourceText("example.yaml", block)).root) == {"example": example}


@pytest.mark.parametrize("key", ["smspec", "extends", "overlays"])
def test_overlay_has_every_key_except_layer_keys(key):
    overlay = DEFINITIONS["overlay"]["properties"]
    assert set(SCHEMA["properties"]) - set(overlay) == {"smspec", "extends", "overlays"}
    assert key not in overlay
    assert all(schema == {"$ref": f"#/properties/{name}"} for name, schema in overlay.items())


def test_reference_is_always_the_last_of_two_alternatives():
    """The compiler rules it out in merged jobs, and editors show the first."""
    for schema in schemas_in(SCHEMA):
        alternatives = schema.get("anyOf")
        if isinstance(alternatives, list) and REFERENCE in alternatives:
            assert alternatives.index(REFERENCE) == 1
            assert len(alternatives) == 2


def test_value_may_be_a_reference_or_null():
    for key, schema in spec_keys().items():
        if key[0] in ("smspec", "extends", "vars", "overlays") or "ignore" in key or "metrics" in key:
            continue
        types = strict(schema).get("type", "string")
        is_text = "string" in types or "integer" in types or "boolean" in types
        assert not is_text or not list(VALIDATOR.descend("${{ vars.x }}", schema)), key
        if not {"groups", "any_of"} & set(key):  # a null in a list removes nothing
            assert not list(VALIDATOR.descend(None, schema)), key


def test_every_pattern_has_an_error_message():
    for schema in schemas_in(SCHEMA):
        if isinstance(schema.get("pattern"), str):
            assert schema["patternErrorMessage"].startswith("expected ")
            re.compile(schema["pattern"])
            # Python's `$` also stands before a final line break, JavaScript's does not.
            assert not re.search(r"\$$", schema["pattern"])


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_example_specs_are_valid_as_written(path):
    data = to_data(read(SourceText(str(path), path.read_text())).root)
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@pytest.mark.parametrize("path", SPECS, ids=lambda path: str(path.relative_to(ROOT)))
def test_example_jobs_match_the_merged_schema(path):
    assert shape_findings(merged([read(SourceText(str(path), path.read_text()))])) == []


AS_TYPED = """\
smspec: v1
extends: [../org/base.yaml]
name: bert-${{ vars.size }}
account: "111122223333"
image: ${{ vars.image }}
entry_point: {script: train.py, args: [--size, "${{ vars.size }}"]}
input_mode: ${{ vars.mode }}
hosts: {count: "${{ vars.hosts }}", volume: "${{ vars.volume }}", instance_type: "ml.${{ vars.type }}"}
stopping: {max_runtime: "${{ vars.hours }}h"}
network: {isolation: "${{ vars.isolated }}"}
output: {kms_key: alias/x}
spot: null
channels: {train: null, other: "s3://a/${{ vars.size }}/", third: {content_type: null, shuffle_seed: null}}
environment: {A: 1, B: 0.5, C: true, D: null}
vars: {size: {default: 7b, enum: [7b, 13b], description: parameters}, hosts: {default: 4}}
overlays:
  dev: {hosts: {count: 1}, spot: null, stopping: {max_runtime: null}, input_mode: null, checkpoints: null}
  big: {entry_point: {args: [a]}, channels: {train: {input_mode: FastFile}}, output: {compression: NONE}}
"""


def test_partial_spec_is_valid_as_written():
    data = to_data(read(SourceText("job.yaml", AS_TYPED)).root)
    assert [error.message for error in VALIDATOR.iter_errors(data)] == []


@pytest.mark.parametrize("missing", ["role", "output", "image", "hosts", "entry_point"])
def test_editor_reports_the_missing_keys_of_a_whole_job(missing):
    data = whole_job()
    del data[missing]
    assert any(missing in error.message for error in VALIDATOR.iter_errors(data))
    data["extends"] = ["base.yaml"]
    assert VALIDATOR.is_valid(data), "the base may have it"
    del data["extends"], data["name"]
    assert VALIDATOR.is_valid(data), "a base need not be whole"


def test_base_is_valid_without_a_name():
    assert VALIDATOR.is_valid({"smspec": "v1", "hosts": {"instance_type": "ml.m5.large"}})
    assert not VALIDATOR.is_valid({"hosts": {}})


def test_explain_has_a_page_for_every_key():
    assert len(keys()) == len(spec_keys())
    for key in keys():
        page = explain_key(key)
        assert page.startswith(f"# {key}: ")
        assert page.endswith("```\n")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("hosts.count", "hosts.count"),
        ("channels.train.input_mode", "channels.*.input_mode"),
        ("channels.NAME.input_mode", "channels.*.input_mode"),
        ("channels.*.input_mode", "channels.*.input_mode"),
        ("metrics[0].name", "metrics.*.name"),
        ("hosts.groups[].count", "hosts.groups.*.count"),
        ("hosts.groups.*", "hosts.groups.*"),
        ("vars.size", "vars.*"),
        ("overlays.dev.hosts.count", "hosts.count"),
        ("overlays", "overlays"),
        ("hosts.cuont", None),
        ("", None),
        ("..", None),
        ("hosts.count.more", None),
    ],
)
def test_key_can_be_spelled_in_several_ways(text, key):
    found = key_path_of_text(text)
    assert (written_key(found) if found else None) == key
    assert (explain_key(text) is None) == (key is None)


def test_explanation_lists_value_default_and_example():
    page = explain_key("input_mode")
    assert "- value: `File`, `FastFile`, or `Pipe`\n- default: `File`\n" in page
    assert "```yaml\ninput_mode: Pipe\n```\n" in page
    assert "- required\n" in explain_key("role")


def test_required_keys_are_listed():
    assert [written_key(key) for key in spec_keys() if is_required(key)] == [
        "smspec",
        "name",
        "role",
        "image.base",
        "source.dir",
        "channels.*.file_system.id",
        "channels.*.file_system.type",
        "channels.*.file_system.path",
        "channels.*.file_system.access",
        "hosts.groups.*.name",
        "hosts.groups.*.instance_type",
        "hosts.groups.*.count",
        "distribution.parameter_server.framework",
        "queue.name",
        "output",
        "output.s3",
        "checkpoints.s3",
        "metrics.*.name",
        "metrics.*.regex",
        "checks.ignore.*.rule",
        "checks.ignore.*.because",
    ]


def test_example_reads_the_same_in_other_yaml_readers():
    for schema in spec_keys().values():
        for example in schema["examples"]:
            if "e-" not in str(example):
                assert yaml.safe_load(flow_style({"a": example})) == {"a": example}

"""What editors show of keys and values: the JSON Schema that `smspec schema` prints, and the words in it.

The schema accepts exactly what the published one accepts, and has what YAML language servers show and offer: what each
value of a key with a list of choices means, while the key has the longer description, and the devices, memory, and
price of an instance type. The keywords beyond draft 7 (``markdownDescription``, ``enumDescriptions``,
``defaultSnippets``, ``doNotSuggest``) are those of vscode-json-languageservice and yaml-language-server,
src/languageservice/jsonSchema.ts.

Every command reads the published schema, which would be three times as large with them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from smspec.diagnostics import InvalidInput
from smspec.service.facts import instance, known_types
from smspec.service.job_costs import JobPrices, PriceBook
from smspec.spec.schema import KeySchema, SchemaPart, keys_below, part, spec_keys, strict, types, written_key
from smspec.spec.schema.reference import explain_key
from smspec.spec.yaml.events import flow_style
from smspec_schemas import JOB_SCHEMA

_MODES = {
    "File": "downloads before the job starts",
    "FastFile": "streams files on first read",
    "Pipe": "streams through a FIFO per epoch",
}

CHOICE_WORDS = MappingProxyType(
    {
        "source.delivery": {
            "image": "copied into the image",
            "channel": "delivered as the input channel `code`",
            "s3": "delivered as sourcedir.tar.gz in S3",
        },
        "entry_point.args_style": {
            "toolkit": "as the SageMaker Training Toolkit does: sorted, with values as in Python",
            "json": "`--key value` in your order, with JSON values",
            "flags": "as `json`, but true is `--key`, false is omitted, and a list is `--key a b`",
            "none": "no arguments",
        },
        "entry_point.read": {
            "chunks": "raw bytes, for any content",
            "lines": "lines of text",
            "jsonlines": "parsed JSON lines",
            "csv": "parsed CSV rows",
            "recordio": "records of RecordIO",
            "recordio_protobuf": "records of RecordIO with SageMaker's protobuf messages",
            "augmented": "samples of an augmented manifest",
            "tfrecord": "records of TFRecord",
            "tar": "files of a tar archive",
        },
        "input_mode": _MODES,
        "channels.*.input_mode": _MODES,
        "channels.*.file_system.type": {"EFS": "Amazon EFS", "FSxLustre": "Amazon FSx for Lustre"},
        "channels.*.file_system.access": {"ro": "read only", "rw": "read and write"},
        "channels.*.s3_data_type": {
            "S3Prefix": "all objects under a prefix",
            "ManifestFile": "the objects listed in a manifest",
            "AugmentedManifestFile": "JSON lines with objects and labels; requires Pipe mode and `attributes`",
        },
        "channels.*.distribution": {
            "FullyReplicated": "each host gets all objects",
            "ShardedByS3Key": "each host gets a share of the objects",
        },
        "channels.*.compression": {
            "None": "no decompression",
            "Gzip": "decompressed by SageMaker, only in Pipe mode",
        },
        "channels.*.record_wrapper": {
            "None": "objects as they are",
            "RecordIO": "each S3 object in one RecordIO record, not in File mode",
        },
        "distribution.parameter_server.framework": {
            "mxnet": "the DMLC_* variables of MXNet",
            "tensorflow": "TF_CONFIG of TensorFlow",
        },
        "hyperparameter_encoding": {
            "json": "JSON, but strings have no quotes unless they would decode to something else",
            "json_strings": "JSON with all strings in quotes, like the SageMaker SDK",
            "raw": "as written in the spec",
        },
        "output.compression": {
            "GZIP": "uploads model.tar.gz",
            "NONE": "uploads the files uncompressed, which is better for large models",
        },
    }
)
"""By key, as `smspec explain` names it; for a mapping of names to choices, by the key of the mapping."""


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


def prices_for(path: str | None, region: str | None) -> JobPrices:
    """Return the prices that the organization lists for a spec; none if they cannot be read."""
    if path is None:
        return PriceBook().of({}, region)
    # Imported late: the schema needs no prices.
    from smspec.pipeline.input_cache import InputCache

    try:
        policy = InputCache().organization(os.path.dirname(path)).policy()
    except (InvalidInput, OSError):
        policy = None
    return (PriceBook() if policy is None else policy.prices).of({}, region)


def instance_words(kind: str, prices: JobPrices) -> str:
    """Return the facts about an instance type on one line; empty if nothing is known."""
    facts = instance(kind)
    words: list[str] = []
    if facts is not None:
        if facts.vcpus is not None:
            words.append(f"{facts.vcpus} vCPU")
        if facts.memory_bytes is not None:
            words.append(f"{facts.memory_bytes >> 30} GiB")
        if facts.gpus:
            words.append(f"{facts.gpus} GPU" + ("s" if facts.gpus > 1 else ""))
        if facts.neuron_cores:
            words.append(f"{facts.neuron_cores} Neuron cores")
        if facts.nvme_gb:
            words.append(f"{facts.nvme_gb} GB NVMe")
        if facts.efa_interfaces:
            words.append("EFA")
    price = prices.price(kind)
    if price is not None:
        as_of = f", as of {price.as_of}" if price.as_of else ""
        words.append(f"{float(price.amount):.2f} {price.currency}/h{as_of}")
    return " · ".join(words)

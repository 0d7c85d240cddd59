"""Parse a file as JSON, or as YAML in which one document is the training job."""

from __future__ import annotations

import re
from collections.abc import Callable

from smspec.diagnostics import InvalidInput
from smspec.importer.definitions.loose_reading import NotReadable, read_json_loosely, read_yaml_loosely
from smspec.importer.imported import NO_JOB, RequestNotFound
from smspec.importer.sources import is_definition
from smspec.importer.sources.terraform import FOR_A_PLAN
from smspec.service.json_parser import decode_json_bytes, read_json
from smspec.service.json_scanner import MAX_BYTES
from smspec.source import Document, SourceText, to_data
from smspec.source.frozen import dataclass
from smspec.spec.yaml import decode_bytes, read

# For a file that begins like this, the JSON parser has better error messages than a YAML parser.
_JSON = re.compile(rb"(\xef\xbb\xbf)?[ \t\r\n]*[{\[]")
_BETWEEN = re.compile(r"^(?:---|\.\.\.)(?=\s|$)[ \t]*", re.MULTILINE)
_TRAINING_JOB = re.compile(
    r"^kind:[ \t]*[\"']?(?:Hyper[Pp]arameterTuning|Training)Job[\"']?[ \t\r]*(#.*)?$", re.MULTILINE
)
# What has none of these is another kind of file: its errors as YAML are of no use.
_WORDS_OF_A_JOB = re.compile("TrainingJob|AlgorithmSpecification|OutputDataConfig|ResourceConfig|States|smspec")
_HELM = re.compile(r"\{\{-?\s*(?:\.(?:Values|Release|Chart)\b|include\b|if\b|range\b|with\b)")
# Terraform formats the blocks of a configuration without indentation; no mapping of YAML has such a line.
_CONFIGURATION = re.compile(
    rb"^(?:\xef\xbb\xbf)?"
    rb'(?:(?:resource|variable|data|module|output|provider)[ \t]+"|(?:locals|terraform|import|moved)[ \t]*\{)',
    re.MULTILINE,
)
_ENDINGS_OF_CONFIGURATIONS = (".tf", ".tf.json", ".tofu", ".tofu.json")
# The file that `terraform plan -out` writes, an archive whose first member is `tfplan`, and the log of `plan -json`.
_PLAN = re.compile(rb'PK\x03\x04.{26}tfplan|\{"@level":', re.DOTALL)
# An error in this must not quote the file: it may have values that Terraform marks as sensitive.
_JSON_OF_TERRAFORM = re.compile(
    rb'"(?:format_version|planned_values|sensitive_values|after_sensitive|lineage)"[ \t\r\n]*:'
)
_SOMETHING = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


MOST_BYTES = 16 * MAX_BYTES
"""What is read of a file: plans of Terraform have several megabytes."""
_MOST_DOCUMENTS = 200
OTHERS = "other documents of the file"


@dataclass(frozen=True, slots=True)
class ImportedSource:
    """The training job in a file; ``left_out`` describes what else the file contains."""

    data: object
    left_out: tuple[str, ...] = ()
    document: Document | None = None
    """The file with positions; None if only the tool of its definition can read it."""


def read_source(name: str, content: bytes) -> ImportedSource:
    """Return the training job in a file.

    Raise `InvalidInput` with the positions of errors, `RequestNotFound` if there is no job.
    """
    sources = read_sources(name, content)
    if len(sources) > 1:
        raise RequestNotFound(f"{len(sources)} documents have `kind: TrainingJob`; expected one, or -o DIR for all")
    return sources[0]


def read_sources(name: str, content: bytes) -> list[ImportedSource]:
    """Return the documents of a file that are training jobs, at least one. Raise as `read_source`."""
    if _PLAN.match(content):
        raise RequestNotFound(f"a plan of Terraform that is not JSON: {FOR_A_PLAN}")
    is_json = _JSON.match(content) is not None
    if name.endswith(_ENDINGS_OF_CONFIGURATIONS) or (not is_json and _CONFIGURATION.search(content)):
        raise RequestNotFound(f"a Terraform configuration: {FOR_A_PLAN}")
    if is_json:
        return [_of_json(name, content)]
    texts, is_whole = _documents(decode_bytes(name, content).text)
    return [_of_yaml(name, text, () if is_whole else (OTHERS,)) for text in texts]


def _of_yaml(name: str, text: str, others: tuple[str, ...]) -> ImportedSource:
    try:
        document = read(SourceText(name, text))
        return ImportedSource(to_data(document.root), others, document)
    except InvalidInput:
        loose = _loose(lambda: next(iter(read_yaml_loosely(text)), None)) if len(text) <= MAX_BYTES else None
        if loose is not None:
            return ImportedSource(loose, others)
        if _HELM.search(text):
            raise RequestNotFound("a Helm template: import the output of `helm template`") from None
        if _WORDS_OF_A_JOB.search(text):
            raise
        raise RequestNotFound(NO_JOB) from None


def _of_json(name: str, content: bytes) -> ImportedSource:
    try:
        document = read_json(decode_json_bytes(name, content))
        return ImportedSource(to_data(document.root), document=document)
    except InvalidInput:
        loose = _loose(lambda: read_json_loosely(content.decode("utf-8-sig")))
        if loose is None and _JSON_OF_TERRAFORM.search(content):
            raise RequestNotFound("output of Terraform that is cut off, not valid JSON, or nested too deep") from None
        if loose is None:
            raise
        return ImportedSource(loose)


def _loose(reading: Callable[[], object]) -> object:
    """Return a definition that the strict readers reject; None if it is something else.

    They reject what templates use: tags, aliases, placeholders without quotes, and several megabytes.
    """
    try:
        value = reading()
    except (NotReadable, UnicodeDecodeError):
        return None
    return value if is_definition(value) else None


def _documents(text: str) -> tuple[list[str], bool]:
    """Return the documents that are jobs, and whether there are no others.

    In each text, the others are blank, so that line numbers are kept.
    """
    ends = [match.start() for match in _BETWEEN.finditer(text)]
    parts = [_BETWEEN.sub("", text[start:end]) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    filled = [index for index, part in enumerate(parts) if _SOMETHING.search(part)]
    if len(filled) <= 1:
        return ["".join(parts)], True
    jobs = [index for index in filled if _TRAINING_JOB.search(parts[index])]
    if not jobs:
        raise RequestNotFound("0 documents have `kind: TrainingJob`; expected one")
    if len(jobs) > _MOST_DOCUMENTS:
        raise RequestNotFound(f"more than {_MOST_DOCUMENTS} documents have `kind: TrainingJob`")
    blank = ["\n" * part.count("\n") for part in parts]
    return ["".join((*blank[:job], parts[job], *blank[job + 1 :])) for job in jobs], jobs == filled

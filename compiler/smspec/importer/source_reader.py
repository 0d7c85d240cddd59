"""Parse a file as JSON, or as YAML in which one document is the training job."""

from __future__ import annotations

import re

from smspec.diagnostics import InvalidInput
from smspec.importer.imported import NO_JOB, RequestNotFound
from smspec.service.json.encoding import decode_json_bytes
from smspec.service.json.json_parser import read_json
from smspec.source import Document, SourceText, to_data
from smspec.source.frozen import dataclass
from smspec.spec.yaml.yaml_reader import decode_bytes, read

# For a file that begins like this, the JSON parser has better error messages than a YAML parser.
_JSON = re.compile(rb"(\xef\xbb\xbf)?[ \t\r\n]*[{\[]")
_BETWEEN = re.compile(r"^(?:---|\.\.\.)(?=\s|$)[ \t]*", re.MULTILINE)
_TRAINING_JOB = re.compile(r"^kind:[ \t]*[\"']?TrainingJob[\"']?[ \t\r]*(#.*)?$", re.MULTILINE)
# What has none of these is another kind of file: its errors as YAML are of no use.
_WORDS_OF_A_JOB = re.compile("TrainingJob|AlgorithmSpecification|OutputDataConfig|ResourceConfig|States|smspec")
_SOMETHING = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


OTHERS = "other documents of the file"


@dataclass(frozen=True, slots=True)
class Source:
    """The training job in a file, with positions; ``left_out`` describes what else the file contains."""

    document: Document
    left_out: tuple[str, ...] = ()

    @property
    def data(self) -> object:
        return to_data(self.document.root)


def read_source(name: str, content: bytes) -> Source:
    """Return the training job in a file.

    Raise `InvalidInput` with the positions of errors, `RequestNotFound` if there is no job.
    """
    if _JSON.match(content):
        return Source(read_json(decode_json_bytes(name, content)))
    text, is_alone = _one_document(decode_bytes(name, content).text)
    try:
        return Source(read(SourceText(name, text)), () if is_alone else (OTHERS,))
    except InvalidInput:
        if _WORDS_OF_A_JOB.search(text):
            raise
        raise RequestNotFound(NO_JOB) from None


def _one_document(text: str) -> tuple[str, bool]:
    """Return the text with all other documents blanked, so that line numbers are kept, and whether there are none."""
    ends = [match.start() for match in _BETWEEN.finditer(text)]
    parts = [_BETWEEN.sub("", text[start:end]) for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    filled = [index for index, part in enumerate(parts) if _SOMETHING.search(part)]
    is_alone = len(filled) <= 1
    if not is_alone:
        filled = [index for index in filled if _TRAINING_JOB.search(parts[index])]
        if len(filled) != 1:
            raise RequestNotFound(f"{len(filled)} documents have `kind: TrainingJob`; expected one")
    kept = "".join(part if index in filled else "\n" * part.count("\n") for index, part in enumerate(parts))
    return kept, is_alone

"""From the bytes of a file to data: JSON, or YAML, of which one document is the training job."""

from __future__ import annotations

import re

from smspec.importer.imported import RequestNotFound
from smspec.service.json.encoding import decode_json_bytes
from smspec.service.json.json_parser import read_json
from smspec.source import Document, SourceText, to_data
from smspec.source.frozen import dataclass
from smspec.spec.yaml.yaml_reader import decode_bytes, read

# Of a file that begins like this every YAML reader would say less than one of JSON.
_JSON = re.compile(rb"(\xef\xbb\xbf)?[ \t\r\n]*[{\[]")
_BETWEEN = re.compile(r"^(?:---|\.\.\.)(?=\s|$)[ \t]*", re.MULTILINE)
_TRAINING_JOB = re.compile(r"^kind:[ \t]*[\"']?TrainingJob[\"']?[ \t\r]*(#.*)?$", re.MULTILINE)
_SOMETHING = re.compile(r"^[ \t]*[^\s#]", re.MULTILINE)


OTHERS = "other documents of the file"


@dataclass(frozen=True, slots=True)
class Source:
    """The training job in a file, with its places; ``left_out`` says what else the file holds."""

    document: Document
    left_out: tuple[str, ...] = ()

    @property
    def data(self) -> object:
        return to_data(self.document.root)


def read_source(name: str, content: bytes) -> Source:
    """Return what a file holds.

    Raise `InvalidInput` with the places of what cannot be read, `RequestNotFound` without a job.
    """
    if _JSON.match(content):
        return Source(read_json(decode_json_bytes(name, content)))
    text, is_alone = _one_document(decode_bytes(name, content).text)
    return Source(read(SourceText(name, text)), () if is_alone else (OTHERS,))


def _one_document(text: str) -> tuple[str, bool]:
    """Return the text with every other document of it blanked, so that lines keep their numbers; is there none?"""
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

"""Texts, positions in them, and trees that keep their positions. This package does not know job specs."""

from smspec.source.document import Document
from smspec.source.line_positions import Places
from smspec.source.node import Mapping, Node, Scalar, Sequence, to_data
from smspec.source.path import Path, dotted
from smspec.source.span import Span
from smspec.source.text import SourceText

__all__ = [
    "Document",
    "Mapping",
    "Node",
    "Path",
    "Places",
    "Scalar",
    "Sequence",
    "SourceText",
    "Span",
    "dotted",
    "to_data",
]

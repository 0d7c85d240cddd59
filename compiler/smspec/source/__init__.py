"""Texts, positions in them, and trees that keep their positions. This package does not know job specs.

A `SourceText` is a text with its origin, a `Span` a part of it, a `Path` the way to a value in a tree. A `Document` is
a tree of `Mapping`, `Sequence`, and `Scalar`, each with its span, so that a value can be traced to the line that the
author typed, however many files were merged. A `Listing` has the files of a directory that are sent.

The package is the floor of the compiler: it imports nothing of it. So it also has the few things that every package
needs and Python lacks: frozen values that are cheap to declare (`frozen`), a memory of what was found about values
(`memo`), files read without following links (`real_file`), and git started so that it runs no other program
(`git_command`).
"""

from smspec.source.document import Document
from smspec.source.node import Mapping, Node, Path, Scalar, Sequence, dotted, is_near, to_data
from smspec.source.text import Places, SourceText, Span

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
    "is_near",
    "to_data",
]

"""Built-in algorithms read data of certain content types."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Note, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.facts.algorithms import as_of
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM398", "unsupported content type of a built-in algorithm", "warning", evidence="devguide")

_OF_DATA = ("train", "validation", "test")
"""Other channels contain models, vocabularies, and lists."""


def check(request: Request) -> Iterator[Finding]:
    """Warn about a content type that the guide does not list; parameters, as in `text/csv;label_size=0`, are free."""
    algorithm = built_in_algorithm(request)
    if algorithm is None or not algorithm.content_types:
        return
    for channel in request.channels:
        written = channel.members.get("ContentType")
        if channel.name not in _OF_DATA or not isinstance(written, str) or not written.strip():
            continue
        if written.partition(";")[0].strip().lower() not in algorithm.content_types:
            yield RULE.at(
                (*channel.path, "ContentType"),
                f"{HERE}: `{algorithm.name}` might not read `{shown(written)}`",
                help=f"use {' or '.join(f'`{kind}`' for kind in algorithm.content_types[:3])}",
                notes=(Note(f"the developer guide does not list it, {as_of()}"),),
            )

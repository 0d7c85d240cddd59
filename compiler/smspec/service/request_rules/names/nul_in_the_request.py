"""Variables, arguments, and paths end at a NUL: the kernel and every file system reject one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.request import Request
from smspec.source import Path
from smspec.source.by_identity import ByIdentity

RULE = Rule("SM486", "null character in the request", evidence="inferred")

_PLAIN: ByIdentity[bool] = ByIdentity()
_BY_JSON = "HyperParameters"
"""They reach the container in a JSON file, which can contain a NUL; SM320 checks those that become arguments."""


def check(request: Request) -> Iterator[Finding]:
    """Reject a NUL or a surrogate in any string that the container gets as a variable, an argument, or a path."""
    for name, value in request.payload.items():
        # Most members contain neither, and jobs share many.
        if name != _BY_JSON and not _PLAIN.of("", value, partial(_is_plain, value)):
            yield from _found(value, (name,))


def _is_plain(value: object) -> bool:
    """Return whether one search in all strings of a member shows that there is nothing to report."""
    texts: list[str] = []
    _collect(value, texts)
    together = "".join(texts)
    return together.isascii() and "\0" not in together


def _collect(value: object, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _collect(part, texts)


def _found(value: object, path: Path) -> Iterator[Finding]:
    if isinstance(value, str):
        if "\0" in value or not (value.isascii() or re.search("[\ud800-\udfff]", value) is None):
            yield RULE.at(
                path,
                f"{HERE} contains " + ("a null character" if "\0" in value else "an unpaired surrogate"),
                help="remove it, or encode the value, for example as base64",
            )
    elif isinstance(value, dict | list):
        for step, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _found(part, (*path, step))

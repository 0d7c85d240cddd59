"""The lockfiles of several directories together: an inner one adds entries, and changes none of an outer one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from smspec.diagnostics import Diagnostic, InvalidInput, Note, Rule
from smspec.diagnostics.diagnostic import MOST
from smspec.diagnostics.quoting import quoted
from smspec.organization.lock_file import LARGEST
from smspec.source import SourceText, Span
from smspec.spec.lock import Lock
from smspec.workspace.boundary import Boundary, FileNotRead

CONTRADICTING_LOCK = Rule("SM761", "lockfile that contradicts an outer one")

_SECTIONS = ("names", "images", "pythons", "requirements")


def combined_lock(locks: Sequence[tuple[str, Lock]], boundary: Boundary) -> Lock:
    """Return the entries of all lockfiles, the outermost first; names of files start at the directory of the last one.

    The environments are not among them, because each belongs to the directory of its own lockfile. Raise `InvalidInput`
    for entries that differ.
    """
    home = os.path.dirname(locks[-1][0]) or os.curdir
    entries: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    origins: dict[tuple[str, str], tuple[str, str]] = {}
    found: list[tuple[str, str, str, str, str]] = []
    for path, lock in locks:
        for section in _SECTIONS:
            for written, value in getattr(lock, section).items():
                name = written
                if section == "requirements":
                    name = os.path.relpath(os.path.join(os.path.dirname(path), written), home)
                known = entries[section].setdefault(name, value)
                outer, name_there = origins.setdefault((section, name), (path, written))
                if known != value:
                    found.append((section, path, written, outer, name_there))
    if found:
        raise _contradicting(found, boundary)
    last = locks[-1][1]
    return Lock(
        **entries,
        environments={key: value for _, lock in reversed(locks) for key, value in lock.environments.items()},
        smspec=last.smspec,
        api_model=last.api_model,
        image_table=last.image_table,
    )


def _contradicting(found: Sequence[tuple[str, str, str, str, str]], boundary: Boundary) -> InvalidInput:
    diagnostics: list[Diagnostic] = []
    texts: dict[SourceText, None] = {}
    for section, path, written, outer, name_there in found[:MOST]:
        (place, text), (place_there, text_there) = (
            _place(file, section, name, boundary) for file, name in ((path, written), (outer, name_there))
        )
        texts.update(dict.fromkeys((text, text_there)))
        diagnostics.append(
            Diagnostic(
                code=CONTRADICTING_LOCK.code,
                severity=CONTRADICTING_LOCK.severity,
                message=f"{quoted(written)} of `{section}` differs from the entry in `{outer}`",
                span=place,
                path=(section, written),
                help=f"remove this file, and run `smspec lock`: `{outer}` locks the jobs of this directory",
                notes=(Note("the outer entry", place_there),),
            )
        )
    return InvalidInput(tuple(diagnostics), tuple(texts))


def _place(path: str, section: str, name: str, boundary: Boundary) -> tuple[Span, SourceText]:
    """Return the position of an entry: the first place after the name of its section that has its name."""
    try:
        text = boundary.read_named(path, LARGEST).decode("utf-8", "replace")
    except FileNotRead:  # it was replaced after it was read
        text = ""
    key = json.dumps(name, ensure_ascii=False)
    at = max(0, text.find(key, max(0, text.find(json.dumps(section)))))
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Span(path, line, column, line, column + len(key)), SourceText(path, text)

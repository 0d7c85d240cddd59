"""Find files that git writes in another form now, because a review changes attributes and not the files.

A checkout that exists keeps them as they are, so a comparison finds them equal. A new one, from which a job may be
submitted, has others: with CR LF or LF, an expanded `$Id$`, or in another encoding.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from smspec.pipeline.affected_specs import places_of
from smspec.pipeline.input_cache import InputCache
from smspec.source.real_file import is_below, open_below
from smspec.workspace.git import LINK, SUBMODULE, StagedFile
from smspec.workspace.own_directories import temporary_directory
from smspec.workspace.working_tree import ChangedFiles, object_name, unix_text

_ENCODING = "working-tree-encoding"
_NAMES = ("text", "eol", "ident", _ENCODING)
_ATTRIBUTES = ".gitattributes"
_LARGEST = 64 << 20
_PLAIN = ("unspecified", "unset", "set", "utf-8", "utf8")


def rewritten_files(changed: ChangedFiles, specs: Iterable[str], revision: str, cache: InputCache) -> dict[str, str]:
    """Return places of files that some specs are made from, each with the attribute that changes its form."""
    repository = changed.repository
    if not any(os.path.basename(path) == _ATTRIBUTES for path in changed.paths):
        return {}
    used = {os.path.relpath(os.path.realpath(one), repository.top) for path in specs for one in places_of(path, cache)}
    files = {file.path: file for file in repository.staged if _is_used(file, used)}
    commit = repository.commit(revision)
    objects = {entry.path: entry.object for entry in repository.entries(commit)}
    with temporary_directory() as scratch:
        index = os.path.join(scratch, "index")
        repository.write_index(commit, index)
        then = repository.attributes(files, _NAMES, index)
    now = repository.attributes(files, _NAMES)
    found = {}
    for place, file in files.items():
        was, will = then.get(place, {}), now.get(place, {})
        if was != will and not changed.touches(os.path.join(repository.top, place)):
            here = _content(repository.top, place)
            # What is in another form here already, or still, is compared with what git stores.
            if object_name(file.object, here) == file.object:
                found[place] = _converting(here, will)
            elif objects.get(place) != file.object:
                found[place] = _converting_back(here, file, will)
    return {place: name for place, name in sorted(found.items()) if name}


def _is_used(file: StagedFile, used: set[str]) -> bool:
    return file.mode not in (LINK, SUBMODULE) and any(is_below(file.path, one) or one == os.curdir for one in used)


def _converting(stored: bytes, attributes: Mapping[str, str]) -> str:
    """Return the attribute by which git writes other bytes than those that it stores; empty for none."""
    if attributes.get(_ENCODING, "unset").lower() not in _PLAIN and stored:
        return _ENCODING
    is_text = attributes.get("text") != "unset" and b"\0" not in stored
    if attributes.get("eol") == "crlf" and is_text and re.search(rb"(?<!\r)\n", stored):
        return "eol"
    return "ident" if attributes.get("ident") == "set" and b"$Id" in stored else ""


def _converting_back(here: bytes, file: StagedFile, attributes: Mapping[str, str]) -> str:
    """Return the attribute by which git stores a file that did not change anew, and writes it in another form.

    Empty for none.
    """
    stored = unix_text(here)
    if object_name(file.object, stored) != file.object:
        return ""
    attribute = _converting(stored, attributes) or "text"
    return "" if attribute == "eol" and stored.replace(b"\n", b"\r\n") == here else attribute


def _content(top: str, place: str) -> bytes:
    try:
        with open(open_below(top, place.split("/")), "rb") as file:
            return file.read(_LARGEST)
    except (OSError, ValueError):
        return b""

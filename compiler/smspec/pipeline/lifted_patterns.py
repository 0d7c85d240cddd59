"""Find changes after which a source may send more of what git does not have: other ignored files, such as credentials.

Patterns that ignored them are gone, or the source is a different directory.

The listings of both states are equal then, because neither checkout has these files. Another one may have them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from smspec.pipeline.compilation import Faulty
from smspec.pipeline.named_files import SOURCE
from smspec.pipeline.variants import Gathered
from smspec.source.frozen import dataclass
from smspec.source.real_file import is_below, open_below
from smspec.workspace.git import LINK
from smspec.workspace.git_patterns import git_pattern
from smspec.workspace.ignore_rules import (
    IGNORE_FILES,
    LARGEST,
    MARKS_OF_ENVIRONMENTS,
    PatternsAbove,
    different_lines,
    docker_pattern,
    patterns_above,
)
from smspec.workspace.revision import Revision, place_below
from smspec.workspace.working_tree import ChangedFiles

_DOCKERIGNORE = ".dockerignore"
_GITIGNORE = ".gitignore"
_ATTRIBUTES = ".gitattributes"


@dataclass(frozen=True, slots=True)
class _Source:
    """A real directory. ``shown``: the places of the ignore files that a comparison lists with the source."""

    directory: str
    shown: frozenset[str]


def lifted_patterns(changed: ChangedFiles, specs: Iterable[Gathered], base: Revision) -> dict[str, list[str]]:
    """Return places of changed files that keep others out of a source, with the patterns that no longer do.

    These are ignore files that the source does not send itself, and marks of virtual environments.
    """
    top = changed.repository.top
    paths = _deciding(changed)
    sources = _sources(specs, base.directory, top) if paths else set()
    found: dict[str, list[str]] = {}
    for place, path in sorted(paths.items()):
        if any(_counts(path, place, source) for source in sources):
            base.bring(os.path.join(base.directory, place))
            marked = _marked(path)
            if marked:
                inside = os.path.relpath(marked, top)
                is_lifted = _is_marked(base.directory, inside) and not _is_marked(top, inside)
                found[place] = [f"{os.path.basename(marked)}/"] if is_lifted else []
            else:
                is_docker = os.path.basename(path) == _DOCKERIGNORE
                found[place] = lifted(_content(base.directory, place), _content(top, place), is_docker=is_docker)
    return {place: patterns for place, patterns in found.items() if patterns}


def _deciding(changed: ChangedFiles) -> dict[str, str]:
    """Return place → path of changed files that decide what else is sent."""
    top = changed.repository.top
    decide = [path for path in changed.paths if _marked(path) or _is_ignore_file(path)]
    # git may write them in another encoding now, in which they have no pattern.
    may_be_rewritten = any(os.path.basename(path) == _ATTRIBUTES for path in changed.paths)
    for file in filter(lambda file: _is_ignore_file(file.path), changed.repository.staged):
        path = os.path.join(top, file.path)
        if may_be_rewritten or (file.mode == LINK and changed.touches(path)):
            decide.append(path)
    return {os.path.relpath(path, top): path for path in decide}


def ignored_sources(changed: ChangedFiles, specs: Iterable[Gathered], base: Revision) -> dict[str, str]:
    """Return places of changed files that ignore a source as a whole now, each with the place of the source.

    Its author names it on purpose, so no pattern above it counts in it any more.
    """
    top = changed.repository.top
    decides = any(os.path.basename(path) == _GITIGNORE for path in _deciding(changed))
    found = {}
    for source in sorted(_sources(specs, base.directory, top), key=lambda one: one.directory) if decides else ():
        inside = os.path.relpath(source.directory, top)
        now = above(source.directory)
        if now.ignoring is not None and above(os.path.join(base.directory, inside)).count:
            found[now.ignoring] = inside
    return found


def moved_sources(
    specs: Iterable[Gathered], pairs: Iterable[tuple[str, str]], base: Revision, top: str
) -> dict[str, tuple[str, str]]:
    """Return places of specs, each with the old and the new place of its source, links resolved.

    Only for a directory that the base has, too, or that git ignores: no checkout has files in a new one, unless someone
    made them there. ``pairs``: old and new places of specs that are compared.
    """
    then: dict[str, dict[str | None, str]] = {}
    now: dict[str, dict[str | None, str]] = {}
    for side in specs:
        is_old = is_below(os.path.realpath(side.path), base.directory)
        start = base.directory if is_old else top
        found = (then if is_old else now).setdefault(place_below(side.path, start), {})
        for variant, inputs in side.inputs.items():
            name = None if isinstance(inputs, Faulty) else inputs.document.string(SOURCE)
            if name and "\0" not in name:
                source = os.path.realpath(os.path.join(os.path.dirname(side.path), name))
                found[variant] = os.path.relpath(source, start)
    moved = {}
    for before, after in {*((place, place) for place in then.keys() & now.keys()), *pairs}:
        for variant, new in now.get(after, {}).items():
            old = then.get(before, {}).get(variant)
            if old not in (None, new) and _may_have_more(new, base, top):
                moved[after] = str(old), new
    return dict(sorted(moved.items()))


def _may_have_more(place: str, base: Revision, top: str) -> bool:
    prefix = "" if place == os.curdir else f"{place}/"
    is_ignored = (above(os.path.join(start, place)).ignoring is not None for start in (base.directory, top))
    return any(name.startswith(prefix) for name in base.forms) or any(is_ignored)


def above(directory: str) -> PatternsAbove:
    """Return what the .gitignore files above a directory mean for it; of one that is too large, nothing."""
    try:
        return patterns_above(directory)
    except OSError:
        return PatternsAbove(None, count=False)


def lifted(old: bytes, new: bytes, *, is_docker: bool) -> list[str]:
    """Return the lines of an ignore file after whose change it may ignore less.

    These are patterns that are gone, and each ``!`` that is new, or that now follows a pattern which followed it.
    """
    parse = docker_pattern if is_docker else git_pattern
    was, will = ({parse(line): line for line in reversed(different_lines(content))} for content in (old, new))
    order = {pattern: -place for place, pattern in enumerate(was)}
    found = [line for pattern, line in reversed(was.items()) if pattern and pattern.ignores and pattern not in will]
    latest: float = -math.inf
    for pattern, line in reversed(will.items()):
        if pattern and pattern.ignores:
            latest = max(latest, order.get(pattern, -math.inf))
        elif pattern and (pattern not in order or order[pattern] < latest):
            found.append(line)
    return [line.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for line in found]


def _sources(specs: Iterable[Gathered], base: str, top: str) -> set[_Source]:
    """Return the sources of the working tree."""
    shown: dict[str, set[str]] = {}
    here: dict[str, set[str]] = {}
    for side in specs:
        spec = os.path.realpath(side.path)
        is_old = is_below(spec, base)
        place = os.path.relpath(spec, base if is_old else top)
        for inputs in side.inputs.values():
            if isinstance(inputs, Faulty):
                continue
            origins = (file.origin for file in inputs.build_inputs.source.files if _is_ignore_file(file.origin))
            shown.setdefault(place, set()).update(os.path.relpath(one, base if is_old else top) for one in origins)
            name = None if is_old else inputs.document.string(SOURCE)
            if name and "\0" not in name:
                here.setdefault(place, set()).add(os.path.realpath(os.path.join(os.path.dirname(side.path), name)))
    return {_Source(directory, frozenset(shown[place])) for place, found in here.items() for directory in found}


def _counts(path: str, place: str, source: _Source) -> bool:
    """Return whether a file decides what a source sends, and is not in its listing."""
    directory = _marked(path) or os.path.dirname(path)
    is_inside = is_below(directory, source.directory)
    if _marked(path):
        return is_inside and directory != source.directory
    if os.path.basename(path) == _DOCKERIGNORE:
        return directory == source.directory and place not in source.shown
    return place not in source.shown if is_inside else is_below(source.directory, directory)


def _is_ignore_file(path: str) -> bool:
    return os.path.basename(path) in IGNORE_FILES


def _marked(path: str) -> str:
    """Return the directory that a file marks as a virtual environment, or a file in a mark; empty for others."""
    above, name = os.path.split(path)
    if name in MARKS_OF_ENVIRONMENTS:
        return above
    outer, inner = os.path.split(above)
    return outer if inner in MARKS_OF_ENVIRONMENTS else ""


def _is_marked(top: str, place: str) -> bool:
    return any(os.path.lexists(os.path.join(top, place, mark)) for mark in MARKS_OF_ENVIRONMENTS)


def _content(top: str, place: str) -> bytes:
    real = os.path.realpath(os.path.join(top, place))
    steps = os.path.relpath(real, top).split(os.sep)
    if not is_below(real, top) or ".git" in map(str.lower, steps):
        return b""  # as for a source, nothing outside of the repository is opened
    try:
        with open(open_below(top, steps), "rb") as file:
            return file.read(LARGEST)
    except (OSError, ValueError):
        return b""

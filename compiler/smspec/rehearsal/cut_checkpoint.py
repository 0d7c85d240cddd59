"""What a host leaves that is lost while it writes a checkpoint: the files before it, and a part of the new one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from smspec.rehearsal.trial import CheckpointChange
from smspec.source.frozen import dataclass
from smspec.source.real_file import copy_files, files_below, make_parents

_HOLE = bytes(1 << 20)

_Files = Mapping[str, str]
"""Files and links, name → path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """``path`` has ``size`` of its ``whole`` bytes. ``is_in_place``: it is written under its final name."""

    path: str
    size: int
    whole: int
    is_in_place: bool

    def __str__(self) -> str:
        return f"`{self.path}` with {self.size:,} of {self.whole:,} bytes"


class Unclear(Exception):
    """It is not known which states a lost host can leave; the argument is the reason."""


def cut_checkpoint(before: str, after: str, changes: Sequence[CheckpointChange], count: int, target: str) -> Cut:
    """Write to ``target`` the state between two directories of checkpoints, with one file cut to a half.

    ``changes`` lead from one to the other; the first ``count`` writes are those of one checkpoint. Raise Unclear.
    """
    old, new = files_below(before), files_below(after)
    _require_explained(old, new, changes)
    changes = changes[: _length(changes, count)]
    chosen, source, is_in_place = _chosen(old, new, changes)
    state = dict(old)
    for change in changes[:chosen]:
        if change.kind == "removed":
            _remove(state, change.path)
        elif not is_in_place or change.path != changes[chosen].path:
            if change.kind == "renamed" and change.source is not None:
                _remove(state, change.source)
            for name in _in(new, change.path):
                _put(state, name, new[name])
    name = source if is_in_place else _temporary_name(changes[chosen], source)
    _put(state, name, new[source])
    copy_files({path: original for path, original in state.items() if path != name}, target)
    whole = os.path.getsize(new[source])
    path = os.path.join(target, name)
    make_parents(target, name)
    _copy_part(new[source], path, whole // 2)
    return Cut(path=name, size=whole // 2, whole=whole, is_in_place=is_in_place)


def _copy_part(original: str, path: str, size: int) -> None:
    """Write the first bytes of a file to a new one, in pieces: checkpoints may be larger than memory. Keep holes."""
    with open(original, "rb") as file, open(path, "xb") as part:
        while piece := file.read(min(len(_HOLE), size - file.tell())):
            if piece == _HOLE:
                part.seek(len(piece), os.SEEK_CUR)
            else:
                part.write(piece)
        part.truncate(file.tell())


def _chosen(old: _Files, new: _Files, changes: Sequence[CheckpointChange]) -> tuple[int, str, bool]:
    """Return the number of the change to cut, the file with its content, and whether it is written in place.

    Of files that are written in place, the largest takes longest to write; one that is the same as before was only
    opened, as a mapped one is. One that is renamed into place is cut under its temporary name. A link is never cut: it
    may lead to a file of the author, which the next start would read.
    """
    temporary = {change.source for change in changes if change.kind == "renamed"}
    in_place = [
        (os.path.getsize(new[change.path]), -index)
        for index, change in enumerate(changes)
        if change.kind == "written"
        and not any(_is_in(change.path, name) for name in temporary if name is not None)
        and _is_file(new, change.path)
        and not _are_same(old.get(change.path), new[change.path])
    ]
    if in_place:
        index = -max(in_place)[1]
        return index, changes[index].path, True
    for index, change in enumerate(changes):
        if change.kind == "renamed" and change.source is not None:
            files = [name for name in _in(new, change.path) if _is_file(new, name)]
            if files:
                return index, max(files, key=lambda name: os.path.getsize(new[name])), False
    links = [change.path for change in changes if change.path in new and os.path.islink(new[change.path])]
    if links:
        raise Unclear(f"`{links[0]}` is a link")
    raise Unclear("complete files are moved to the checkpoint directory, or the job removes or only opens them")


def _length(changes: Sequence[CheckpointChange], count: int) -> int:
    """Return how many changes there are up to a number of writes; a file that is then renamed belongs to them."""
    writes = 0
    for index, change in enumerate(changes):
        writes += change.kind != "removed"
        if writes >= count and not any(later.source == change.path for later in changes[index + 1 : index + 2]):
            return index + 1
    return len(changes)


def _temporary_name(change: CheckpointChange, path: str) -> str:
    """Return where a file was before its directory, or it itself, was renamed."""
    assert change.source is not None
    return os.path.normpath(os.path.join(change.source, os.path.relpath(path, change.path)))


def _require_explained(old: _Files, new: _Files, changes: Sequence[CheckpointChange]) -> None:
    """Raise Unclear if a file has changed without being closed or renamed, as those of a database do."""
    known = [change.path for change in changes] + [change.source for change in changes if change.source is not None]
    for name in sorted(new):
        if not any(_is_in(name, path) for path in known) and not _are_same(old.get(name), new[name]):
            raise Unclear(f"`{name}` stays open while it changes, as a database does")
    written = [change.path for change in changes if change.kind == "written"]
    removed = {change.path for change in changes if change.kind == "removed"}
    if any(f"{name}-journal" in removed or f"{name}-wal" in known for name in new):
        raise Unclear("the checkpoints are a database, which has a journal")
    if len(set(written)) != len(written) and len(set(written)) > 1:
        raise Unclear("checkpoints of several files follow each other too quickly")


def _is_file(files: _Files, name: str) -> bool:
    return name in files and not os.path.islink(files[name])


def _are_same(first: str | None, second: str) -> bool:
    if first is None or os.path.islink(first) != os.path.islink(second):
        return False
    if os.path.islink(first):
        return os.readlink(first) == os.readlink(second)
    if os.path.getsize(first) != os.path.getsize(second):
        return False
    with open(first, "rb") as one, open(second, "rb") as other:
        while part := one.read(1 << 20):
            if part != other.read(1 << 20):
                return False
    return True


def _is_in(path: str, above: str) -> bool:
    return f"{path}/".startswith(f"{above}/")


def _in(files: _Files, path: str) -> list[str]:
    """Return the file with a name, or those in the directory with it."""
    return [name for name in files if _is_in(name, path)]


def _put(state: dict[str, str], name: str, original: str) -> None:
    """Add a file instead of what has its name, or that of a directory above it."""
    for other in [other for other in state if _is_in(name, other) or _is_in(other, name)]:
        del state[other]
    state[name] = original


def _remove(state: dict[str, str], path: str) -> None:
    for name in _in(state, path):
        del state[name]

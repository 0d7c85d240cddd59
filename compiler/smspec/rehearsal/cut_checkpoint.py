"""What a host leaves that is lost while it writes a checkpoint: the files before it, and a part of the new one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from smspec.rehearsal.timeline import Change
from smspec.source.deep_directories import ignore_unread, walked
from smspec.source.frozen import dataclass


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


def cut_checkpoint(before: str, after: str, changes: Sequence[Change], count: int, target: str) -> Cut:
    """Write to ``target`` the state between two directories of checkpoints, with one file cut to a half.

    ``changes`` lead from one to the other; the first ``count`` writes are those of one checkpoint. Raise Unclear.
    """
    _require_explained(before, after, changes)
    changes = changes[: _length(changes, count)]
    chosen, source, is_in_place = _chosen(before, after, changes)
    shutil.copytree(before, target, symlinks=True)
    for change in changes[:chosen]:
        if change.kind == "removed":
            _remove(target, change.path)
        elif not is_in_place or change.path != changes[chosen].path:
            if change.kind == "renamed" and change.source is not None:
                _remove(target, change.source)
            _copy(after, target, change.path)
    content = os.path.join(after, source)
    whole = os.path.getsize(content)
    name = source if is_in_place else _temporary_name(changes[chosen], source)
    path = os.path.join(target, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    with open(content, "rb") as file, open(path, "wb") as part:
        part.write(file.read(whole // 2))
    return Cut(path=name, size=whole // 2, whole=whole, is_in_place=is_in_place)


def _chosen(before: str, after: str, changes: Sequence[Change]) -> tuple[int, str, bool]:
    """Return the number of the change to cut, the file with its content, and whether it is written in place.

    Of files that are written in place, the largest takes longest to write; one that is the same as before was only
    opened, as a mapped one is. One that is renamed into place is cut under its temporary name.
    """
    temporary = {change.source for change in changes if change.kind == "renamed"}
    in_place = [
        (os.path.getsize(os.path.join(after, change.path)), -index)
        for index, change in enumerate(changes)
        if change.kind == "written"
        and not any(_is_in(change.path, name) for name in temporary if name is not None)
        and os.path.isfile(os.path.join(after, change.path))
        and not _are_same(os.path.join(before, change.path), os.path.join(after, change.path))
    ]
    if in_place:
        index = -max(in_place)[1]
        return index, changes[index].path, True
    for index, change in enumerate(changes):
        if change.kind == "renamed" and change.source is not None:
            files = _files(os.path.join(after, change.path))
            if files:
                paths = [os.path.normpath(os.path.join(change.path, name)) for name in files]
                return index, max(paths, key=lambda path: os.path.getsize(os.path.join(after, path))), False
    raise Unclear("complete files are moved to the checkpoint directory, or the job removes or only opens them")


def _length(changes: Sequence[Change], count: int) -> int:
    """Return how many changes there are up to a number of writes; a file that is then renamed belongs to them."""
    writes = 0
    for index, change in enumerate(changes):
        writes += change.kind != "removed"
        if writes >= count and not any(later.source == change.path for later in changes[index + 1 : index + 2]):
            return index + 1
    return len(changes)


def _temporary_name(change: Change, path: str) -> str:
    """Return where a file was before its directory, or it itself, was renamed."""
    assert change.source is not None
    return os.path.normpath(os.path.join(change.source, os.path.relpath(path, change.path)))


def _require_explained(before: str, after: str, changes: Sequence[Change]) -> None:
    """Raise Unclear if a file has changed without being closed or renamed, as those of a database do."""
    known = [change.path for change in changes] + [change.source for change in changes if change.source is not None]
    for name in {*_files(before), *_files(after)}:
        paths = os.path.join(before, name), os.path.join(after, name)
        is_removed = not os.path.lexists(paths[1])
        if not is_removed and not any(_is_in(name, path) for path in known) and not _are_same(*paths):
            raise Unclear(f"`{name}` stays open while it changes, as a database does")
    written = [change.path for change in changes if change.kind == "written"]
    removed = {change.path for change in changes if change.kind == "removed"}
    if any(f"{name}-journal" in removed or f"{name}-wal" in known for name in _files(after)):
        raise Unclear("the checkpoints are a database, which has a journal")
    if len(set(written)) != len(written) and len(set(written)) > 1:
        raise Unclear("checkpoints of several files follow each other too quickly")


def _are_same(first: str, second: str) -> bool:
    if not os.path.isfile(first) or not os.path.isfile(second) or os.path.getsize(first) != os.path.getsize(second):
        return False
    with open(first, "rb") as one, open(second, "rb") as other:
        while part := one.read(1 << 20):
            if part != other.read(1 << 20):
                return False
    return True


def _is_in(path: str, above: str) -> bool:
    return f"{path}/".startswith(f"{above}/")


def _files(root: str) -> list[str]:
    """Return the files below a directory, relative to it; of a file, `.` alone."""
    if os.path.isfile(root):
        return ["."]
    if not os.path.isdir(root):
        return []
    return [
        os.path.relpath(os.path.join(where, name), root)
        for where, _, names in walked(root, ignore_unread)
        for name in names
    ]


def _copy(source: str, target: str, path: str) -> None:
    """Copy a file or a directory, if it is still there."""
    for name in _files(os.path.join(source, path)):
        found, copy = (os.path.normpath(os.path.join(root, path, name)) for root in (source, target))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if os.path.lexists(copy):
            os.unlink(copy)
        shutil.copy2(found, copy, follow_symlinks=False)


def _remove(root: str, path: str) -> None:
    for name in _files(os.path.join(root, path)):
        os.unlink(os.path.normpath(os.path.join(root, path, name)))

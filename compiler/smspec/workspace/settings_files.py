"""Files that count for all specs below them, as they are in a revision and in the working tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from smspec.source.frozen import dataclass
from smspec.source.real_file import is_below, read_bounded
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.spec.lock import NAME as LOCK
from smspec.workspace.boundary_search import SETTINGS
from smspec.workspace.revision import Revision

_LARGEST = 16 << 20


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """``path`` from the top of the repository. ``form``: as `Revision.forms`, or where a link above it leads.

    ``content`` of a regular file, also behind links, if it is in the repository: it is what counts.
    """

    path: str
    form: str
    content: bytes | None


def settings_of_revision(
    revision: Revision, paths: Iterable[str], places: Iterable[str], more: Iterable[str]
) -> dict[str, SettingsFile]:
    """Return the files of a revision that count for specs below some paths, or in some places, and ``more`` files."""
    top = revision.directory
    wanted = {*more, *_named_above(top, places)}
    wanted.update(path for path in revision.forms if is_settings(path) and _counts_for(path, paths))
    found = {}
    for path in sorted(wanted):
        revision.bring(os.path.join(top, path))
        file = _file(top, path)
        form = revision.forms.get(path)
        if form is not None:
            found[path] = SettingsFile(path, form, None if file is None else file.content)
        elif file is not None:
            found[path] = file
    return found


def settings_of_tree(
    top: str, places: Iterable[str], known: Iterable[str], more: Iterable[str]
) -> dict[str, SettingsFile]:
    """Return the files of a working tree in directories above some places, those ``known`` before, and ``more``."""
    files = (_file(top, path) for path in sorted({*known, *more, *_named_above(top, places)}))
    return {file.path: file for file in files if file is not None}


def _named_above(top: str, places: Iterable[str]) -> Iterator[str]:
    """Yield the paths of files in directories above some places that have the name of settings."""
    for directory in {above for place in places for above in _above(place)}:
        yield from (os.path.normpath(os.path.join(directory, name)) for name in SETTINGS)
        inner = os.path.normpath(os.path.join(directory, LOCK_DIRECTORY))
        whole = os.path.join(top, inner)
        if os.path.lexists(whole) and _is_inside(whole, top) and os.path.isdir(whole):
            yield from (os.path.join(inner, name) for name in os.listdir(whole))


def policies_in(directory: str) -> list[str]:
    """Return the paths that a policy, prices, and quotas have in a directory."""
    return [os.path.normpath(os.path.join(directory, name)) for name in SETTINGS if name != LOCK]


def is_settings(path: str) -> bool:
    """Return whether a file counts for the specs below it. Some systems ignore the case of a name."""
    return path.rpartition("/")[2].lower() in SETTINGS or is_of_lock(path)


def is_of_lock(path: str) -> bool:
    """Return whether a file is a lockfile, or one of the lists of packages that a lockfile names."""
    directory, _, name = path.rpartition("/")
    return name.lower() == LOCK or directory.rpartition("/")[2] == LOCK_DIRECTORY


def _counts_for(path: str, places: Iterable[str]) -> bool:
    directory = os.path.dirname(path)
    directory = os.path.dirname(directory) if os.path.basename(directory) == LOCK_DIRECTORY else directory
    return any(directory in (*_above(place), place) or _is_in(directory, place) for place in places)


def _is_in(directory: str, place: str) -> bool:
    return place == "" or directory == place or directory.startswith(f"{place}/")


def _above(place: str) -> Iterator[str]:
    """Yield a place and the directories above it; the top is the empty string."""
    yield place
    while place:
        place = os.path.dirname(place)
        yield place


def _file(top: str, path: str) -> SettingsFile | None:
    whole = os.path.join(top, path)
    try:
        mode = os.lstat(whole).st_mode
    except (OSError, ValueError):
        return None  # before the rest, which takes long for deep directories
    parent = os.path.realpath(os.path.dirname(whole))
    if not is_below(parent, top):
        return None  # below a link that leads out of the repository
    content = _content(os.path.realpath(whole)) if _is_inside(whole, top) else None
    if stat.S_ISLNK(mode):
        return SettingsFile(path, f"link to {os.readlink(whole)}", content)
    if not stat.S_ISREG(mode):
        return SettingsFile(path, "directory" if stat.S_ISDIR(mode) else "special file", None)
    if parent != os.path.dirname(whole):
        return SettingsFile(path, f"file behind a link to {os.path.relpath(parent, top)}", content)
    return SettingsFile(path, "executable" if mode & stat.S_IXUSR else "file", content)


def _is_inside(path: str, top: str) -> bool:
    """Return whether a path leads to a part of the repository that is not git's own."""
    real = os.path.realpath(path)
    return is_below(real, top) and ".git" not in os.path.relpath(real, top).lower().split(os.sep)


def _content(path: str) -> bytes | None:
    """Return the content of a file; None if it is unreadable, or larger than any file that smspec reads."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:
            content = read_bounded(file, _LARGEST)
    except OSError:
        return None
    return content if len(content) <= _LARGEST else None

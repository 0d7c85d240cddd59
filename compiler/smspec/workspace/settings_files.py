"""Files that count for all specs below them, as they are in a revision and in the working tree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator

from smspec.source.bounded_read import read_bounded
from smspec.source.frozen import dataclass
from smspec.spec.locked_environment import DIRECTORY as LOCK_DIRECTORY
from smspec.workspace.organization_marker import SETTINGS
from smspec.workspace.revision import Revision

_LARGEST = 16 << 20
_REGULAR = ("file", "executable")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """``path`` from the top of the repository. ``form``: as `Revision.forms`. ``content`` of a regular file."""

    path: str
    form: str
    content: bytes | None


def settings_of_revision(revision: Revision, paths: Iterable[str], more: Iterable[str]) -> dict[str, SettingsFile]:
    """Return the files of a revision that count for specs below some paths of it, and ``more`` files."""
    wanted = set(more)
    wanted.update(path for path in revision.forms if is_settings(path) and _counts_for(path, paths))
    found = {}
    for path in sorted(wanted & revision.forms.keys()):
        content = None
        if revision.forms[path] in _REGULAR:
            revision.bring(os.path.join(revision.directory, path))
            content = _content(os.path.join(revision.directory, path))
        found[path] = SettingsFile(path, revision.forms[path], content)
    return found


def settings_of_tree(
    top: str, places: Iterable[str], known: Iterable[str], more: Iterable[str]
) -> dict[str, SettingsFile]:
    """Return the files of a working tree in directories above some places, those ``known`` before, and ``more``."""
    wanted = {*known, *more}
    for directory in {above for place in places for above in _above(place)}:
        wanted.update(os.path.normpath(os.path.join(directory, name)) for name in SETTINGS)
        inner = os.path.normpath(os.path.join(directory, LOCK_DIRECTORY))
        if os.path.isdir(os.path.join(top, inner)):
            wanted.update(os.path.join(inner, name) for name in os.listdir(os.path.join(top, inner)))
    files = (_file(top, path) for path in sorted(wanted))
    return {file.path: file for file in files if file is not None}


def is_settings(path: str) -> bool:
    """Return whether a file counts for the specs below it. Some systems ignore the case of a name."""
    directory, name = os.path.split(path)
    return name.lower() in SETTINGS or os.path.basename(directory) == LOCK_DIRECTORY


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
        return None
    if os.path.realpath(os.path.dirname(whole)) != os.path.dirname(whole):
        return None  # below a link, which may lead anywhere: git has no such file
    if stat.S_ISLNK(mode):
        return SettingsFile(path, f"link to {os.readlink(whole)}", None)
    if stat.S_ISREG(mode):
        return SettingsFile(path, "executable" if mode & stat.S_IXUSR else "file", _content(whole))
    return SettingsFile(path, "directory" if stat.S_ISDIR(mode) else "special file", None)


def _content(path: str) -> bytes | None:
    """Return the content of a file; None if it is unreadable, or larger than any file that smspec reads."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:
            content = read_bounded(file, _LARGEST)
    except OSError:
        return None
    return content if len(content) <= _LARGEST else None

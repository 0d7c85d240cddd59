"""The lock pins what an image installs; pip chooses again what a job installs at startup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Note, Rule
from smspec.rules.locking.changed_locked_packages import RULE as CHANGED
from smspec.rules.locking.unpinned_package import loose_lines
from smspec.service.requirement_lines import normalized
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.locked_environment import LockedEnvironment

RULE = Rule("SM728", "packages unpinned at startup", "note")

_SOURCE: Path = ("source", "dir")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXACT = re.compile(r"(?m)^\s*([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*===?\s*[^*\s]+\s*(?:[;#\\\s].*)?$")
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StartupList:
    """``file``: the list of packages in the source, from the spec; ``content``: of it.

    ``locked``: the packages that the lock has for it, besides those of the image; None without any. ``is_built``: the
    spec builds the image, so that it can install them. ``locked_file`` and ``fault``: as those of `Pinning`.
    """

    file: str
    content: bytes
    locked: LockedEnvironment | None
    is_built: bool
    locked_file: str = ""
    fault: str = ""


def check(startup: StartupList) -> Iterator[Finding]:
    """Note the packages whose versions are chosen when the job starts, although the repository has a lockfile.

    Reject a file next to the lock that is missing or changed, as for the packages of an image.
    """
    if startup.fault:
        yield CHANGED.at(
            _SOURCE,
            f"`{startup.locked_file}` {startup.fault}",
            help="restore the committed file, or run `smspec lock`",
        )
    names = _unpinned(startup)
    if not names:
        return
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    listed = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    known = "" if startup.locked is None else "; imports were checked with the versions in smspec.lock"
    yield RULE.at(
        _SOURCE,
        f"`source`: the job installs unpinned packages at startup: {listed}{more}",
        help=f"set `image.python_requirements` to `{startup.file}`, and run `smspec lock`"
        if startup.is_built
        else "use `==` for each package and its dependencies, or build an image that has them",
        notes=(Note(f"pip chooses their versions in each job{known}"),),
    )


def _unpinned(startup: StartupList) -> list[str]:
    """Return the packages without an exact version: of the locked ones, also dependencies."""
    if startup.locked is None:
        words = (_NAME.match(text) for _, text in loose_lines(startup.content))
        return list(dict.fromkeys(normalized(match[0]) for match in words if match))
    text = startup.content.decode("utf-8-sig", "replace")
    exact = {normalized(match[1]) for match in _EXACT.finditer(text)}
    return [name for name in startup.locked.packages if name not in exact]

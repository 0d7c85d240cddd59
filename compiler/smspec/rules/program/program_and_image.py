"""The modules that a script imports, together with the image that runs it."""

from __future__ import annotations

import re

from smspec.diagnostics import Note
from smspec.script.program import StartedLauncher
from smspec.script.reach import Reach, Version
from smspec.source import Listing, Path, Span
from smspec.source.frozen import dataclass
from smspec.spec.lock import LockedEnvironment
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec, ModuleEntry, PipeLoopEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramAndImage:
    """``requirements``: those of the image. ``python``: the version that starts the script; None if it is unknown.

    ``environment``: the packages that the lock has for the image; None if it has none. ``is_lockable``: it can have;
    ``is_stale``: the lock has it for others, and not for these packages, which is reported. ``listed``: the
    content of the list of packages in the source, which the job installs at startup, ``startup``: those that the lock
    has of them, None if it has none, and ``startup_is_lockable``: it can have them.
    ``launches``: the launchers that every run starts; ``python_in_shell``: the word for Python in a shell script of the
    source that starts the program.
    """

    reach: Reach
    job: JobSpec
    source: Listing
    requirements: bytes | None
    python: Version | None
    environment: LockedEnvironment | None = None
    is_lockable: bool = False
    is_stale: bool = False
    listed: bytes | None = None
    startup: LockedEnvironment | None = None
    startup_is_lockable: bool = False
    launches: tuple[StartedLauncher, ...] = ()
    python_in_shell: str = ""

    @property
    def path(self) -> Path:
        """Where the spec names the script."""
        match self.job.entry_point:
            case ModuleEntry():
                return ("entry_point", "module")
            case PipeLoopEntry():
                return ("entry_point", "pipe_loop")
            case CommandEntry():
                return ("entry_point", "command")
        return ("entry_point", "script")

    @property
    def python_name(self) -> str:
        """The Python of the image in a message."""
        return "Python" if self.python is None else f"Python {dotted_version(self.python)}"

    @property
    def declared(self) -> frozenset[str]:
        """The normalized names of the packages that the spec, its requirements files, and its lock name."""
        image = self.job.image
        packages = image.python_packages if isinstance(image, BuiltImage) else ()
        lines = b"\n".join((self.requirements or b"", self.listed or b"")).decode("utf-8", "replace").splitlines()
        locked = () if self.environment is None else self.environment.packages
        return frozenset(map(project_name, (*packages, *lines, *locked)))


def project_name(requirement: str) -> str:
    """Return the normalized name of the project at the beginning of a requirement; empty if there is none."""
    match = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", requirement)
    return re.sub(r"[-_.]+", "-", match[1]).lower() if match else ""


def dotted_version(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def file_name(place: Span) -> str:
    """Return the name of a module's file in a message."""
    return place.file.replace("\\", "/").rpartition("/")[2]


def here(what: str, place: Span) -> tuple[Note, ...]:
    return (Note(what, place),)

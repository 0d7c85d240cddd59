"""What specs are made of on disk, each file read once: specs and bases, listings of sources, requirements."""

from __future__ import annotations

import os

from smspec.diagnostics import Rejected
from smspec.pipeline.lock_file import lock_path, read_lock
from smspec.pipeline.named_file import spec_content
from smspec.pipeline.policy_search import policy_of
from smspec.pipeline.program_reading import Started, read_program
from smspec.pipeline.source_listing import list_source
from smspec.script.program import Program
from smspec.service.policy import Policy
from smspec.source import Document
from smspec.source.listing import Listing
from smspec.spec.lock import Lock
from smspec.spec.yaml.guard import MAX_BYTES
from smspec.spec.yaml.reading import decode_bytes, read


class Shelf:
    """What was read so far. Nothing on it changes while it is in use: a command sees one state of the disk."""

    def __init__(self) -> None:
        self._directories: dict[str, str] = {}
        self._specs: dict[str, Document | Rejected] = {}
        self._listings: dict[tuple[str, tuple[str, ...]], Listing] = {}
        self._requirements: dict[str, bytes] = {}
        self._lock_paths: dict[str, str | None] = {}
        self._locks: dict[str, Lock] = {}
        self._policies: dict[str, Policy | None] = {}
        self._programs: dict[tuple[Started, str, int], Program | None] = {}

    def identity(self, path: str) -> str:
        """Return the real path of a file. Many lie in one directory, which is followed through its links once."""
        parent, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir) or os.path.islink(path):
            return os.path.realpath(path)
        if parent not in self._directories:
            self._directories[parent] = os.path.realpath(parent)
        return os.path.join(self._directories[parent], name)

    def spec(self, path: str, content: bytes | None = None) -> Document:
        """Return the spec or base at ``path``, whatever it extends; ``content``: what is known to be in it.

        Raises `Misuse` when there is no such file, `Rejected` when it is no YAML, OSError when the disk refuses.
        """
        identity = self.identity(path)
        if identity not in self._specs:
            try:
                written = spec_content(path, MAX_BYTES) if content is None else content
                self._specs[identity] = read(decode_bytes(path, written))
            except Rejected as rejected:
                self._specs[identity] = rejected  # what comes through a pipe cannot be read again
        known = self._specs[identity]
        if isinstance(known, Rejected):
            raise known
        return known

    def listing(self, directory: str, ignore: tuple[str, ...]) -> Listing:
        """Return the files of a source directory that travel."""
        key = os.path.realpath(directory), ignore
        if key not in self._listings:
            self._listings[key] = list_source(directory, ignore)
        return self._listings[key]

    def requirements(self, path: str) -> bytes:
        """Return what a requirements file holds."""
        if path not in self._requirements:
            with open(path, "rb") as file:
                self._requirements[path] = file.read()
        return self._requirements[path]

    def program(self, started: Started, source: Listing, directory: str) -> Program | None:
        """Return what a program of a source says; a listing stays as long as the shelf does."""
        key = started, directory, id(source)
        if key not in self._programs:
            self._programs[key] = read_program(started, source, directory)
        return self._programs[key]

    def lock(self, directory: str) -> tuple[str, Lock] | None:
        """Return the lock that a spec in ``directory`` goes by, and its path. Raises `Rejected` where it is none."""
        if directory not in self._lock_paths:
            self._lock_paths[directory] = lock_path(directory)
        path = self._lock_paths[directory]
        if path is None:
            return None
        if path not in self._locks:
            self._locks[path] = read_lock(path)
        return path, self._locks[path]

    def policy(self, directory: str) -> Policy | None:
        """Return what the organisation asks of a spec in ``directory``. Raises `Rejected` where its file is faulty."""
        if directory not in self._policies:
            self._policies[directory] = policy_of(directory)
        return self._policies[directory]

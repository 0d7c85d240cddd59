"""Check repositories in a thread of its own while the author types: after a pause, and the newest state only."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping

from lsprotocol import types

from smspec.diagnostics import Diagnostic
from smspec.editor.checked_repository import CheckedRepository
from smspec.editor.published import Publication
from smspec.source.real_file import is_below

PAUSE = 0.15
"""Seconds without a change before a check begins: less than most people notice, more than between two keys."""

Publish = Callable[[Mapping[str, list[types.Diagnostic]]], None]
_LOG = logging.getLogger(__name__)


class Checking:
    """Checks what has changed. ``contents`` returns the unsaved texts by real path; ``publish`` is called here."""

    def __init__(
        self, contents: Callable[[], dict[str, bytes]], uri_of: Callable[[str], str], publish: Publish
    ) -> None:
        self._contents = contents
        self._uri_of = uri_of
        self._publish = publish
        self._folders: tuple[str, ...] = ()
        self._repositories: dict[str, CheckedRepository] = {}
        self._publications: dict[str, Publication] = {}
        self._pending: dict[str, frozenset[str] | None] = {}
        self._condition = threading.Condition()
        self._generation = 0
        self._quiet_until = 0.0
        self._is_ended = False
        self._thread = threading.Thread(target=self._work, name="smspec-checking", daemon=True)

    def start(self, folders: tuple[str, ...]) -> None:
        """Begin; ``folders`` are the real paths of the directories that the editor has open."""
        self._folders = tuple(sorted(folders, key=len, reverse=True))
        self._thread.start()

    def end(self) -> None:
        with self._condition:
            self._is_ended = True
            self._generation += 1
            self._condition.notify()

    def changed(self, path: str, *, at_once: bool = False) -> None:
        """Check again what depends on the file at a real path, ``at_once`` or after a pause."""
        self._add(self._top(path), frozenset({path}), at_once=at_once)

    def everything_changed(self) -> None:
        """Check all again: files have come or gone."""
        for top in list(self._repositories):
            self._add(top, None, at_once=False)

    def found_in(self, path: str, uri: str) -> tuple[Diagnostic, ...]:
        """Return the findings that are shown in the file at a real path."""
        publication = self._publications.get(self._top(path))
        return () if publication is None else publication.found_in(uri)

    def _top(self, path: str) -> str:
        return next((folder for folder in self._folders if is_below(path, folder)), path)

    def _add(self, top: str, changed: frozenset[str] | None, *, at_once: bool) -> None:
        with self._condition:
            known = self._pending.get(top, frozenset())
            self._pending[top] = None if changed is None or known is None else changed | known
            self._generation += 1
            self._quiet_until = 0.0 if at_once else time.monotonic() + PAUSE
            self._condition.notify()

    def _work(self) -> None:
        while (task := self._next()) is not None:
            top, changed, generation = task
            try:
                self._check(top, changed, generation)
            except Exception:
                # A bug in one check must not end all later ones; the editor shows the log.
                _LOG.exception("cannot check %s", top)

    def _next(self) -> tuple[str, frozenset[str] | None, int] | None:
        with self._condition:
            while not self._is_ended:
                rest = self._quiet_until - time.monotonic()
                if self._pending and rest <= 0:
                    top = next(iter(self._pending))
                    return top, self._pending.pop(top), self._generation
                self._condition.wait(rest if self._pending else None)
        return None

    def _check(self, top: str, changed: frozenset[str] | None, generation: int) -> None:
        if top not in self._repositories:
            self._repositories[top] = CheckedRepository(os.path.relpath(top))
            self._publications[top] = Publication(self._uri_of)
        publication = self._publications[top]

        def is_stale() -> bool:
            return self._generation != generation

        is_done = False
        try:
            for result in self._repositories[top].results(self._contents(), changed, is_stale):
                if is_stale():
                    return
                self._publish(publication.changes(result))
            is_done = not is_stale()
        finally:
            if not is_done:
                with self._condition:  # what was left is still to do
                    self._pending.setdefault(top, frozenset())

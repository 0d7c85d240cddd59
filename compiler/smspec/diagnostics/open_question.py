"""A question that a program or a library may ask a person on the terminal: nothing is drawn over it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOCK = threading.RLock()
_OPEN: list[bool] = []
_DRAWN: list[Callable[[], None]] = []
"""Each erases a line that changes."""


@contextmanager
def question(*, is_shown: bool) -> Iterator[None]:
    """Erase the lines that change, and let none be drawn in this context. ``is_shown``: a person sees a question."""
    with _LOCK:
        for erase in (*_DRAWN,):
            erase()
        _OPEN.append(is_shown)
    try:
        yield
    finally:
        with _LOCK:
            _OPEN.remove(is_shown)


@contextmanager
def drawing(erase: Callable[[], None]) -> Iterator[bool]:
    """Return whether a line may be drawn now, which ``erase`` removes. No question begins in this context."""
    with _LOCK:
        if not _OPEN and erase not in _DRAWN:
            _DRAWN.append(erase)
        yield not _OPEN


def erased(erase: Callable[[], None]) -> None:
    """Forget a line that was removed."""
    with _LOCK:
        if erase in _DRAWN:
            _DRAWN.remove(erase)


def is_waiting_unseen() -> bool:
    """Return whether a program may ask a question, or may only be slow."""
    return bool(_OPEN) and not any(_OPEN)

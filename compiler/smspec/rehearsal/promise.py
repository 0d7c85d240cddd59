"""A promise: what a job is expected to withstand, and how it is rehearsed; and the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from smspec.source.frozen import dataclass

if TYPE_CHECKING:
    from smspec.rehearsal.rehearsal import Rehearsal

State = Literal["kept", "broken", "not rehearsed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """``seen``: sentences, the most important one first; of a promise that was not rehearsed, the reason.

    ``advice``: what to do about a broken one. ``trial``, ``moment``, ``log``, and ``directory``: where to look.
    """

    state: State
    seen: tuple[str, ...]
    advice: str = ""
    trial: str = ""
    moment: str = ""
    log: str = ""
    directory: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """``name`` is the value of ``--only``. ``reason_against``: why it makes no sense for a job, or None."""

    name: str
    statement: str
    reason_against: Callable[[Rehearsal], str | None]
    rehearse: Callable[[Rehearsal], Outcome]


def kept(*seen: str) -> Outcome:
    """Return the outcome of a promise that held in every trial."""
    return Outcome(state="kept", seen=seen)


def not_rehearsed(*seen: str) -> Outcome:
    """Return the outcome of a promise about which nothing can be said, and the reason."""
    return Outcome(state="not rehearsed", seen=seen)

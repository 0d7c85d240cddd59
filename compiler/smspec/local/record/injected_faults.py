"""The injected faults that were requested, and how often they happened, for the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smspec.local.feeder.plan import Injection
from smspec.local.record.units import duration, size
from smspec.local.running.events import FaultInjected

NOTES = {"stall": "stalled", "truncate": "cut short", "kill_writer": "writer killed"}
"""The notes of the table for an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """One kind of fault: its option, the requested amount, and in how many epochs of all hosts it happened."""

    option: str
    value: float | None
    epochs: int

    def __str__(self) -> str:
        amount = "" if self.value is None else f" {_amount(self.option, self.value)}"
        happened = {0: "every epoch was shorter", 1: "in 1 epoch"}.get(self.epochs, f"in {self.epochs} epochs")
        return f"{self.option}{amount}: {happened}"


def rehearsed(injection: Injection | None, injected: Sequence[FaultInjected]) -> tuple[InjectedFault, ...]:
    """Return the requested faults, and how often they happened."""
    if injection is None:
        return ()
    wanted = {
        "stall": injection.stall or None,
        "truncate": injection.truncate,
        "kill_writer": True if injection.kill_writer else None,
    }
    return tuple(
        InjectedFault(
            option="--" + kind.replace("_", "-"),
            value=None if value is True else value,
            epochs=sum(fault.kind == kind for fault in injected),
        )
        for kind, value in wanted.items()
        if value is not None
    )


def describe(fault: FaultInjected) -> str:
    """Return a message about a fault that was just injected."""
    note = NOTES[fault.kind]
    return f"injected: {fault.host}, channel `{fault.channel}`, epoch {fault.epoch}: {note} after {size(fault.size)}"


def _amount(option: str, value: float) -> str:
    return duration(value) if option == "--stall" else size(value)

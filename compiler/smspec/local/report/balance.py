"""How long the script of a host waited for data and computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """Seconds of waiting for data, and of computing, over all channels in the epochs ``first`` to ``last``."""

    host: str
    first: int
    last: int
    waiting: float
    computing: float

    @property
    def epochs(self) -> str:
        """Return ``3`` or ``0-19``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def verdict(self) -> str:
        """Return what to speed up, in the words of the runtime's log."""
        return "data-bound" if self.waiting > self.computing else "compute-bound"

    @property
    def waiting_share(self) -> float:
        """Return the percentage of time in which the script waited."""
        whole = self.waiting + self.computing
        return 100 * self.waiting / whole if whole else 0.0


def added_up(balances: Iterable[Balance]) -> list[Balance]:
    """Return one balance per host."""
    hosts: dict[str, list[Balance]] = {}
    for balance in balances:
        hosts.setdefault(balance.host, []).append(balance)
    return [
        Balance(
            host=host,
            first=min(balance.first for balance in members),
            last=max(balance.last for balance in members),
            waiting=sum(balance.waiting for balance in members),
            computing=sum(balance.computing for balance in members),
        )
        for host, members in hosts.items()
    ]

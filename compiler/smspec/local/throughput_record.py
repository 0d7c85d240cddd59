"""The bytes through the channels of a run, over its time."""

from __future__ import annotations

from smspec.local.report.series import Series


class ThroughputRecord:
    """Bytes so far over all epochs, by host and channel, in bounded memory for each."""

    def __init__(self) -> None:
        self._series: dict[tuple[str, str], Series] = {}
        self._epochs: dict[tuple[str, str], dict[int | None, int]] = {}
        self._totals: dict[tuple[str, str], int] = {}

    def add(self, host: str, channel: str, epoch: int | None, size: int, since: float) -> None:
        """Add that an epoch has reached ``size`` bytes, ``since`` seconds after the start of the run."""
        sizes = self._epochs.setdefault((host, channel), {})
        # Not added up again: a run may have many thousands of epochs.
        total = self._totals.get((host, channel), 0) + size - sizes.get(epoch, 0)
        self._totals[host, channel] = total
        sizes[epoch] = size
        self._series.setdefault((host, channel), Series()).add(max(0.0, since), total)

    @property
    def samples(self) -> dict[tuple[str, str], tuple[tuple[float, int], ...]]:
        """Return (host, channel) → samples of (seconds since the start, bytes so far)."""
        return {key: series.samples for key, series in self._series.items()}

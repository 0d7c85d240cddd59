"""The bytes through a channel over the time of a run, in bounded memory."""

from __future__ import annotations

_MOST = 2048
_FIRST_INTERVAL = 0.05


class Series:
    """Samples of (seconds since the start, bytes so far), thinned out evenly as a run grows longer."""

    def __init__(self) -> None:
        self._samples: list[tuple[float, int]] = []
        self._interval = _FIRST_INTERVAL
        self._last: tuple[float, int] | None = None

    def add(self, moment: float, count: int) -> None:
        """Add that ``count`` bytes have passed in all; times are in order."""
        before, self._last = self._last, (moment, count)
        if self._samples and moment - self._samples[-1][0] < self._interval:
            return
        if before is not None and before != self._samples[-1]:
            self._samples.append(before)  # the start of a pause
        self._samples.append(self._last)
        if len(self._samples) > _MOST:
            self._samples = self._samples[::2]
            self._interval *= 2

    @property
    def samples(self) -> tuple[tuple[float, int], ...]:
        """Return the kept samples, always with the last one."""
        kept = tuple(self._samples)
        return kept if self._last is None or kept[-1] == self._last else (*kept, self._last)

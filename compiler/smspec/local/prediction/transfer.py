"""How long the data of a host take from S3, or from its disk, in each input mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from smspec.local.prediction.host_limits import HostLimits
from smspec.local.prediction.interval import NONE, Interval
from smspec.local.prediction.job_data import Share
from smspec.local.prediction.s3_service import S3Service

Modes = Mapping[str, str]
"""Channel → its input mode."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """Transfers to one host, which has the channels of ``shares`` in ``modes``."""

    host: HostLimits
    s3: S3Service
    modes: Modes
    shares: Mapping[str, Share]

    @property
    def disk_bytes(self) -> int:
        """The data on the disk when the script starts."""
        return _total(self._in("File"))

    def wait(self) -> Interval:
        """Return the seconds until the script has its first data."""
        seconds = NONE
        copied, mounted = self._in("File"), self._in("FastFile")
        if _total(copied):
            seconds += _at(self._download_rate(), _total(copied)) + self._requested(copied)
        if mounted:
            # The keys are listed first, one response after the other.
            pages = sum(max(1, -(-(share.objects or 0) // self.s3.listed)) for share in mounted)
            seconds += self.s3.latency.scaled(pages + 1)
        streamed = _total(self._in("Pipe"))
        if streamed:
            # The first of several requests at once may end last, because they share the network.
            first = min(streamed, self.s3.requests * self.s3.range) / self.host.network.least
            seconds += self.s3.latency + Interval(0.0, first)
        return seconds

    def read(self, passes: Mapping[str, float]) -> Interval:
        """Return the seconds that S3 or the disk needs to deliver each channel as often as ``passes`` says."""
        seconds = NONE
        for mode in ("File", "FastFile", "Pipe"):
            for name, share in self.shares.items():
                if self.modes[name] == mode and share.bytes:
                    seconds += self._once(mode, share).scaled(passes.get(name, 1.0))
        return seconds

    def source_rate(self) -> Interval | None:
        """Return how many bytes per second a script gets that only reads; None if no limit is known."""
        size = _total(self.shares.values())
        seconds = self.read({})
        if not size or not seconds.most:
            return None
        return Interval(size / seconds.most, size / seconds.least if seconds.least else float("inf"))

    def _once(self, mode: str, share: Share) -> Interval:
        network = self.host.network
        if mode == "File":
            return self._from_disk(share.bytes)
        if mode == "FastFile":
            # At least: the script reads ahead with many workers. At most: it reads one object after the other.
            rate = Interval(min(network.least, self.s3.request_rate), network.most)
            return _at(rate, share.bytes) + Interval(0.0, self.s3.latency.most * (share.objects or 0))
        rate = Interval(min(network.least, self.s3.request_rate * self.s3.requests), network.most)
        return _at(rate, share.bytes) + self._requested([share])

    def _download_rate(self) -> Interval:
        limits = [self.host.network, *([self.host.disk] if self.host.disk is not None else [])]
        most = min(limit.most for limit in limits)
        return Interval(min(self.s3.download_rate, most, *(limit.least for limit in limits)), most)

    def _from_disk(self, size: int) -> Interval:
        """Return the seconds for reading a file; the memory may still have it from the download."""
        if self.host.disk is None:
            return NONE
        seconds = _at(self.host.disk, size)
        fits = self.host.memory is None or self.disk_bytes < self.host.memory
        return Interval(0.0, seconds.most) if fits else seconds

    def _requested(self, shares: Iterable[Share]) -> Interval:
        """Return the seconds of waiting for first bytes, at most those of `S3Service.requests` at once."""
        rounds = sum(-(-(share.objects or 0) // self.s3.requests) for share in shares)
        return Interval(0.0, self.s3.latency.most * rounds)

    def _in(self, mode: str) -> list[Share]:
        return [share for name, share in self.shares.items() if self.modes[name] == mode]


def _total(shares: Iterable[Share]) -> int:
    return sum(share.bytes for share in shares)


def _at(rate: Interval, size: int) -> Interval:
    return Interval(size / rate.most, size / rate.least)

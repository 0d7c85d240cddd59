"""What to expect of a job in one input mode, and how long its data take from S3, or from the disk of a host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smspec.local.prediction.job_data import JobData, Share
from smspec.local.prediction.limits import NONE, HostLimits, Interval, S3Service, slowest
from smspec.source.frozen import dataclass

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
        return _sum_of(self._in("File"))

    def wait(self) -> Interval:
        """Return the seconds until the script has its first data."""
        seconds = NONE
        copied, mounted = self._in("File"), self._in("FastFile")
        if _sum_of(copied):
            seconds += _at(self._download_rate(), _sum_of(copied)) + self._requested(copied)
        if mounted:
            # The keys are listed first, one response after the other.
            pages = sum(max(1, -(-(share.objects or 0) // self.s3.listed)) for share in mounted)
            seconds += self.s3.latency.scaled(pages + 1)
        streamed = _sum_of(self._in("Pipe"))
        if streamed:
            # The first of several requests at once may end last, because they share the network.
            first = min(streamed, self.s3.requests * self.s3.range) / self.host.network.least
            seconds += self.s3.latency + Interval(0.0, first)
        return seconds

    def read(self) -> Interval:
        """Return the seconds that S3 or the disk needs to deliver all data once."""
        seconds = NONE
        for mode in ("File", "FastFile", "Pipe"):
            for name, share in self.shares.items():
                if self.modes[name] == mode and share.bytes:
                    seconds += self._once(mode, share)
        return seconds

    def source_rate(self) -> Interval | None:
        """Return how many bytes per second a script gets that only reads; None if no limit is known."""
        size = _sum_of(self.shares.values())
        seconds = self.read()
        if not size or not seconds.most:
            return None
        return Interval(size / seconds.most, size / seconds.least if seconds.least else float("inf"))

    def _once(self, mode: str, share: Share) -> Interval:
        network = self.host.network
        if mode == "File":
            # The memory may still have what was downloaded.
            return NONE if self.host.disk is None else Interval(0.0, share.bytes / self.host.disk.least)
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

    def _requested(self, shares: Iterable[Share]) -> Interval:
        """Return the seconds of waiting for first bytes, at most those of `S3Service.requests` at once."""
        rounds = sum(-(-(share.objects or 0) // self.s3.requests) for share in shares)
        return Interval(0.0, self.s3.latency.most * rounds)

    def _in(self, mode: str) -> list[Share]:
        return [share for name, share in self.shares.items() if self.modes[name] == mode]


def _sum_of(shares: Iterable[Share]) -> int:
    return sum(share.bytes for share in shares)


def _at(rate: Interval, size: int) -> Interval:
    return Interval(size / rate.most, size / rate.least)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModePrediction:
    """A job whose channels use ``mode``, or the modes of the spec (``mode`` empty). Bytes, seconds, bytes per second.

    ``obstacle``: why SageMaker rejects this; then nothing is predicted. ``caution``: what the script must avoid.
    ``wait``: from the start of the download until the slowest host has its first data. ``downloaded``: by all hosts
    together before the script starts. ``disk``: the data on the fullest host, of ``capacity``. ``rate``: what S3 or the
    disk delivers to the slowest host, if a limit is known. ``one_pass``: the seconds for reading all data once, by a
    script that does nothing else.
    """

    mode: str
    is_of_spec: bool
    obstacle: str = ""
    caution: str = ""
    wait: Interval | None = None
    downloaded: int | None = None
    disk: int | None = None
    capacity: int | None = None
    rate: Interval | None = None
    one_pass: Interval | None = None

    @property
    def is_disk_full(self) -> bool:
        return self.disk is not None and self.capacity is not None and self.disk > self.capacity


def predicted_mode(mode: str, modes: Modes, data: JobData, s3: S3Service, *, is_of_spec: bool) -> ModePrediction:
    """Return what to expect if the channels have these modes. Every host has limits."""
    obstacle = _obstacle(modes, data)
    if obstacle:
        return ModePrediction(mode=mode, is_of_spec=is_of_spec, obstacle=obstacle)
    of_hosts = data.of_hosts()
    transfers = {}  # by what they depend on: most hosts are alike
    for host in data.hosts:
        shares = of_hosts[host.name]
        if any(share.bytes for share in shares.values()):
            key = host.instance_type, tuple(shares.items())
            transfers[key] = Transfer(data.limits[host.instance_type], s3, modes, shares)
    alike = list(transfers.values())
    fullest = max(alike, key=lambda each: (each.disk_bytes / (each.host.capacity or float("inf")), each.disk_bytes))
    rates = [rate for each in alike if (rate := each.source_rate()) is not None]
    return ModePrediction(
        mode=mode,
        is_of_spec=is_of_spec,
        caution=_caution(modes, data),
        wait=slowest(each.wait() for each in alike),
        downloaded=sum(
            share.bytes for shares in of_hosts.values() for name, share in shares.items() if modes[name] == "File"
        ),
        disk=fullest.disk_bytes,
        capacity=fullest.host.capacity,
        rate=Interval(min(each.least for each in rates), min(each.most for each in rates)) if rates else None,
        one_pass=slowest(each.read() for each in alike) if rates else None,
    )


def _obstacle(modes: Modes, data: JobData) -> str:
    for channel in data.channels:
        obstacle = channel.obstacle(modes[channel.name])
        if obstacle:
            return obstacle
    return ""


def _caution(modes: Modes, data: JobData) -> str:
    """Return what the modes would change for the processes of a host; the author knows about those of the spec."""
    is_new = any(modes[each.name] == "Pipe" != each.channel.mode for each in data.channels)
    return f"{data.readers} of a host must not share a FIFO" if data.readers and is_new else ""

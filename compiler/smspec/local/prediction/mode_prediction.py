"""What to expect of a job in one input mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from smspec.local.prediction.interval import Interval, hull, slowest
from smspec.local.prediction.job_data import JobData
from smspec.local.prediction.reading import Reading
from smspec.local.prediction.s3_service import S3Service
from smspec.local.prediction.transfer import Modes, Transfer


@dataclass(frozen=True, slots=True, kw_only=True)
class ModePrediction:
    """A job whose channels use ``mode``, or the modes of the spec (``mode`` empty). Bytes, seconds, bytes per second.

    ``obstacle``: why SageMaker rejects this; then nothing is predicted. ``caution``: what the script must avoid.
    ``wait``: from the start of the download until the slowest host has its first data. ``downloaded``: by all hosts
    together before the script starts. ``disk``: the data on the fullest host, of ``capacity``. ``source``: what S3 or
    the disk delivers to a host at most. ``rate``, ``one_pass``, and ``total`` are unknown without a `Reading`: bytes
    per second of the slowest host, seconds for reading all data once, and for the whole job.
    """

    mode: str
    is_of_spec: bool
    obstacle: str = ""
    caution: str = ""
    wait: Interval | None = None
    downloaded: int | None = None
    disk: int | None = None
    capacity: int | None = None
    source: Interval | None = None
    rate: Interval | None = None
    one_pass: Interval | None = None
    total: Interval | None = None

    @property
    def is_disk_full(self) -> bool:
        return self.disk is not None and self.capacity is not None and self.disk > self.capacity


def predicted_mode(
    mode: str, modes: Modes, data: JobData, reading: Reading | None, s3: S3Service, *, is_of_spec: bool
) -> ModePrediction:
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
    sources = [source for each in alike if (source := each.source_rate()) is not None]
    passes = [_one_pass(each, reading) for each in alike] if reading else []
    wait = slowest(each.wait() for each in alike)
    return ModePrediction(
        mode=mode,
        is_of_spec=is_of_spec,
        caution=_caution(modes, data),
        wait=wait,
        downloaded=sum(
            share.bytes for shares in of_hosts.values() for name, share in shares.items() if modes[name] == "File"
        ),
        disk=fullest.disk_bytes,
        capacity=fullest.host.capacity,
        source=Interval(min(each.least for each in sources), min(each.most for each in sources)) if sources else None,
        rate=_slowest_rate(alike, passes),
        one_pass=slowest(passes) if passes else None,
        total=_total(alike, wait, reading) if reading else None,
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


def _total(transfers: list[Transfer], wait: Interval, reading: Reading) -> Interval:
    """Return the seconds of the job: at best, hosts do not wait for the downloads of others."""
    whole = [_whole(each, reading) for each in transfers]
    alone = [each.wait() + seconds for each, seconds in zip(transfers, whole, strict=True)]
    return Interval(slowest(alone).least, wait.most + slowest(whole).most)


def _one_pass(transfer: Transfer, reading: Reading) -> Interval:
    """Return the seconds for reading all channels once."""
    size = sum(share.bytes for share in transfer.shares.values())
    return hull(_overlapped(scenario.per_byte * size, transfer.read({})) for scenario in reading.scenarios)


def _whole(transfer: Transfer, reading: Reading) -> Interval:
    """Return the seconds of the script."""
    sizes: Mapping[str, float] = {name: float(share.bytes) for name, share in transfer.shares.items()}
    return hull(
        _overlapped(scenario.per_byte * scenario.read(sizes), transfer.read(scenario.passes))
        + Interval(scenario.rest, scenario.rest)
        for scenario in reading.scenarios
    )


def _overlapped(computing: float, transfer: Interval) -> Interval:
    """Return the seconds of both: at once at best, one after the other at worst."""
    return Interval(max(computing, transfer.least), computing + transfer.most)


def _slowest_rate(transfers: list[Transfer], passes: list[Interval]) -> Interval | None:
    rates = []
    for transfer, seconds in zip(transfers, passes, strict=False):
        size = sum(share.bytes for share in transfer.shares.values())
        if seconds.least:
            rates.append(Interval(size / seconds.most, size / seconds.least))
    return Interval(min(each.least for each in rates), min(each.most for each in rates)) if rates else None

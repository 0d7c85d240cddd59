"""How fast the script of a run consumed its data, as far as the run has seen it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from smspec.local.record.flows import Balance, Flow
from smspec.local.running.events import HostEnded
from smspec.local.watch.file_watch import Opened

LEAST_SECONDS = 0.05
"""A shorter time says more about the clock than about the script."""

BUFFER = 1 << 20
"""The bytes that a FIFO holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One explanation of what the run has measured on ``host``; where several are possible, the prediction spans them.

    ``per_byte``: seconds of computing for each byte that the script read. ``passes``: channel → how often the script
    read all of it. ``rest``: seconds of the host without reading, such as for imports.
    """

    host: str
    per_byte: float
    passes: Mapping[str, float]
    rest: float

    def read(self, sizes: Mapping[str, float]) -> float:
        """Return the bytes that the script reads of channels with these sizes."""
        return sum(size * self.passes.get(name, 1.0) for name, size in sizes.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """``scenarios`` of all hosts of a run; ``notes``: how they were measured."""

    scenarios: tuple[Scenario, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRun:
    """What a completed run has recorded. ``sizes``: (host, channel) → bytes in S3 of its data.

    ``slowed``: why channels delivered their data more slowly than this machine could, if they did. ``opened``: (host,
    channel) → when and how often the files were opened, of the channels where that was watched.
    """

    flows: Sequence[Flow]
    balances: Sequence[Balance]
    hosts: Sequence[HostEnded]
    sizes: Mapping[tuple[str, str], int]
    slowed: str
    opened: Mapping[tuple[str, str], Opened]


def reading_of(run: SeenRun) -> Reading | str:
    """Return how the script read its data, or why that is unknown, as a sentence."""
    scenarios: list[Scenario] = []
    notes: dict[str, None] = {}
    for host in run.hosts:
        flows = [flow for flow in run.flows if flow.host == host.host and (flow.host, flow.channel) in run.sizes]
        if not any(run.sizes[flow.host, flow.channel] for flow in flows):
            continue
        found = _of_host(run, host, flows)
        if isinstance(found, str):
            return found
        scenarios += found.scenarios
        notes.update(dict.fromkeys(found.notes))
    if not scenarios:
        return "the script read no data of these channels"
    return Reading(scenarios=tuple(scenarios), notes=tuple(notes))


def _of_host(run: SeenRun, host: HostEnded, flows: Sequence[Flow]) -> Reading | str:
    early = next((flow for flow in flows if flow.is_early), None)
    if early is not None:
        return f"the script closed an epoch of `{early.channel}` before its end"
    streamed: dict[str, list[Flow]] = {}
    for flow in flows:
        if flow.epoch is not None:
            streamed.setdefault(flow.channel, []).append(flow)
    passes = {name: float(len(epochs)) for name, epochs in streamed.items()}
    copied = {flow.channel: run.opened.get((host.host, flow.channel)) for flow in flows if flow.epoch is None}
    opened = {name: found for name, found in copied.items() if found is not None}
    balances = [balance for balance in run.balances if balance.host == host.host]
    if streamed and balances:
        computing = sum(balance.computing for balance in balances)
        waiting = sum(balance.waiting for balance in balances)
        times = [_Times(computing, host.seconds - computing - waiting)]
        note = "the time of computing is what the pipe loop measured, without its waits for data"
        return _with_rate(run, host.host, times, [{**passes, **_all_read(opened)}], note)
    if len(opened) < len(copied):
        return "on this machine, a run cannot see when a script reads files; a pipe loop measures it"
    if not streamed:
        return _of_files(run, host, opened)
    return _of_streams(run, host, streamed, opened)


@dataclass(frozen=True, slots=True)
class _Times:
    computing: float
    rest: float


def _of_streams(
    run: SeenRun, host: HostEnded, streamed: Mapping[str, Sequence[Flow]], opened: Mapping[str, Opened]
) -> Reading | str:
    """Return the reading of a host whose script opens FIFOs itself: from how long they took the data."""
    short, long = [], []
    for name, epochs in streamed.items():
        seconds, size = sum(flow.seconds for flow in epochs), sum(flow.size for flow in epochs)
        buffered = len(epochs) * BUFFER
        if size < 2 * buffered:
            return f"an epoch of `{name}` is hardly more than a FIFO buffers, too little to measure"
        # What the FIFO still had when the last byte was written is read without being seen.
        short.append(seconds)
        long.append(seconds * size / (size - buffered))
    # Nothing says whether a script reads its channels at once or one after the other, or when it reads files.
    bounds = [max(short), host.seconds if opened else min(sum(long), host.seconds)]
    times = [_Times(seconds, host.seconds - seconds) for seconds in bounds]
    note = "the script computed for as long as its FIFOs were open"
    if run.slowed:
        times.append(_Times(0.0, host.seconds - max(short)))
        note = f"{run.slowed}, so it is unknown how much of that time the script waited"
    passes = {name: float(len(epochs)) for name, epochs in streamed.items()}
    return _with_rate(run, host.host, times, [{**passes, **_all_read(opened)}], note)


def _of_files(run: SeenRun, host: HostEnded, opened: Mapping[str, Opened]) -> Reading | str:
    """Return the reading of a host that has files only: from when it opened them."""
    used = [each for each in opened.values() if each.count]
    if not used:
        return "the script opened no file of these channels"
    seconds = host.seconds
    begin, opened_by = min(each.first for each in used)
    open_for = min(max(0.0, max(each.last for each in used)[0] - opened_by), seconds)
    times = [_Times(open_for, seconds - open_for), _Times(seconds - begin, min(begin, seconds))]
    note = (
        "the script computed for between the time in which it had files open and all the time after it opened the "
        "first one, and it read each file between once and as often as it opened it"
    )
    # A worker that opens a file may read a part of it.
    once = {name: min(1.0, count) for name, count in _all_read(opened).items()}
    return _with_rate(run, host.host, times, [once, _all_read(opened)], note)


def _all_read(opened: Mapping[str, Opened]) -> dict[str, float]:
    """Return how often files were read if each was read as often as it was opened."""
    return {name: each.passes for name, each in opened.items()}


def _with_rate(
    run: SeenRun, host: str, times: Sequence[_Times], passes: Iterable[Mapping[str, float]], note: str
) -> Reading | str:
    scenarios = []
    for each in passes:
        read = sum(run.sizes[host, name] * count for name, count in each.items())
        for time in times:
            if read:
                scenarios.append(
                    Scenario(host=host, per_byte=max(time.computing, 0.0) / read, passes=each, rest=max(time.rest, 0.0))
                )
    if not scenarios:
        return "the script read no data of these channels"
    if max(time.computing for time in times) < LEAST_SECONDS:
        return f"the script read its data in less than {LEAST_SECONDS:g} seconds, too short to measure"
    return Reading(scenarios=tuple(scenarios), notes=(note,))

"""The first bytes of a Pipe stream, read from the feeder that would feed a host."""

from __future__ import annotations

import os
import select
import time

from smspec.local.channel_data import ChannelData
from smspec.local.feeder.plan import FeederPlan
from smspec.local.feeder_process import own_feeder
from smspec.local.training_request import Host
from smspec.source.frozen import dataclass

_MOST = 4 << 20
_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStart:
    """``is_whole``: the stream has no more bytes."""

    content: bytes
    is_whole: bool


def read_stream_start(data: ChannelData, host: Host, hosts: tuple[Host, ...], directory: str) -> StreamStart:
    """Return the start of the first epoch. ``directory``: an empty one. Raise RunFailed if no feeder starts."""
    channel = data.feeder_channel(host, hosts)._replace(epochs=1)
    plan = FeederPlan(directory=os.path.abspath(directory), channels=[channel])
    feeder = own_feeder(host.name, plan, os.path.join(directory, "feeder.json"))
    try:
        # Without O_NONBLOCK, it would wait forever for a feeder that has failed.
        descriptor = os.open(os.path.join(directory, f"{channel.name}_0"), os.O_RDONLY | os.O_NONBLOCK)
        try:
            return _read(descriptor)
        finally:
            os.close(descriptor)
    finally:
        for _ in feeder.stop():
            pass


def _read(descriptor: int) -> StreamStart:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    deadline = time.monotonic() + _SECONDS
    content = b""
    while len(content) < _MOST and time.monotonic() < deadline:
        if not poll.poll(1000):
            continue
        data = os.read(descriptor, _MOST - len(content))
        if not data:
            return StreamStart(content=content, is_whole=True)
        content += data
    return StreamStart(content=content, is_whole=False)

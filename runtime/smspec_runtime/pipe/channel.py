"""The FIFOs of a channel, one after another."""

from typing import Dict, Iterator, Optional

from ..channel import Channel
from .errors import Origin
from .fifo import Timeouts
from .stream import Reading, Stream
from .wake import process_wake


class Fifos:
    """Gives a stream for the next FIFO of a channel: ``<path>_0``, ``<path>_1`` …, which SageMaker fills in that order.

    Whatever the epoch of the training is, one that nobody has opened remains the next: no data is fetched in vain.
    """

    def __init__(self, channel: Channel) -> None:
        settings = channel.settings
        patience = 600.0 if settings.open_timeout is None else settings.open_timeout
        self._reading = Reading(
            settings.read.get(channel.name, "chunks"),
            settings.attributes.get(channel.name, ()),
            settings.prefetch or 0,
            Timeouts(patience, patience),
        )
        self._channel = channel
        self._position = 0
        self._stream: Optional[Stream] = None

    def next(self) -> Stream:
        """Close the stream given before; give the next one."""
        if self._stream is not None:
            self._stream.close()
            self._position += self._stream.opened
        origin = Origin(f"{self._channel.path}_{self._position}", self._channel.name, self._position)
        self._stream = Stream(origin, self._reading)
        return self._stream


def channel_epochs(channel: Channel, count: int) -> Iterator[Stream]:
    """Yield ``count`` streams, fewer when the job is to stop. A second call goes on with the next FIFO."""
    fifos = _FIFOS.setdefault(channel.path, Fifos(channel))
    for _ in range(count):
        with fifos.next() as stream:
            yield stream
        if process_wake().heard():
            return


_FIFOS: Dict[str, Fifos] = {}
"""By path. SageMaker makes each FIFO once, so where a channel stands belongs to the process."""

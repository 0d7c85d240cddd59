"""The FIFOs of a channel, one after another."""

from typing import Dict, Iterator, Optional

from ..channel import Channel
from .errors import Origin
from .fifo import Timeouts
from .stream import Reading, Stream
from .wake import Wake, process_wake


class Fifos:
    """Gives a stream for the next FIFO of a channel: ``<path>_0``, ``<path>_1`` ….

    SageMaker fills them in that order, whatever the epoch of the training is. So a FIFO that nobody has opened remains
    the next one: a handler that evaluates every fifth epoch reads ``validation_0`` in the fifth and ``validation_1`` in
    the tenth, no data is fetched to be thrown away, and no wait is made that nobody asked for.
    """

    def __init__(self, channel: Channel, wake: Optional[Wake] = None) -> None:
        self.channel = channel
        self._reading = _reading(channel)
        self._wake = wake
        self._position = 0
        self._stream: Optional[Stream] = None

    def next(self) -> Stream:
        """Close the stream given before, and with it what is left of its FIFO if it was opened; give the next one."""
        if self._stream is not None:
            self._stream.close()
            self._position += self._stream.opened
        path = f"{self.channel.path}_{self._position}"
        self._stream = Stream(Origin(path, self.channel.name, self._position), self._reading, self._wake)
        return self._stream

    def close(self) -> None:
        """Close the stream that was given last."""
        if self._stream is not None:
            self._stream.close()


def channel_epochs(channel: Channel, count: int) -> Iterator[Stream]:
    """Yield ``count`` streams, fewer when the job is to stop. A second call goes on with the next FIFO."""
    wake = process_wake()
    fifos = _FIFOS.setdefault(channel.path, Fifos(channel, wake))
    for _ in range(count):
        stream = fifos.next()
        try:
            yield stream
        finally:
            stream.close()
        if wake.heard():
            return


_FIFOS: Dict[str, Fifos] = {}
"""By path. SageMaker makes each FIFO once, so where a channel stands belongs to the process."""


def _reading(channel: Channel) -> Reading:
    settings = channel.settings
    patience = 600.0 if settings.open_timeout is None else float(settings.open_timeout)
    return Reading(
        read=settings.read.get(channel.name, "chunks"),
        attributes=tuple(settings.attributes.get(channel.name, ())),
        prefetch=settings.prefetch or 0,
        timeouts=Timeouts(exists=patience, first_byte=patience),
    )

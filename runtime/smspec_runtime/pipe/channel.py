"""The FIFOs of a channel, one after another."""

from typing import Dict, Iterator, Optional

from ..channel import Channel
from .stream import Stream
from .wake import process_wake


class Fifos:
    """Gives a stream for the next FIFO, ``<path>_0``, ``<path>_1`` …; one that was not opened remains the next."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._position = 0
        self._stream: Optional[Stream] = None

    def next(self) -> Stream:
        """Return a stream; the one given before is closed."""
        if self._stream is not None:
            self._stream.close()
            self._position += self._stream.stats.opened > 0
        name, settings = self._channel.name, self._channel.settings
        self._stream = Stream(
            f"{self._channel.path}_{self._position}",
            settings.read.get(name, "chunks"),
            settings.attributes.get(name, ()),
            settings.prefetch or 0,
            600.0 if settings.open_timeout is None else settings.open_timeout,
            channel=name,
            epoch=self._position,
        )
        return self._stream


def channel_epochs(channel: Channel, count: int) -> Iterator[Stream]:
    """Fewer on SIGTERM. A second call goes on with the next FIFO."""
    fifos = _FIFOS.setdefault(channel.path, Fifos(channel))
    for _ in range(count):
        with fifos.next() as stream:
            yield stream
        if process_wake().heard():
            return


_FIFOS: Dict[str, Fifos] = {}  # by path; SageMaker makes each FIFO once, so the position is the process's

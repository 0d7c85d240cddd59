"""The FIFOs of a channel, one after another."""

from typing import Dict, Iterator, Optional

from ..run_plan import RunSettings
from .stop_waits import process_wake
from .stream import Stream


class Fifos:
    """Streams of ``<path>_0``, ``<path>_1`` …; one that was not opened remains the next."""

    def __init__(self, name: str, path: str, settings: RunSettings) -> None:
        self._of = name, path, settings
        self._position = 0
        self._stream: Optional[Stream] = None

    def next(self) -> Stream:
        """A stream; the one before is closed."""
        if self._stream is not None:
            self._stream.close()
            self._position += self._stream.stats.opened > 0
        name, path, settings = self._of
        self._stream = Stream(
            f"{path}_{self._position}",
            settings.read.get(name, "chunks"),
            settings.attributes.get(name, ()),
            settings.prefetch or 0,
            600.0 if settings.open_timeout is None else settings.open_timeout,
            channel=name,
            epoch=self._position,
        )
        return self._stream


def channel_epochs(name: str, path: str, settings: RunSettings, count: int) -> Iterator[Stream]:
    """Fewer on SIGTERM. Another call continues with the next FIFO."""
    fifos = _FIFOS.setdefault(path, Fifos(name, path, settings))
    for _ in range(count):
        with fifos.next() as stream:
            yield stream
        if process_wake().heard():
            return


_FIFOS: Dict[str, Fifos] = {}  # by path: SageMaker creates each FIFO once

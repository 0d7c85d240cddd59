"""An input channel."""

from .lean_typing import TYPE_CHECKING, Iterator, Json, NamedTuple
from .run_plan import RunSettings

if TYPE_CHECKING:
    from .pipe.stream import Stream


class Channel(NamedTuple):
    """``mode``: File, FastFile or Pipe; ``config``: in ``inputdataconfig.json``; ``path``: of FIFOs without ``_0``."""

    name: str
    path: str
    mode: str
    config: Json
    settings: RunSettings

    def epochs(self, count: int) -> "Iterator[Stream]":
        """Yield a stream per epoch, in the spec's view."""
        if self.mode != "Pipe":
            raise ValueError(f"channel `{self.name}` is in {self.mode} mode: read the files in {self.path}")
        from .pipe.channel import channel_epochs  # Late: few need it.

        yield from channel_epochs(self.name, self.path, self.settings, count)

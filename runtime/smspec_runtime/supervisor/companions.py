"""The companions of a program, once they run."""

import signal

from ..command import Companion
from ..lean_typing import Dict, Mapping, Optional
from ..outcome import Outcome, status_of
from .tree import signal_group


class Companions:
    """Those that run, and the first of them that failed."""

    def __init__(self) -> None:
        self._running: Dict[int, Companion] = {}
        self.failure: Optional[Outcome] = None

    def add(self, process: int, companion: Companion) -> None:
        self._running[process] = companion

    def take_in(self, ended: Mapping[int, int]) -> bool:
        """Take out those that have ended. Return whether one of them is the first that failed."""
        for process in set(ended).intersection(self._running):
            companion = self._running.pop(process)
            status = status_of(ended[process])
            if status and companion.is_essential and self.failure is None:
                message = "`{}`, which runs beside the program, ended with exit status {}"
                self.failure = Outcome(status, error=message.format(" ".join(companion.words), status))
                return True
        return False

    def end(self) -> None:
        """Ask those that run to end; how they do so does not matter any more."""
        for process in self._running:
            signal_group(process, signal.SIGTERM)
        self._running = {}

"""Run a server of the standard library while a test needs it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from socketserver import BaseServer
from typing import TypeVar

_Server = TypeVar("_Server", bound=BaseServer)


@contextlib.contextmanager
def serving(server: _Server, poll_interval: float = 0.05) -> Iterator[_Server]:
    """Serve in a thread, and close the server in the end. ``poll_interval``: seconds that its end may take."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": poll_interval}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

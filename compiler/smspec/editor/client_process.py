"""End the server when the editor that started it is gone, even if a different process keeps its stdin open."""

from __future__ import annotations

import os
import threading
import time

_SECONDS = 2.0


def end_with(process: int | None) -> None:
    """Watch the editor's process, and end this one at most a few seconds after it; None: its parent alone counts."""
    threading.Thread(target=_watch, args=(process, os.getppid()), daemon=True).start()


def _watch(process: int | None, parent: int) -> None:
    while os.getppid() == parent and (process is None or _is_running(process)):
        time.sleep(_SECONDS)
    os._exit(0)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to someone else
    return True

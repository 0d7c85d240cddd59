"""What a program prints, which may be a stranger's: no more than a limit, and no longer than a time."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Callable

_READ = 1 << 16


class TooMuchOutput(Exception):
    """A program prints more than the limit to one of its streams."""


def both_outputs(process: subprocess.Popen[bytes], most_bytes: int, left: Callable[[], float]) -> tuple[bytes, bytes]:
    """Return what a process prints to its pipes, stdout and stderr, until it closes both.

    ``left`` returns the seconds that are left, and raises when there are none. Raise `TooMuchOutput`.
    """
    assert process.stdout is not None and process.stderr is not None
    found = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    with selectors.DefaultSelector() as selector:
        for descriptor in found:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(left()):
                part = os.read(key.fd, _READ)
                found[key.fd] += part
                if not part:
                    selector.unregister(key.fd)
                if len(found[key.fd]) > most_bytes:
                    raise TooMuchOutput
    out, err = found.values()
    return bytes(out), bytes(err)

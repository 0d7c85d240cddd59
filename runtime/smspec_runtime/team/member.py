"""Waits until the leader says how the job ended: ``python -m smspec_runtime.team.member LEADER:PORT HOST [WORDS …]``.

A process of its own: signals and companions are served meanwhile. ``WORDS``: this host's part, run first.
"""

import sys

from ..import_path import StandardLibraryOnly

with StandardLibraryOnly():
    import signal
    import socket
    import subprocess
    import time

    from ..early_signals import STOPS
    from ..log import log
    from . import SECONDS

# Ask a silent leader after 15 s, give up 15 s later.
_KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))


def main(address: str, host: str, *words: str) -> int:
    name, _, port = address.rpartition(":")
    leader = f"the leader, {name}"
    log(f"waiting for {leader}")
    try:
        connection = _connection(name, int(port), host)
        status = _run(*words) if words else 0
        if status:
            return status
        status = int(connection.makefile("rb").readline(16))
    except OSError as error:
        log(f"no connection to {leader}: {error}")
        return 1
    except ValueError:
        log(f"{leader}, went away before the job had ended")
        return 1
    if status:
        log(f"the job failed on {leader}, with exit status {status}")
    return status


def _connection(leader: str, port: int, host: str) -> socket.socket:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            connection = socket.create_connection((leader, port), 10)
            break
        except OSError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.5)
    # From here on the leader decides: it is told to stop at the same moment, and its program may save something.
    for number in STOPS:
        signal.signal(number, lambda *_: None)  # Not SIG_IGN: our own program would inherit that.
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    connection.sendall(host.encode("utf-8") + b"\n")
    return connection


def _run(*words: str) -> int:
    """Signals reach the program with our process group."""
    try:
        status = subprocess.call(words, close_fds=False)
    except OSError as error:
        log(f"{words[0]}: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

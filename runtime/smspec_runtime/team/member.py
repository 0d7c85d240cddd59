"""Waits until the leader says how the job ended: ``python -m smspec_runtime.team.member LEADER HOST``.

A process of its own: signals and companions are served meanwhile.
"""

import sys

from ..import_path import StandardLibraryOnly

# The author's directories may stand in front of the import path, with a socket.py in them.
with StandardLibraryOnly():
    import signal
    import socket
    import time

    from ..log import log
    from . import PORT, SECONDS

_PAUSE = 0.5
# A leader whose machine is gone says nothing more: ask after 15 s of silence, give up 15 s later.
_KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))


def main(leader: str, host: str) -> int:
    """Wait for the leader's word and return what this host exits with."""
    log(f"waiting for the leader, {leader}")
    try:
        answer = _answer(leader, host)
    except OSError as error:
        log(f"no connection to the leader, {leader}: {error}")
        return 1
    if not answer.strip().isdigit():
        log(f"the leader, {leader}, went away before the job had ended")
        return 1
    status = int(answer)
    if status:
        log(f"the job failed on the leader, {leader}, with exit status {status}")
    return status


def _answer(leader: str, host: str) -> bytes:
    """Return the leader's line, or nothing when it is gone. Raises OSError."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            connection = socket.create_connection((leader, PORT), 10)
            break
        except OSError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)
    # From here on the leader decides: it is told to stop at the same moment, and its program may save something.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    connection.sendall(host.encode("utf-8") + b"\n")
    return connection.makefile("rb").readline(16)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

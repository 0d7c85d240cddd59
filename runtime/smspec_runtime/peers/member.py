"""Waits for the leader's result: ``-m smspec_runtime.peers.member LEADER:PORT HOST KEYS [WORD …]``.

A process of its own: signals are served meanwhile. ``KEYS``: their directory if ssh is used, else `-`. ``WORD``:
this host's part, run first.
"""

import sys

from ..import_path import StandardLibraryOnly

with StandardLibraryOnly():
    import signal
    import socket
    import subprocess
    import time

    from ..early_signals import STOPS
    from ..lean_typing import Optional
    from ..log import log
    from . import READY, SECONDS
    from .keys import Keys, checked

_SECONDS_TO_ANSWER = 60.0
_LONGEST = 4096  # Bytes of a line.
# Ask a silent leader after 15 s, give up 15 s later.
_KEEPALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))


def main(address: str, host: str, keys: str, *words: str) -> int:
    name, _, port = address.rpartition(":")
    leader = f"the leader, {name}"
    log(f"waiting for {leader}")
    try:
        connection = _connection(name, int(port), host, None if keys == "-" else Keys(keys))
        if words and (status := _run(*words)):
            return status
        written, _, reason = _line(connection).partition(" ")
        status = int(written)
    except OSError as error:
        log(f"no connection to {leader}: {error}")
        return 1
    except ValueError:
        log(f"{leader}, went away before the job had ended")
        return 1
    if status:
        log(f"the job failed on {leader}, with exit status {status}: {reason.strip()}".rstrip(": "))
    return status


def _connection(leader: str, port: int, host: str, keys: Optional[Keys]) -> socket.socket:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            connection = socket.create_connection((leader, port), 10)
            connection.settimeout(_SECONDS_TO_ANSWER)
            _introduce(connection, host, keys)
            break
        except (OSError, ValueError):
            if time.monotonic() >= deadline:
                raise
            time.sleep(0.5)
    connection.settimeout(None)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return connection


def _introduce(connection: socket.socket, host: str, keys: Optional[Keys]) -> None:
    """Admit the leader by its key. If it hangs up, it may not know this host yet."""
    last = host
    if keys:
        connection.sendall(f"{host} {keys.public_of_host()}\n".encode())
        keys.admit(checked(_line(connection)))
        last = READY
    # The leader is stopped, too, and may save something: it decides.
    for number in STOPS:
        signal.signal(number, lambda *_: None)  # Not SIG_IGN: children inherit that.
    connection.sendall(f"{last}\n".encode())


def _line(connection: socket.socket) -> str:
    """Unbuffered: the next line stays in the pipe."""
    return connection.makefile("rb", buffering=0).readline(_LONGEST).decode("utf-8", "replace")


def _run(*words: str) -> int:
    """The process group passes signals to the program."""
    try:
        status = subprocess.call(words, close_fds=False)
    except OSError as error:
        log(f"{words[0]}: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126
    return 128 - status if status < 0 else status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Pass connections on to the machine outside: ``relay.py PORT=TARGET…``, until stdin ends.

TARGET is the path of a UNIX socket, or HOST:PORT. Prints ``ready`` when it listens on all ports.
"""

import os
import socket
import sys
import threading
from typing import Any, Callable, List

_READ = 1 << 16
_SECONDS = 60.0


def main(arguments: List[str]) -> None:
    """Listen until stdin ends."""
    for word in arguments:
        port, _, target = word.partition("=")
        started(listen, socket.create_server(("", int(port)), backlog=128), target)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # a thread may wait for a connection


def listen(listener: socket.socket, target: str) -> None:
    """Pass on each connection until the listener is closed."""
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        started(_serve, client, target)


def _serve(client: socket.socket, target: str) -> None:
    with client:
        try:
            server = _connected(target)
        except OSError:
            return
        with server:
            upload = started(_copy, client, server)
            _copy(server, client)
            upload.join(_SECONDS)


def _connected(target: str) -> socket.socket:
    if target.startswith("/"):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(target)
        return connection
    host, _, port = target.rpartition(":")
    connection = socket.create_connection((host, int(port)), _SECONDS)
    connection.settimeout(None)
    return connection


def _copy(source: socket.socket, target: socket.socket) -> None:
    """Copy until the end, and pass that on; a connection that breaks breaks the other one too."""
    try:
        while True:
            data = source.recv(_READ)
            if not data:
                break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def started(act: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Start a thread that ends with the process."""
    thread = threading.Thread(target=act, args=arguments, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    main(sys.argv[1:])

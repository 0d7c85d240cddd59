"""Run a command on a different host: ``ssh [OPTIONS] HOST COMMAND…``. Its exit status is that of the command."""

from __future__ import annotations

import array
import json
import os
import socket
import sys

_WITH_VALUE = frozenset("BbcDEeFIiJLlmOopQRSWw")
_DOORS = "/run/smspec/doors"
_FAILED = 255


def main(words: list[str]) -> int:
    host, command = split(words)
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(os.path.join(_DOORS, host))
        except OSError as fault:
            sys.stderr.write(f"ssh: connect to host {host} port 22: {fault.strerror}\n")
            return _FAILED
        streams = array.array("i", [0, 1, 2])
        door.sendmsg([b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
        door.sendall(json.dumps(command).encode() + b"\n")
        answer = b""
        while True:
            data = door.recv(16)
            if not data:
                break
            answer += data
    return int(answer or _FAILED)


def split(words: list[str]) -> tuple[str, str]:
    """Return the host and the command of a command line, as ssh(1) reads it."""
    left = list(words)
    while left and left[0].startswith("-"):
        option = left.pop(0)
        if option == "--":
            break
        has_value = next((index for index, letter in enumerate(option[1:]) if letter in _WITH_VALUE), None)
        if has_value is not None and has_value == len(option) - 2 and left:
            left.pop(0)
    host = left.pop(0) if left else ""
    return host.rpartition("@")[2], " ".join(left)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

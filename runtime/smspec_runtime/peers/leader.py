"""The leader's side."""

import select
import socket
import time
from functools import lru_cache

from ..lean_typing import Dict, List, Optional, Set, Tuple
from ..log import log
from ..refusal import Refused
from . import READY, SECONDS
from .keys import Keys, checked

_SECONDS_TO_HEAR = 5.0
_BETWEEN_LOGS = 30.0
_STRANGERS = 64
_LONGEST = 512  # of a line


class _Caller:
    """``name``: from its message; ``said``: part of a line."""

    name = ""
    said = b""
    is_member = False


class Team:
    def __init__(self, members: List[str], keys: Optional[Keys], port: int, host: str = "") -> None:
        self._members, self._keys, self._host = members, keys, host
        self._host_keys: Dict[str, List[str]] = {}
        self._ignored: Set[Tuple[str, str]] = set()
        self._callers: Dict[socket.socket, _Caller] = {}
        try:
            self._listener = socket.create_server(("", port), backlog=len(members) + _STRANGERS)
        except OSError as error:
            raise Refused(f"cannot listen on port {port} for the other hosts: {error}") from error
        self._listener.setblocking(False)

    def gather(self, seconds: float = SECONDS) -> None:
        """Until every member has called and, if it must, answers ssh."""
        deadline = time.monotonic() + seconds
        next_log = seconds
        while why := self._obstacle():
            left = deadline - time.monotonic()
            if left <= 0:
                raise Refused(f"the hosts are not complete after {seconds:.0f} s: {why}")
            if left <= next_log:
                log(f"waiting for the other hosts: {why}; {left:.0f} s left")
                next_log = left - _BETWEEN_LOGS
            self._listen()
        if self._keys:
            self._keys.trust({self._host: [self._keys.public_of_host()], **self._host_keys})
        log(f"the other hosts are ready: {', '.join(self._members)}")

    def dismiss(self, status: int, reason: str = "") -> None:
        """Send every member the exit status and reason."""
        said = " ".join([str(status), *reason.split()]).encode("utf-8", "replace") + b"\n"
        for _ in range(len(self._members) + _STRANGERS):
            self._accept()  # Perhaps a member whose name a wrong caller used.
        deadline = time.monotonic() + _SECONDS_TO_HEAR
        for caller in self._callers:
            try:
                caller.settimeout(max(deadline - time.monotonic(), 0.01))
                caller.sendall(said)
                caller.recv(256)  # It closes its end after reading.
            except OSError:
                pass  # It is gone, which SageMaker knows.
            caller.close()
        self._listener.close()

    def _obstacle(self) -> str:
        here = {caller.name for caller in self._callers.values() if caller.is_member}
        if missing := ", ".join(member for member in self._members if member not in here):
            return missing + " did not call"
        silent = ", ".join(member for member in self._members if self._keys and not _answers_ssh(member))
        return silent and silent + " does not answer ssh"

    def _listen(self) -> None:
        """Drop callers that hang up or are too many."""
        for connection in select.select([self._listener, *self._callers], [], [], 1)[0]:
            if connection is self._listener:
                self._accept()
            elif not self._hear(connection, self._callers[connection]):
                del self._callers[connection]
        for silent in [each for each, caller in self._callers.items() if not caller.name][:-_STRANGERS]:
            del self._callers[silent]

    def _hear(self, connection: socket.socket, caller: _Caller) -> bool:
        """Whether to keep the caller."""
        try:
            data = connection.recv(_LONGEST)
            caller.said += data
            if not data or len(caller.said) > _LONGEST:
                return False
            *lines, caller.said = caller.said.split(b"\n")
            return all(self._understand(connection, caller, str(line, "utf-8", "replace").strip()) for line in lines)
        except (OSError, ValueError):
            return False  # It calls again.

    def _understand(self, connection: socket.socket, caller: _Caller, line: str) -> bool:
        if caller.name:
            caller.is_member = line == READY
            return caller.is_member
        name, _, key = line.partition(" ")
        if name not in self._members or [each.name for each in self._callers.values()].count(name) >= _STRANGERS:
            return False
        if self._keys:
            address = connection.getpeername()[0]
            if address not in _addresses(name):
                if (name, address) not in self._ignored and len(self._ignored) < _STRANGERS:
                    log(f"ignoring a call as {name} from {address}: {name} is {', '.join(_addresses(name))}")
                    self._ignored.add((name, address))
                return False
            self._host_keys.setdefault(name, []).append(checked(key))
            connection.sendall(self._keys.public().encode() + b"\n")
        caller.name = name
        caller.is_member = not self._keys
        return True

    def _accept(self) -> None:
        try:
            self._callers[self._listener.accept()[0]] = _Caller()
        except OSError:
            pass


@lru_cache(maxsize=None)
def _addresses(member: str) -> List[str]:
    """From this host's own configuration, not the caller's."""
    return socket.gethostbyname_ex(member)[2]


def _answers_ssh(host: str) -> bool:
    try:
        with socket.create_connection((host, 22), 5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False

"""The leader's side."""

import select
import socket
import time

from ..lean_typing import Dict, List
from ..log import log
from ..refusal import Refused
from . import SECONDS

_SECONDS_TO_HEAR = 5.0
_BETWEEN_LOGS = 30.0
_STRANGERS = 64


class Team:
    """The members that this host leads. Raises Refused when it cannot listen."""

    def __init__(self, members: List[str], over_ssh: bool, port: int) -> None:
        self._members = members
        self._over_ssh = over_ssh
        self._callers: Dict[socket.socket, str] = {}  # with the name that each has said
        try:
            self._listener = socket.create_server(("", port), backlog=len(members) + _STRANGERS)
        except OSError as error:
            raise Refused(f"cannot listen on port {port} for the other hosts: {error}") from error
        self._listener.setblocking(False)

    def gather(self, seconds: float = SECONDS) -> None:
        """Wait until every member has called and, if it must, answers ssh. Raises Refused."""
        deadline = time.monotonic() + seconds
        next_log = seconds
        while True:
            why = self._obstacle()
            if not why:
                break
            left = deadline - time.monotonic()
            if left <= 0:
                raise Refused(f"the hosts are not complete after {seconds:.0f} s: {why}")
            if left <= next_log:
                log(f"waiting for the other hosts: {why}; {left:.0f} s left")
                next_log = left - _BETWEEN_LOGS
            self._listen()
        log(f"the other hosts are ready: {', '.join(self._members)}")

    def dismiss(self, status: int) -> None:
        """Tell every member the exit status of the job."""
        for _ in range(len(self._members) + _STRANGERS):
            self._accept()  # A member, perhaps, whose name another had said.
        deadline = time.monotonic() + _SECONDS_TO_HEAR
        for caller in self._callers:
            try:
                caller.settimeout(max(deadline - time.monotonic(), 0.01))
                caller.sendall(b"%d\n" % status)
                caller.recv(256)  # A member that has heard closes its end.
            except OSError:
                pass  # It is gone, and SageMaker knows.
            caller.close()
        self._listener.close()

    def _obstacle(self) -> str:
        missing = ", ".join(member for member in self._members if member not in self._callers.values())
        if missing:
            return missing + " did not call"
        silent = ", ".join(member for member in self._members if self._over_ssh and not _answers_ssh(member))
        return silent and silent + " does not answer ssh"

    def _listen(self) -> None:
        """Take in calls and names for a moment. Forget who hangs up, and some who are too many."""
        for caller in select.select([self._listener, *self._callers], [], [], 1)[0]:
            if caller is self._listener:
                self._accept()
                continue
            try:
                name = caller.recv(256).decode("utf-8", "replace").strip()
            except OSError:
                name = ""
            if name in self._members and list(self._callers.values()).count(name) < _STRANGERS:
                self._callers[caller] = name
            else:
                del self._callers[caller]
        for silent in [caller for caller, name in self._callers.items() if not name][:-_STRANGERS]:
            del self._callers[silent]

    def _accept(self) -> None:
        try:
            self._callers[self._listener.accept()[0]] = ""
        except OSError:
            pass


def _answers_ssh(host: str) -> bool:
    try:
        with socket.create_connection((host, 22), 5) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False

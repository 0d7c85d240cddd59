"""Several hosts of which one, the leader, runs the job: it waits for the others and tells them how the job ended.

Each other host, a member, holds a connection to the leader (`team.member`): it says its name, then reads one line,
the exit status. If the connection ends without it, the leader is gone.
"""

import time

from ..lean_typing import TYPE_CHECKING, Dict, List
from ..log import log
from ..refusal import Refused
from .ssh import ssh_answers

if TYPE_CHECKING:
    import socket

PORT = 7781
"""Beside those that frameworks take: 2222 and 2223, 7592, 7777, 8000."""

SECONDS = 1800.0
"""Hosts start minutes apart: each pulls the image and its own part of the data."""

_SECONDS_TO_SPEAK = 5.0
_BETWEEN_LOGS = 30.0


class Team:
    """The members that this host leads; none if it leads no one."""

    def __init__(self, members: List[str], over_ssh: bool) -> None:
        self._members = members
        self._over_ssh = over_ssh
        self._connections: Dict[str, "socket.socket"] = {}

    def gather(self, seconds: float = SECONDS) -> None:
        """Wait until every member has called and, if it must, answers ssh. Raises Refused when one does not."""
        if not self._members:
            return
        import socket  # Late: a job of one host has no use for it.

        deadline = time.monotonic() + seconds
        logged = 0.0
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("", PORT))
            except OSError as error:
                raise Refused(f"cannot listen on port {PORT} for the other hosts: {error}") from error
            listener.listen(len(self._members))
            listener.settimeout(1)
            while True:
                why = self._obstacle()
                now = time.monotonic()
                if not why:
                    break
                if now >= deadline:
                    raise Refused(f"the hosts are not complete after {seconds:.0f} s: {why}")
                if now >= logged + _BETWEEN_LOGS:
                    log(f"waiting for the other hosts: {why}; {deadline - now:.0f} s left")
                    logged = now
                self._welcome(listener)
        log("the other hosts are ready: {}".format(", ".join(self._members)))

    def dismiss(self, status: int) -> None:
        """Tell every member the exit status of the job, and wait a moment until it has heard."""
        for connection in self._connections.values():
            try:
                connection.sendall(b"%d\n" % status)
            except OSError:
                pass  # It is gone, and SageMaker knows.
        for connection in self._connections.values():
            try:
                connection.recv(1)  # A member that has heard closes its end.
            except OSError:
                pass
            connection.close()

    def _obstacle(self) -> str:
        missing = [member for member in self._members if member not in self._connections]
        if missing:
            return "{} did not call".format(", ".join(missing))
        silent = [member for member in self._members if self._over_ssh and not ssh_answers(member)]
        return "{} does not answer ssh".format(", ".join(silent)) if silent else ""

    def _welcome(self, listener: "socket.socket") -> None:
        """Take one call if there is one within a moment. Whoever does not say a member's name is hung up on."""
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        try:
            connection.settimeout(_SECONDS_TO_SPEAK)
            name = connection.recv(256).decode("utf-8", "replace").strip()
        except OSError:
            name = ""
        if name in self._members:
            self._connections[name] = connection
        else:
            connection.close()

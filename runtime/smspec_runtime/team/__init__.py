"""Several hosts of which one, the leader, runs the job: it waits for the others and tells them how the job ended.

Each other host, a member, holds a connection to the leader (`team.member`): it says its name, then reads one line,
the exit status. If the connection ends without it, the leader is gone. Nobody proves who he is, so a wrong caller must
not matter: nobody waits for him, he takes nobody's place, and all that he may hear is the exit status.
"""

import select
import time

from ..lean_typing import TYPE_CHECKING, Dict, List, Optional
from ..log import log
from ..refusal import Refused
from .ssh import ssh_answers

if TYPE_CHECKING:
    import socket

PORT = 7781
"""Beside those that frameworks take: 2222 and 2223, 7592, 7777, 8000, 8890."""

SECONDS = 1800.0
"""Hosts start minutes apart: each pulls the image and its own part of the data."""

_SECONDS_TO_HEAR = 5.0
_BETWEEN_LOGS = 30.0
_STRANGERS = 64


class Team:
    """The members that this host leads; none if it leads no one."""

    def __init__(self, members: List[str], over_ssh: bool, port: int = PORT) -> None:
        self._members = members
        self._over_ssh = over_ssh
        self._port = port
        self._listener: Optional["socket.socket"] = None
        self._callers: Dict["socket.socket", str] = {}  # with the name that each has said

    def gather(self, seconds: float = SECONDS) -> None:
        """Wait until every member has called and, if it must, answers ssh. Raises Refused when one does not."""
        if not self._members:
            return
        import socket  # Late: a job of one host has no use for it.

        deadline = time.monotonic() + seconds
        logged = 0.0
        self._listener = listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("", self._port))
        except OSError as error:
            raise Refused(f"cannot listen on port {self._port} for the other hosts: {error}") from error
        listener.listen(len(self._members) + _STRANGERS)
        listener.setblocking(False)
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
            self._listen(listener)
        log("the other hosts are ready: {}".format(", ".join(self._members)))

    def dismiss(self, status: int) -> None:
        """Tell every member the exit status of the job, and wait a moment until it has heard."""
        assert self._listener is not None
        for _ in range(len(self._members) + _STRANGERS):
            self._accept(self._listener)  # Who has called since: a member, perhaps, whose name another had said.
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
        missing = [member for member in self._members if member not in self._callers.values()]
        if missing:
            return "{} did not call".format(", ".join(missing))
        silent = [member for member in self._members if self._over_ssh and not ssh_answers(member)]
        return "{} does not answer ssh".format(", ".join(silent)) if silent else ""

    def _listen(self, listener: "socket.socket") -> None:
        """Take in the calls and names of a moment. Forget who hangs up, and some where there are too many."""
        for caller in select.select([listener, *self._callers], [], [], 1)[0]:
            if caller is listener:
                self._accept(listener)
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

    def _accept(self, listener: "socket.socket") -> None:
        try:
            self._callers[listener.accept()[0]] = ""
        except OSError:
            pass

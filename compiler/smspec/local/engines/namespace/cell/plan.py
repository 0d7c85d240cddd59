"""The input of the cell: what smspec has decided about the hosts, as JSON."""

from __future__ import annotations

import json
from typing import NamedTuple


class Bind(NamedTuple):
    """A file or directory of this machine, and where a host sees it. Paths that are already visible are skipped."""

    source: str
    target: str
    is_writable: bool = False


class HostPlan(NamedTuple):
    """``program`` is started with ``words``. ``log``: the descriptor for its output. ``address``: on `eth0`, if any."""

    name: str
    address: str
    program: str
    words: list[str]
    environment: dict[str, str]
    directory: str
    log: int
    binds: list[Bind]


class CellPlan(NamedTuple):
    """``mount_point`` is an empty directory. ``has_network``: hosts have a network of their own.

    ``gateway`` and ``resolver``: its way to the internet, if it has one. ``added_programs``: what each host finds in
    /usr/sbin, whether this machine has it or not. ``owned``: directories whose files must belong to the author at the
    end; if there are any, smspec maps the users of the namespace.
    """

    mount_point: str
    has_network: bool
    gateway: str
    resolver: str
    addresses: dict[str, str]
    added_programs: dict[str, str]
    owned: list[str]
    hosts: list[HostPlan]

    def to_json(self) -> str:
        """Return the plan as text."""
        members = {**self._asdict(), "hosts": [host._asdict() for host in self.hosts]}
        return json.dumps(members)


def decode_plan(text: str) -> CellPlan:
    """Return the plan in a text."""
    members = json.loads(text)
    for host in members["hosts"]:
        host["binds"] = [Bind(*words) for words in host["binds"]]
    members["hosts"] = [HostPlan(**host) for host in members["hosts"]]
    return CellPlan(**members)

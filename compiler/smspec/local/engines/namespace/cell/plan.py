"""The input of the cell: what smspec has decided about the hosts, as JSON."""

from __future__ import annotations

import json
import os
from typing import NamedTuple


class Bind(NamedTuple):
    """A file or directory of this machine, and where a host sees it. Paths that are already visible are skipped."""

    source: str
    target: str
    is_writable: bool = False


class Data(NamedTuple):
    """The objects of a channel, read-only at ``target``: a whole directory, or single files by their names there."""

    target: str
    directory: str
    files: dict[str, str]


class Volume(NamedTuple):
    """A file system in memory, with ``room`` for so many bytes, that replaces ``directories`` of a host.

    ``place``: an empty directory for it.
    """

    place: str
    room: int
    directories: list[str]

    def path(self, number: int) -> str:
        """Return the path of one of its directories."""
        return os.path.join(self.place, str(number))


class HostPlan(NamedTuple):
    """``program`` is started with ``words``. ``streams``: its stdout and stderr. ``address``: on `eth0`, if any.

    ``resumed``: binds that may have links of an earlier run of the job, so they are placed when all files are written.
    """

    name: str
    address: str
    program: str
    words: list[str]
    environment: dict[str, str]
    directory: str
    streams: list[int]
    binds: list[Bind]
    resumed: list[Bind]
    data: list[Data]


class CellPlan(NamedTuple):
    """``mount_point`` is an empty directory. ``has_network``: hosts have a network of their own.

    ``gateway`` and ``resolver``: its way to the internet, if it has one. ``added_programs``: what each host finds in
    /usr/sbin, whether this machine has it or not. ``owned``: directories whose files must belong to the author at the
    end, and ``mode``: that of the directory above them then. ``hidden``: sockets and FIFOs of this machine at paths
    that hosts see. ``has_range``: smspec maps the users of the namespace. ``volumes``: what binds of hosts may name.
    """

    mount_point: str
    has_network: bool
    gateway: str
    resolver: str
    addresses: dict[str, str]
    added_programs: dict[str, str]
    owned: list[str]
    mode: int
    hidden: list[str]
    has_range: bool
    hosts: list[HostPlan]
    volumes: list[Volume]

    def shown(self) -> set[str]:
        """Return what hosts see of the author, by directory where it is single files."""
        places = tuple(os.path.join(volume.place, "") for volume in self.volumes)
        found = set()
        for host in self.hosts:
            binds = (*host.binds, *host.resumed)
            found |= {bind.source for bind in binds if not (places and bind.source.startswith(places))}
            found |= {data.directory for data in host.data if data.directory}
            found |= {os.path.dirname(source) for data in host.data for source in data.files.values()}
        return found

    def to_json(self) -> str:
        """Return the plan as text."""
        return json.dumps({**self._asdict(), "hosts": [host._asdict() for host in self.hosts]})


def decode_plan(text: str) -> CellPlan:
    """Return the plan in a text."""
    members = json.loads(text)
    for host in members["hosts"]:
        for kind in ("binds", "resumed"):
            host[kind] = [Bind(*words) for words in host[kind]]
        host["data"] = [Data(*words) for words in host["data"]]
    members["hosts"] = [HostPlan(**host) for host in members["hosts"]]
    members["volumes"] = [Volume(*words) for words in members["volumes"]]
    return CellPlan(**members)

"""A file system of limited size for directories of a host, in the memory of the machine that runs the containers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from smspec.local.engines.containers.client import ClientFailed
from smspec.local.engines.containers.inside import inside_words
from smspec.local.engines.containers.mounts import mount, volume_mount
from smspec.local.engines.containers.sidecar import Companions, Sidecar
from smspec.source.real_file import walked

_PAGE = 4096
_OF_THE_RUNTIME = 1
"""Pages: the runtime reserves room for a failure file before it starts the script."""

_ROOM = "/room"


class LimitedRoom:
    """Replaces directories of a host until `keep`: they get what the host wrote.

    One volume has all of them, so they share the room; each is a mount of its own, as they are without a limit. A
    container holds the volume, which lasts only as long as a container uses it. ``places``: where the engine finds the
    directories, in their order.
    """

    def __init__(self, companions: Companions, host: str, room: int, directories: Sequence[str]) -> None:
        """``room``: the bytes that the host can add. Raise ClientFailed; nothing is left then."""
        self._companions = companions
        self._volume = f"{companions.identity}-{host}-room"
        self._sidecar: Sidecar | None = None
        pages = room // _PAGE + _OF_THE_RUNTIME + sum(_pages(directory) for directory in directories)
        client = companions.client
        try:
            options = ("type=tmpfs", "device=tmpfs", f"o=size={pages * _PAGE},mode=0755,nosuid,nodev")
            words = [word for option in options for word in ("--opt", option)]
            client.run("volume", "create", "--label", companions.label, "--driver", "local", *words, self._volume)
            kept = [f"/kept/{number}" for number in range(len(directories))]
            binds = [mount(*pair) for pair in zip(directories, kept, strict=True)]
            binds.append(volume_mount(self._volume, _ROOM))
            self._sidecar = Sidecar(
                companions,
                f"{host}-room",
                ["--network", "none", *(word for bind in binds for word in ("--mount", bind))],
                inside_words("room", _ROOM, *kept),
            )
            place = client.run("volume", "inspect", "--format", "{{.Mountpoint}}", self._volume)
        except ClientFailed:
            self.close()
            raise
        self.places = [os.path.join(place, str(number)) for number in range(len(directories))]

    def close(self) -> None:
        """Copy what the host wrote to the directories, and remove the volume."""
        if self._sidecar is not None:
            with suppress(ClientFailed):
                self._sidecar.ask("keep", "kept")
            self._sidecar.close()
        self._companions.client.try_to("volume", "rm", self._volume)


def _pages(directory: str) -> int:
    sizes = (os.lstat(os.path.join(above, name)).st_size for above, _, names in walked(directory) for name in names)
    return sum(-(-size // _PAGE) for size in sizes)

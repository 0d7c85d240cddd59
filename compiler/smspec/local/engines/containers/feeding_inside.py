"""Feed Pipe channels in a container next to a host: FIFOs of this machine do not reach into a virtual machine.

The FIFOs are in a volume of the engine that both containers mount. In the container of the host, what else its data
directory has is mounted over the volume, entry by entry.
"""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator

from smspec.local import feeder
from smspec.local.engines.containers.client import ClientFailed
from smspec.local.engines.containers.inside import inside_words
from smspec.local.engines.containers.mounts import mount, volume_mount
from smspec.local.engines.containers.sidecar import Companions
from smspec.local.feeder.plan import FeederPlan
from smspec.local.feeder_process import FeederProcess
from smspec.local.request import RunFailed
from smspec.local.s3.location import is_s3

_FIFOS = "/fifos"
_DATA = "/opt/ml/input/data"


class FeedingInside:
    """The feeder of one host in a container. ``process`` is the client that is attached to it."""

    def __init__(self, companions: Companions, host: str, plan: FeederPlan) -> None:
        """``plan.directory``: the data directory of the host, on this machine. Raise RunFailed."""
        if any(is_s3(channel.source) for channel in plan.channels):
            raise RunFailed(
                3,
                f"`{companions.client.program}` runs containers in a virtual machine, where smspec does not stream "
                "Pipe channels from S3: copy the data to this machine, or use File mode",
            )
        self._companions = companions
        self._name = f"{host}-feeder"
        self._volume = f"{companions.identity}-{host}-fifos"
        self._entries = {entry.name: entry.path for entry in sorted(os.scandir(plan.directory), key=lambda e: e.name)}
        try:
            companions.client.run("volume", "create", "--label", companions.label, self._volume)
        except ClientFailed as fault:
            raise RunFailed(3, f"`{companions.client.program} volume create` failed: {fault}") from None
        start = {
            "modules": dict(_sources()),
            "entries": {name: os.path.isdir(path) for name, path in self._entries.items()},
        }
        inside = plan._replace(directory=_FIFOS)
        words = companions.words(self._name, self._options(plan), inside_words("feeder", _FIFOS))
        try:
            self.process = FeederProcess(host, words, f"{json.dumps(start)}\n{inside.to_json()}\n")
        except RunFailed:
            self.close()
            raise

    def _options(self, plan: FeederPlan) -> list[str]:
        """Return mounts of the data at their own places, so that messages name the paths that the author knows."""
        sources = [os.path.abspath(channel.source) for channel in plan.channels]
        places = dict.fromkeys(path if os.path.isdir(path) else os.path.dirname(path) for path in sources)
        binds = [mount(place, place, is_read_only=True) for place in places]
        words = [word for bind in [*binds, volume_mount(self._volume, _FIFOS)] for word in ("--mount", bind)]
        return ["--network", "none", "--workdir", os.getcwd(), *words]

    @property
    def mounts(self) -> list[str]:
        """Return the mounts of the host's own container, in addition to that of its input."""
        entries = (mount(path, f"{_DATA}/{name}", is_read_only=True) for name, path in self._entries.items())
        return [volume_mount(self._volume, _DATA, is_read_only=True), *entries]

    def close(self) -> None:
        """Remove the container and the volume; the containers that use it are gone."""
        self._companions.remove(self._name)
        self._companions.client.try_to("volume", "rm", self._volume)


def _sources() -> Iterator[tuple[str, str]]:
    """Yield the modules of the feeder, and their texts."""
    for path in sorted(glob.glob(os.path.join(os.path.dirname(feeder.__file__), "*.py"))):
        with open(path, encoding="utf-8") as file:
            yield os.path.basename(path).removesuffix(".py"), file.read()

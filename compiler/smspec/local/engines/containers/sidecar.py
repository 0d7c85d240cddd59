"""Containers of smspec next to the hosts of a run: programs of ours on the Python of the job's image.

One holds directories of a host in a file system of limited size, in the memory of the machine that runs the containers.
One runs the feeder of a host where the engine is in a virtual machine, into which FIFOs of this machine do not reach.
"""

from __future__ import annotations

import glob
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from smspec.local import feeder
from smspec.local.channels.feeder_process import FeederProcess
from smspec.local.engines.containers.client import Client, ClientFailed, mount, volume_mount
from smspec.local.engines.containers.inside import inside_words
from smspec.local.feeder.plan import FeederPlan
from smspec.local.running.request import RunFailed
from smspec.local.s3 import is_s3
from smspec.source.frozen import dataclass
from smspec.source.real_file import OUTSIDE_PROJECTS, variables_outside, walked
from smspec.workspace.process_guard import end_by_closing_stdin

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_LAST_BYTES = 4096
_MOST_BYTES = 1 << 16
"""Of an answer: the Python of an image may print anything."""

_PAGE = 4096
_OF_THE_RUNTIME = 1
"""Pages: the runtime reserves room for a failure file before it starts the script."""

_ROOM = "/room"
_FIFOS = "/fifos"
_DATA = "/opt/ml/input/data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Companions:
    """What all containers of a run have in common. ``identity``: the beginning of their names."""

    client: Client
    image: str
    identity: str
    label: str

    def words(self, name: str, options: Sequence[str], words: Sequence[str]) -> list[str]:
        """Return the command that runs Python as root in a container with this stdin, whose end it waits for."""
        common = ("--name", f"{self.identity}-{name}", "--label", self.label, "--interactive", "--user", "0:0")
        return [self.client.program, "run", *common, *options, "--entrypoint", "python3", self.image, *words]

    def remove(self, name: str) -> None:
        """Remove a container, if it exists."""
        self.client.try_to("rm", "--force", "--volumes", f"{self.identity}-{name}")


class Sidecar:
    """A running program that answers with lines, and ends with its stdin, so also if smspec is killed."""

    def __init__(self, companions: Companions, name: str, options: Sequence[str], words: Sequence[str]) -> None:
        """Start it and wait until it is ready. Raise ClientFailed; nothing is left then."""
        self._companions = companions
        self._name = name
        self._unread = b""
        self._process = subprocess.Popen(
            companions.words(name, options, words),
            env=variables_outside(os.environ),
            cwd=OUTSIDE_PROJECTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # smspec handles Ctrl-C
        )
        try:
            self._expect("ready")
        except ClientFailed:
            self.close()
            raise

    def ask(self, command: str, answer: str, seconds: float = _START_SECONDS) -> None:
        """Send a line and wait for its answer. Raise ClientFailed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise ClientFailed("it has ended") from None
        self._expect(answer, seconds)

    def close(self) -> None:
        """End the program, and remove its container."""
        assert self._process.stdout is not None and self._process.stderr is not None
        end_by_closing_stdin(self._process, _STOP_SECONDS)
        self._process.stdout.close()
        self._process.stderr.close()
        self._companions.remove(self._name)

    def _expect(self, answer: str, seconds: float = _START_SECONDS) -> None:
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise ClientFailed(f"it has not answered for {seconds:.0f} seconds")
            data = os.read(self._process.stdout.fileno(), _LAST_BYTES)
            if not data:
                raise ClientFailed(self._last_words())
            self._unread += data
            if len(self._unread) > _MOST_BYTES:
                raise ClientFailed("it does not answer with a line")
        line, _, self._unread = self._unread.partition(b"\n")
        if line.decode(errors="replace") != answer:
            raise ClientFailed(line.decode(errors="replace"))

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        text = self._process.stderr.read().decode(errors="replace").strip()
        return text.rpartition("\n")[2] or "it ended without a message"


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


class FeedingInside:
    """The feeder of one host in a container. ``process`` is the client that is attached to it.

    The FIFOs are in a volume of the engine that both containers mount. In the container of the host, what else its data
    directory has is mounted over the volume, entry by entry.
    """

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

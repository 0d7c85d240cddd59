"""The command line of a container engine: what docker, podman, nerdctl, and finch have in common.

It also says where the engine runs, and removes what killed runs left in it.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from smspec.local.running.run_directory import HOSTS, INTERRUPTED, RunDirectory, has_other_owners
from smspec.render.tree import RUN_MARKER, identity_in, marker_in
from smspec.source.limited_output import TooMuchOutput, both_outputs
from smspec.source.real_file import OUTSIDE_PROJECTS, program_named, variables_outside
from smspec.workspace.process_guard import guarded

_SECONDS = 60.0
_SECONDS_OF_A_PROBE = 15.0
_SECONDS_TO_END = 5.0
_MOST_LINES = 15
_MOST_BYTES = 64 << 20
_LONGEST_LINE = 1 << 16
LABEL = "smspec.run"
"""Its value names the machine, the directory of the run, and the file in it that the run locks as long as it lasts."""
_MACHINE = "/etc/machine-id"


class ClientFailed(Exception):
    """A command of the client failed. The text is its last line of output; ``details`` the last few."""

    def __init__(self, text: str, details: str = "") -> None:
        super().__init__(text)
        self.details = details


class Client:
    """Runs commands of one client. ``program``: its name, such as ``docker``; ``variables``: for all its commands."""

    def __init__(self, program: str, variables: Mapping[str, str] | None = None) -> None:
        self.program = program
        self.is_lost = False
        """Whether the engine has stopped answering: later commands do not wait long for it."""
        self._variables = variables or {}

    def run(
        self, *words: str, variables: Mapping[str, str] | None = None, seconds: float = _SECONDS, given: str = ""
    ) -> str:
        """Return what a command prints, without white space around it. Raise `ClientFailed`.

        ``given``: the text that the command reads from its standard input.
        """
        seconds = min(seconds, _SECONDS_TO_END) if self.is_lost else seconds
        try:
            process = subprocess.Popen(
                [self.program, *words],
                env=self._environment(variables),
                cwd=OUTSIDE_PROJECTS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for smspec, which ends the job in good order
            )
        except OSError as fault:
            raise ClientFailed(f"cannot start `{self.program}`: {(fault.strerror or str(fault)).lower()}") from None
        with process:
            try:
                out, err = _answer(process, given.encode(), seconds)
            except ClientFailed as fault:
                raise ClientFailed(f"`{self.program} {words[0]}` {fault}") from None
            finally:
                process.kill()
        if process.returncode != 0:
            raise ClientFailed(_last_line(err.decode("utf-8", "replace")))
        return out.decode("utf-8", "replace").strip()

    def try_to(self, *words: str) -> None:
        """Run a command that may fail: what it removes or stops may be gone."""
        try:
            self.run(*words)
        except ClientFailed:
            pass

    def follow(self, *words: str, show: Callable[[str], None]) -> None:
        """Run a command that takes long, and pass on each line. Raise `ClientFailed`. It ends when smspec ends."""
        kept: list[str] = []
        try:
            process = subprocess.Popen(
                guarded([self.program, *words]),
                env=self._environment(),
                cwd=OUTSIDE_PROJECTS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as fault:
            raise ClientFailed(f"cannot start `{self.program}`: {(fault.strerror or str(fault)).lower()}") from None
        with process:
            assert process.stdin is not None and process.stdout is not None
            is_over = False
            try:
                while line := process.stdout.readline(_LONGEST_LINE):
                    text = line.decode("utf-8", "replace").rstrip()
                    kept = [*kept, text][-_MOST_LINES:]
                    show(text)
                is_over = True
            finally:
                if not is_over:  # the client tells its engine to stop, and removes what it has begun
                    process.terminate()
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_SECONDS_TO_END)
                process.stdin.close()  # the guard kills what is left
        if process.returncode != 0:
            raise ClientFailed(next((line for line in reversed(kept) if line), ""), "\n".join(kept))

    def _environment(self, variables: Mapping[str, str] | None = None) -> dict[str, str]:
        # Without it, docker before version 23 uses a builder that cannot mount caches and secrets.
        return variables_outside({"DOCKER_BUILDKIT": "1", **os.environ, **self._variables, **(variables or {})})


def unavailable(program: str) -> str | None:
    """Return why this machine cannot start containers with a program, as the end of a sentence, or None."""
    if program_named(program) is None:
        return f"`{program}` is not installed"
    try:
        # The version of the server, which podman has only where it is remote: `info` asks whatever does the work.
        Client(program).run("info", seconds=_SECONDS_OF_A_PROBE)
    except ClientFailed as fault:
        return f"`{program} info` fails: {fault}"
    return None


def _answer(process: subprocess.Popen[bytes], given: bytes, seconds: float) -> tuple[bytes, bytes]:
    """Return what a client prints to stdout and stderr until its end.

    Raise `ClientFailed` if it takes longer, or prints more than an engine has to say: so may programs of an image.
    """
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(given)
    deadline = time.monotonic() + seconds

    def left() -> float:
        if (rest := deadline - time.monotonic()) <= 0:
            raise ClientFailed(f"has not answered for {seconds:.0f} seconds")
        return rest

    try:
        out, err = both_outputs(process, _MOST_BYTES, left)
    except TooMuchOutput:
        raise ClientFailed(f"prints more than {_MOST_BYTES >> 20} MiB") from None
    try:
        process.wait(max(_SECONDS_TO_END, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise ClientFailed(f"has not answered for {seconds:.0f} seconds") from None
    return out, err


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip() or "it failed without a message"


def volume_mount(volume: str, target: str, *, is_read_only: bool = False) -> str:
    """Return the value of ``--mount`` for a volume of the engine."""
    return f"type=volume,source={volume},target={target}" + (",readonly" if is_read_only else "")


def mount(source: str, target: str, *, is_read_only: bool = False) -> str:
    """Return the value of ``--mount``: comma-separated values, in which a field with a comma or a quote is quoted."""
    fields = ["type=bind", quoted_field(f"source={source}"), quoted_field(f"target={target}")]
    return ",".join([*fields, "readonly"] if is_read_only else fields)


def quoted_field(text: str) -> str:
    """Return one of several values with commas between them, as the options of a client take it."""
    if not any(character in text for character in ',"\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


class EngineFacts:
    """Where an engine runs, and as whom, from what `info` says: the client is asked once, when something is needed."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def is_rootless(self) -> bool:
        """Return whether root of a container is the author."""
        security = self._info.get("SecurityOptions")
        if isinstance(security, list):
            return any("rootless" in str(option) for option in security)
        return bool(_at(self._info, "host", "security", "rootless"))

    @property
    def is_apart(self) -> bool:
        """Return whether the engine has a kernel of its own, as in a virtual machine: FIFOs and sockets end there."""
        if not sys.platform.startswith("linux") or self._info.get("OperatingSystem") == "Docker Desktop":
            return True
        kernel = self._info.get("KernelVersion") or _at(self._info, "host", "kernel")
        return bool(kernel) and kernel != os.uname().release

    @cached_property
    def _info(self) -> Mapping[str, Any]:
        try:
            found = json.loads(self._client.run("info", "--format", "{{json .}}"))
        except (ClientFailed, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _at(members: object, *names: str) -> object:
    for name in names:
        members = members.get(name) if isinstance(members, dict) else None
    return members


def label_of(directory: RunDirectory) -> str:
    """Return the label for everything that a run creates."""
    return _label(directory.identity, directory.path(RUN_MARKER))


def label_of_ended(run_directory: str) -> str:
    """Return the label that the run in a directory had, which has ended."""
    return _label(identity_in(marker_in(run_directory)), os.path.join(run_directory, RUN_MARKER))


def _label(identity: str, marker: str) -> str:
    return f"{LABEL}={_this_machine()} {identity} {os.path.realpath(marker)}"


def _this_machine() -> str:
    """Return what distinguishes this machine, or container, from others that use the same engine."""
    names = [os.uname().nodename]
    with suppress(OSError), open(_MACHINE, encoding="utf-8", errors="replace") as file:
        names.append(file.read())
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


@functools.cache
def sweep(program: str) -> None:
    """Remove the containers, networks, and volumes of runs of this machine that have ended.

    Others may use the engine: a run has ended if its marker exists, can be read, is that of the label, and is not
    locked. Everything else is left alone.

    Once per process: a rehearsal runs a job many times, and each run removes what is its own.
    """
    client = Client(program)
    for listing, inspection, removal in (
        # With the volumes that the image declares, which have no label.
        (
            ("ps", "--all"),
            ("inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}'),
            ("rm", "--force", "--volumes"),
        ),
        (
            ("network", "ls"),
            ("network", "inspect", "--format", f'{{{{index .Labels "{LABEL}"}}}}'),
            ("network", "rm"),
        ),
        (("volume", "ls"), ("volume", "inspect", "--format", f'{{{{index .Labels "{LABEL}"}}}}'), ("volume", "rm")),
    ):
        try:
            found = client.run(*listing, "--quiet", "--filter", f"label={LABEL}").split()
        except ClientFailed:
            continue
        for each in found:
            try:
                machine, _, run = client.run(*inspection, each).partition(" ")
            except ClientFailed:
                continue
            identity, _, marker = run.partition(" ")
            if machine == _this_machine() and identity and _has_ended(marker, identity):
                client.try_to(*removal, each)


def files_of_others(run_directory: str) -> list[str]:
    """Return the directories of a killed run that have files of another user, whom its containers ran as."""
    identity = identity_in(marker_in(run_directory))
    if not identity or not _has_ended(os.path.join(run_directory, RUN_MARKER), identity):
        return []
    candidates = (os.path.join(run_directory, name) for name in (HOSTS, INTERRUPTED))
    return [each for each in candidates if os.path.isdir(each) and not os.path.islink(each) and has_other_owners(each)]


def _has_ended(marker: str, identity: str) -> bool:
    """Return whether the run of a directory has certainly ended; False for what cannot be read or locked."""
    try:
        descriptor = os.open(marker, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return identity_in(os.pread(descriptor, 4096, 0)) == identity
    except OSError:
        return False
    finally:
        os.close(descriptor)

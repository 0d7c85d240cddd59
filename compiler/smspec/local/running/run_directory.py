"""The directory of a run: its layout, its ownership, and the replacement of an old one."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable
from contextlib import suppress

from smspec.local.running.request import RunFailed
from smspec.render.tree import RUN_MARKER, identity_in, is_run_marker, is_unfinished, marker_in, run_marker_json
from smspec.source.frozen import dataclass
from smspec.source.real_file import ignore_unread, remove_tree, walked
from smspec.workspace.project_links import tracked_link, written_outside

HOSTS, LOGS, UPLOAD = "hosts", "logs", "upload"
MODEL, OUTPUT = "model", "output"
SUMMARY, REPORT = "summary.json", "report.html"
TRIALS, REHEARSAL = "trials", "rehearsal.json"
"""What a rehearsal writes: a run below the one for each trial, and its result."""
INTERRUPTED = "interrupted"
"""The hosts of a run that did not complete, until the next run of the same job has resumed their checkpoints."""
_MARKER_SIZE = 511
_OURS = frozenset(
    {
        RUN_MARKER,
        HOSTS,
        INTERRUPTED,
        LOGS,
        UPLOAD,
        MODEL,
        OUTPUT,
        *(f"{name}.tar.gz{end}" for name in (MODEL, OUTPUT) for end in ("", ".part")),
        SUMMARY,
        REPORT,
        TRIALS,
        REHEARSAL,
    }
)


@dataclass(frozen=True, slots=True)
class HostDirectory:
    """The directory of one host: ``opt/ml`` is its /opt/ml, ``opt/smspec`` and ``usr/local`` are those of the image."""

    root: str

    @property
    def base(self) -> str:
        return os.path.join(self.root, "opt", "ml")

    @property
    def runtime(self) -> str:
        return os.path.join(self.root, "opt", "smspec")

    @property
    def python(self) -> str:
        """The virtual environment of the host."""
        return os.path.join(self.root, "usr", "local")

    @property
    def config(self) -> str:
        return os.path.join(self.base, "input", "config")

    @property
    def data(self) -> str:
        return os.path.join(self.base, "input", "data")

    @property
    def code(self) -> str:
        return os.path.join(self.base, "code")

    @property
    def model(self) -> str:
        return os.path.join(self.base, "model")

    @property
    def output_data(self) -> str:
        return os.path.join(self.base, "output", "data")

    def make(self) -> None:
        """Create the empty directories of a training container."""
        metrics = os.path.join(self.base, "output", "metrics", "sagemaker")
        checkpoints = os.path.join(self.base, "checkpoints")
        for directory in (self.config, self.data, self.model, self.output_data, metrics, checkpoints, self.code):
            os.makedirs(directory)


class RunDirectory:
    """A claimed directory. It stays locked until `release`, so that no second run replaces it."""

    def __init__(self, root: str, lock: int, made: list[str], checkpoints: str) -> None:
        self.root = root  # as it was passed: messages show paths below it
        self.identity = identity_in(os.pread(lock, 4096, 0)) or os.urandom(16).hex()
        self.is_in_use = False
        """Whether a host may still write to it: then it stays, and stays closed to other users."""
        self.is_of_this_job = False
        """Whether it had an interrupted run of the same job, whose checkpoints must not get lost."""
        self._made = made
        self._checkpoints = checkpoints
        self._lock = lock
        self._status = os.stat(root)
        self._hosts = -1
        self.hosts_mode = 0o700

    def path(self, *names: str) -> str:
        return os.path.join(self.root, *names)

    def host(self, name: str) -> HostDirectory:
        return HostDirectory(os.path.abspath(self.path(HOSTS, name)))

    def log(self, host: str) -> str:
        return self.path(LOGS, f"{host}.log")

    def mark(self, job: str, status: str) -> None:
        """Write the status of the run to the marker, in one write, so that SIGKILL leaves the old or the new one."""
        os.pwrite(self._lock, run_marker_json(job, status, self.identity).rstrip().ljust(_MARKER_SIZE) + b"\n", 0)
        os.ftruncate(self._lock, _MARKER_SIZE + 1)

    def make_hosts(self) -> None:
        """Create the directory of the hosts, closed to other users: programs of the job could give them rights.

        Checkpoints of a killed run may have some, too.
        """
        os.makedirs(self.path(HOSTS))
        self._hosts = os.open(self.path(HOSTS), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self.hosts_mode = stat.S_IMODE(os.fstat(self._hosts).st_mode)
        os.fchmod(self._hosts, 0o700)

    def open_hosts(self, take_back: Callable[[int], bool]) -> str:
        """Give it back its mode when all hosts have ended; return a warning if it must stay closed, or nothing.

        ``take_back`` removes what gives rights to others; it gets the open directory, and returns whether it could.
        """
        assert not self.is_in_use
        is_complete = take_back(self._hosts)
        os.fchmod(self._hosts, self.hosts_mode if is_complete else 0o700)
        if is_complete:
            return ""
        return (
            f"`{self.path(HOSTS)}` is closed to other users (mode 0700): smspec cannot read or change all files that "
            "the job wrote, and set-user-ID programs among them would give others your rights"
        )

    def vacant(self, name: str) -> str:
        """Return the path of a file that the run itself writes at its end.

        What a script has put there is removed: a link would lead smspec to a file of the author.
        """
        if not os.path.samestat(os.stat(self.root), self._status):
            raise RunFailed(1, f"the script replaced `{self.root}` with a different directory")
        path = self.path(name)
        if os.path.lexists(path):
            _remove(path)
        return path

    def restore(self, host: str) -> bool:
        """Move the checkpoints of an interrupted run to the directory of the host; return whether there are any."""
        before = self._found_checkpoints(INTERRUPTED, host)
        if before is None:
            return False
        place = os.path.join(self.host(host).root, self._checkpoints)
        remove_tree(place)
        os.rename(before, place)
        return True

    def undo_restore(self) -> None:
        """Move them back, also those that a killed run has moved. Until `restore`, hosts have none of their own."""
        hosts = self.path(HOSTS)
        has_links = any(os.path.islink(self.path(name)) for name in (HOSTS, INTERRUPTED))
        for host in os.listdir(hosts) if os.path.isdir(hosts) and not has_links else ():
            moved = self._found_checkpoints(HOSTS, host)
            if moved is None or self._found_checkpoints(INTERRUPTED, host) is not None:
                continue
            before = self.path(INTERRUPTED, host)
            if os.path.lexists(before):  # nothing else in it is ever restored, and a script may have put a link there
                _remove(before)
            place = os.path.join(before, self._checkpoints)
            os.makedirs(os.path.dirname(place), 0o700)
            os.rename(moved, place)

    def _found_checkpoints(self, part: str, host: str) -> str | None:
        """Return the checkpoints of a host if it has any, and the script has put no link on the way to them."""
        if not self._checkpoints:
            return None
        place = os.path.join(os.path.realpath(self.root), part, host, self._checkpoints)
        is_there = os.path.realpath(place) == place and os.path.isdir(place) and os.listdir(place)
        return place if is_there else None

    def forget_interrupted(self) -> None:
        """Remove its other files, without the checkpoints of hosts that this run lacks (`--hosts`)."""
        place = self.path(INTERRUPTED)
        if os.path.isdir(place):
            for name in os.listdir(place):
                if self._found_checkpoints(INTERRUPTED, name) is None:
                    _remove(os.path.join(place, name))
            with suppress(OSError):
                os.rmdir(place)

    def discard(self) -> None:
        """Remove everything that a run wrote here, including the directory and the parents created for it.

        The part of an interrupted run stays, and everything while it is in use.
        """
        if self.is_in_use:
            return
        if self.is_of_this_job:
            self.undo_restore()
        interrupted = os.path.isdir(self.path(INTERRUPTED))
        for name in _OURS - {RUN_MARKER, INTERRUPTED}:
            if os.path.lexists(self.path(name)):
                _remove(self.path(name))
        if interrupted:
            os.rename(self.path(INTERRUPTED), self.path(HOSTS))
            return
        os.unlink(self.path(RUN_MARKER))
        with suppress(OSError):
            for directory in [self.root, *self._made[1:]]:
                os.rmdir(directory)

    def release(self) -> None:
        """Allow other runs to replace the directory."""
        descriptors = self._lock, self._hosts
        self._lock = self._hosts = -1
        for descriptor in descriptors:
            if descriptor >= 0:
                os.close(descriptor)


def claim(root: str, job: str, checkpoints: str = "") -> RunDirectory:
    """Create the directory, empty. An existing one is replaced only if it is empty or an earlier run wrote it.

    ``checkpoints``: where the job has them, relative to the root of a host. Raise RunFailed, without a change, if it
    contains anything that no run has written.
    """
    link = tracked_link(root)
    if link is not None:
        raise RunFailed(3, written_outside(link))
    made = _missing(root)
    os.makedirs(root, exist_ok=True)
    marker = os.path.join(root, RUN_MARKER)
    names = set(os.listdir(root))
    if names and not is_run_marker(marker_in(root)) and not _is_begun(names, marker):
        raise RunFailed(1, f"`{root}` is not empty and smspec did not create it; pass a different directory with -o")
    strangers = sorted(names - _OURS)
    if strangers:
        raise RunFailed(
            1,
            f"`{root}` contains `{strangers[0]}`, which smspec did not create; move it, or use -o",
        )
    lock = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise RunFailed(1, f"a different run is using `{root}`; pass a different directory with -o") from None
    directory = RunDirectory(root, lock, made, checkpoints)
    kept = set()
    directory.is_of_this_job = is_unfinished(os.pread(lock, 4096, 0), job)
    if directory.is_of_this_job:
        if INTERRUPTED in names:
            directory.undo_restore()
        kept = {INTERRUPTED if INTERRUPTED in names else HOSTS}
    else:
        directory.mark("", "Running")  # until nothing of a different job is left, which a later run would resume
    kept = {name for name in kept if not os.path.islink(os.path.join(root, name))}
    for name in names - {RUN_MARKER} - kept:
        _remove(os.path.join(root, name))
    if HOSTS in kept & names:
        os.rename(directory.path(HOSTS), directory.path(INTERRUPTED))
    directory.mark(job, "Running")
    os.makedirs(directory.path(LOGS))
    return directory


def _missing(path: str) -> list[str]:
    """Return the directories to create for ``path``, itself first."""
    found = []
    path = os.path.abspath(path)
    while not os.path.lexists(path):
        found.append(path)
        path = os.path.dirname(path)
    return found


def _is_begun(names: set[str], marker: str) -> bool:
    """Return whether a run was killed before it wrote its marker."""
    is_file = os.path.isfile(marker) and not os.path.islink(marker)
    return names == {RUN_MARKER} and is_file and os.path.getsize(marker) == 0


def _remove(path: str) -> None:
    """Remove a file or a directory. Raise RunFailed if the rights of this user do not suffice."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            remove_tree(path)
        else:
            os.unlink(path)
    except PermissionError:
        # Where an image has no `chown`, what root of its containers wrote cannot be given back.
        raise RunFailed(
            3, f"cannot remove `{path}`: it may have files of users of a container; remove it as root, or use -o"
        ) from None


def has_other_owners(directory: str) -> bool:
    """Return whether anything below a directory belongs to a different user, as far as that can be read."""
    own = os.geteuid()
    for above, names, files in walked(directory, ignore_unread):
        for name in (*names, *files):
            with suppress(OSError):
                if os.lstat(os.path.join(above, name)).st_uid != own:
                    return True
    return False

"""What killed runs left in an engine: their containers, networks, and volumes, which the next run removes."""

from __future__ import annotations

import fcntl
import functools
import os

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.local.run_directory import HOSTS, INTERRUPTED
from smspec.render.tree import RUN_MARKER, is_run_marker, marker_in

LABEL = "smspec.run"
"""Its value is the path of the file that a run locks as long as it lasts."""


def label_of(lock: str) -> str:
    """Return the label for everything that a run creates."""
    return f"{LABEL}={os.path.realpath(lock)}"


@functools.cache
def sweep(program: str) -> None:
    """Remove the containers, networks, and volumes of runs that have ended. What cannot be read is left alone.

    Once per process: a rehearsal runs a job many times, and each run removes what is its own.
    """
    client = Client(program)
    for listing, inspection, removal in (
        (("ps", "--all"), ("inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}'), ("rm", "--force")),
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
                lock = client.run(*inspection, each)
            except ClientFailed:
                continue
            if lock and not _is_locked(lock):
                client.try_to(*removal, each)


def files_of_others(run_directory: str) -> list[str]:
    """Return the directories of a killed run that have files of another user, whom its containers ran as."""
    if not is_run_marker(marker_in(run_directory)) or _is_locked(os.path.join(run_directory, RUN_MARKER)):
        return []
    candidates = (os.path.join(run_directory, name) for name in (HOSTS, INTERRUPTED))
    return [each for each in candidates if os.path.isdir(each) and not os.path.islink(each) and _has_others(each)]


def _has_others(directory: str) -> bool:
    user = os.geteuid()
    for parent, directories, files in os.walk(directory):
        for name in (*directories, *files):
            try:
                if os.lstat(os.path.join(parent, name)).st_uid != user:
                    return True
            except OSError:
                continue
    return False


def _is_locked(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False

"""The one way to start git: it runs no other program, and reads the one repository that it is meant for.

A working tree may come from a stranger, who decides everything in it but `.git`: attributes that name filters,
submodules, and directories that look like bare repositories. What a user has configured, such as ignore rules and
trusted directories, stays in force.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence

from smspec.source.real_file import OUTSIDE_PROJECTS, program_outside, variables_outside

_USER_SETTINGS = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"})
"""They name files of the user's settings, as HOME does. Every other `GIT_` variable is dropped: those of a hook or of
the caller may name a different repository, a program, or a file to write to."""

_FETCHING = ("GIT_SSH", "GIT_SSL", "GIT_HTTP", "GIT_PROXY", "GIT_ASKPASS")
"""How variables begin that a fetch may need."""

_ENVIRONMENT = {
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_OFFLINE = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # before git 2.45, only this keeps a partial clone from fetching missing objects
}
_ONLINE = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}  # not `ext`, which runs a command

# A git that does not have a setting ignores it.
_SETTINGS = (
    "safe.bareRepository=explicit",  # a directory of ordinary files may look like a repository
    "core.fsmonitor=",  # empty, not `false`: before git 2.36 this is the name of a program
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    "core.pager=cat",
    "core.editor=false",
    "diff.external=",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "maintenance.auto=false",
    "gc.auto=0",
)
_NO_NETWORK = ("protocol.allow=never", "core.sshCommand=false", "core.gitProxy=", "core.askPass=", "credential.helper=")


_LONGEST_WAIT = 5.0
"""Seconds of two looks at git: one that sleeps all the time waits for another process, such as the writer of a pipe."""


class GitMissing(Exception):
    """There is no git on this machine."""


MOST_PROCESSOR_SECONDS = 60.0
"""What a call takes at most: the time to match a path against a pattern grows with the power of its `**`."""


class GitWaits(Exception):
    """git waits for another process, so it would never end: a file that it reads, such as `.gitignore`, is a pipe."""


class GitEndless(Exception):
    """git has taken `MOST_PROCESSOR_SECONDS`."""


def start_git(
    words: Sequence[str],
    directory: str,
    *,
    git_directory: str | None = None,
    may_fetch: bool = False,
    stderr: int = subprocess.PIPE,
    index: str = "",
) -> subprocess.Popen[bytes]:
    """Start git in a directory that has `.git`, or, with ``git_directory``, on that repository, which may be bare.

    ``index``: a file that it uses instead of the index of the repository.

    Git looks for a repository in no directory above. Raise `GitMissing`, and OSError for a directory that is not one.

    Git starts outside and changes to the directory: a shim with the name of git would start what the files there name.
    With ``may_fetch``, it stays outside, and so do the programs that it starts, such as a helper for credentials.
    """
    directory = os.path.abspath(directory)
    if not stat.S_ISDIR(os.stat(directory).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory)
    settings = (*_SETTINGS, *(() if may_fetch else _NO_NETWORK))
    if may_fetch:
        git_directory = os.path.join(directory, git_directory or ".git")
    where = [f"--work-tree={directory}"] if may_fetch else ["-C", directory]
    where += [] if git_directory is None else [f"--git-dir={git_directory}"]
    options = [word for setting in settings for word in ("-c", setting)]
    return subprocess.Popen(
        [_program(directory), "--no-pager", *where, *options, *words],
        cwd=OUTSIDE_PROJECTS,
        env=_environment(os.environ, directory, may_fetch) | ({"GIT_INDEX_FILE": index} if index else {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )


def run_git(
    words: Sequence[str],
    directory: str,
    *,
    git_directory: str | None = None,
    may_fetch: bool = False,
    stdin: bytes = b"",
    timeout: float | None = None,
    index: str = "",
) -> subprocess.CompletedProcess[bytes]:
    """Run git as `start_git` starts it, to its end. Raise `GitWaits` or `GitEndless` if it has none.

    Neither while it may fetch, nor with a ``timeout``.
    """
    process = start_git(words, directory, git_directory=git_directory, may_fetch=may_fetch, index=index)
    with process:
        try:
            out, err = process.communicate(stdin, timeout) if may_fetch or timeout else _communicated(process, stdin)
        finally:
            if process.poll() is None:
                process.kill()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def _communicated(process: subprocess.Popen[bytes], stdin: bytes) -> tuple[bytes, bytes]:
    state, rest = (False, 0.0), stdin or None
    while True:
        try:
            return process.communicate(rest, _LONGEST_WAIT)
        except subprocess.TimeoutExpired:
            before, state, rest = state, _state(process.pid), None
            is_asleep, seconds = state
            if is_asleep and state == before:
                raise GitWaits from None
            if seconds > MOST_PROCESSOR_SECONDS:
                raise GitEndless from None


def _state(process: int) -> tuple[bool, float]:
    """Return whether a process sleeps, not for a disk, and its processor time in seconds; without /proc, neither."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            facts = file.read().decode("ascii", "replace").rpartition(") ")[2].split()
        return facts[0] == "S", sum(map(int, facts[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return False, 0.0


def _environment(inherited: Mapping[str, str], directory: str, may_fetch: bool) -> dict[str, str]:
    kept = (*_USER_SETTINGS, *_FETCHING) if may_fetch else tuple(_USER_SETTINGS)
    # SSH_ASKPASS is a program, too.
    names = [name for name in inherited if not name.startswith(("GIT_", "SSH_ASKPASS")) or name.startswith(kept)]
    return {
        **variables_outside({name: inherited[name] for name in names}),
        **_ENVIRONMENT,
        **(_ONLINE if may_fetch else _OFFLINE),
        "GIT_CEILING_DIRECTORIES": os.path.dirname(os.path.realpath(directory)),
    }


def _program(directory: str) -> str:
    found = program_outside("git", directory)
    if found is None:
        raise GitMissing("cannot find `git` on PATH")
    return found

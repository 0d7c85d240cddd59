"""What a step of the action knows of the workflow around it, and how it answers: inputs, event, outputs, the log.

Inputs come as variables, SMSPEC_…, never as text in a shell line: what a pull request says must not be run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import NamedTuple

from smspec.diagnostics.quoting import visible
from smspec.workspace.git import GitFailed, Repository, repository_of

NEEDED = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"})
"""The variables that smspec is started with. The others of a run are secrets and tokens, and of no use to it."""

MOST_SUMMARY = 1_000_000
"""In bytes of UTF-8: the page of a run takes no summary of more than 1 MiB."""


class PullRequest(NamedTuple):
    """The pull request of the event. ``is_from_fork``: its token may neither comment nor upload."""

    number: int
    base: str
    head: str
    is_from_fork: bool


class Ended(NamedTuple):
    """How a command ended and what it printed."""

    status: int
    out: str
    err: str


def said(name: str) -> str:
    """Return an input; empty where nothing was said."""
    return os.environ.get(f"SMSPEC_{name}", "").strip()


def is_wanted(name: str) -> bool:
    """Return an input that is yes or no."""
    word = said(name).lower()
    if word not in ("true", "false", ""):
        sys.exit(f"smspec: the input {name.lower().replace('_', '-')} is `{word}`: write true or false")
    return word == "true"


def paths() -> list[str]:
    """Return the files and directories to look at."""
    return lines("PATHS") or ["."]


def lines(name: str) -> list[str]:
    """Return the lines of an input that are not empty."""
    return [line.strip() for line in said(name).splitlines() if line.strip()]


def pull_request() -> PullRequest | None:
    """Return the pull request that the event is about."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    found = event.get("pull_request")
    if not found or "base" not in found:
        return None
    origin = found["head"].get("repo")  # null: the fork is gone
    here = os.environ["GITHUB_REPOSITORY"]
    is_from_fork = origin is None or origin["full_name"].lower() != here.lower()
    return PullRequest(found["number"], found["base"]["sha"], found["head"]["sha"], is_from_fork)


def smspec(*words: str) -> Ended:
    """Run the command that is installed beside this Python, not one that lies in the repository."""
    program = Path(sys.executable).with_name("smspec")
    kept = {name: value for name, value in os.environ.items() if name in NEEDED}
    done = subprocess.run([program, *words], capture_output=True, stdin=subprocess.DEVNULL, env=kept)
    return Ended(done.returncode, *(stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr)))


def repository() -> Repository:
    """Return the repository that is checked: that of the first path, by the rules of smspec."""
    directory = paths()[0]
    try:
        return repository_of(directory if os.path.isdir(directory) else os.path.dirname(directory))
    except GitFailed as failure:
        sys.exit(f"smspec: {failure}")


def name() -> str:
    """Return what tells this use of the action from others, in characters that mean nothing anywhere."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", said("NAME")) or "smspec"


def temporary(suffix: str) -> Path:
    """Return a file of this use of the action, out of the repository."""
    return Path(os.environ["RUNNER_TEMP"], f"{name()}-{suffix}")


def put_out(name: str, value: object) -> None:
    """Give the steps that follow a value, of one line."""
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.write(f"{name}={value}\n")


def summarize(text: str) -> None:
    """Write Markdown to the page of the run, which pull requests from forks have too."""
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as file:
        file.write(text.encode()[:MOST_SUMMARY].decode("utf-8", "ignore"))


def log(text: str) -> None:
    """Write to the log what may hold words of a pull request: the runner takes no commands from it."""
    if text:
        resume = uuid.uuid4().hex
        print(f"::stop-commands::{resume}\n{text.rstrip()}\n::{resume}::", flush=True)


def tell(severity: str, message: str) -> None:
    """Show a message of ours, of one line, on the page of the run; names in it may be those of a pull request."""
    escaped = visible(message).replace("%", "%25")
    print(f"::{severity} title=smspec::{escaped}", flush=True)

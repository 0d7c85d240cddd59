"""Git repositories for tests, including malformed ones."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    # No commit of a test looks for something to tidy up.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "maintenance.auto",
    "GIT_CONFIG_VALUE_0": "false",
}

_SHOWN = subprocess.run(["git", "version"], capture_output=True, text=True).stdout
GIT_VERSION = tuple(map(int, re.findall(r"\d+", _SHOWN)[:2]))


def git(directory: Path, *words: str, content: bytes = b"", **environment: str) -> str:
    """Run git in a directory and return its output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        ["git", *words],
        cwd=directory,
        input=content,
        capture_output=True,
        env={**inherited, **IDENTITY, **environment},
        check=True,
    )
    return done.stdout.decode().strip()


def repository(directory: Path) -> Path:
    """Make an empty repository."""
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "-q", "--template=", "-b", "main", ".")
    return directory


def commit(directory: Path) -> str:
    """Commit everything in the working tree and return the name of the commit."""
    git(directory, "add", "-A")
    git(directory, "commit", "-q", "--allow-empty", "-m", "x")
    return git(directory, "rev-parse", "HEAD")


def commit_of(directory: Path, entries: list[tuple[str, bytes, bytes]]) -> str:
    """Commit a tree of (mode, name, content), names as they are: git checks none of them."""
    raw = b""
    for mode, name, content in entries:
        kind = "tree" if mode == "40000" else "blob"
        digest = content.decode() if kind == "tree" else git(directory, "hash-object", "-w", "--stdin", content=content)
        raw += mode.encode() + b" " + name + b"\0" + bytes.fromhex(digest)
    tree = git(directory, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", content=raw)
    return git(directory, "commit-tree", "-m", "x", tree)


def tree_of(directory: Path, entries: list[tuple[str, bytes, bytes]]) -> bytes:
    """Write a tree of (mode, name, content) and return its name, to be put into another."""
    commit = commit_of(directory, entries)
    return git(directory, "rev-parse", f"{commit}^{{tree}}").encode()

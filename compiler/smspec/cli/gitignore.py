"""The lines of .gitignore for what smspec writes next to a spec."""

from __future__ import annotations

import os

GITIGNORE = ".gitignore"
_WRITTEN = ("build/", "run/")
"""What `smspec build` and `smspec run` write."""


def missing_ignores(directory: str) -> list[str]:
    """Return the lines that the .gitignore of a directory lacks."""
    try:
        with open(os.path.join(directory, GITIGNORE), encoding="utf-8", errors="replace") as file:
            there = {line.strip().strip("/") for line in file}
    except FileNotFoundError:
        there = set()
    return [line for line in _WRITTEN if line.strip("/") not in there]


def add_ignores(directory: str, lines: list[str]) -> None:
    """Add lines to the .gitignore of a directory."""
    path = os.path.join(directory, GITIGNORE)
    is_cut = False
    if os.path.exists(path):
        with open(path, "rb") as file:
            content = file.read()
        is_cut = bool(content) and not content.endswith(b"\n")
    with open(path, "a", encoding="utf-8", newline="\n") as file:
        file.write("\n" * is_cut + "".join(f"{line}\n" for line in lines))

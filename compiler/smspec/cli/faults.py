"""What stops a command and is not a finding in a spec. Each has its exit status."""

from __future__ import annotations


class Usage(Exception):
    """The command line asks for something that cannot be meant: exit 2. ``usage`` shows how it is written."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class Refused(Exception):
    """The command would do harm, or its outcome is not what was asked for: exit 1."""


class Unavailable(Exception):
    """Something around us is missing or broken: exit 3."""

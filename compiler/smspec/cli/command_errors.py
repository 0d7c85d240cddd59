"""Errors that end a command and are not findings in a spec. Each has its exit status."""

from __future__ import annotations


class UsageError(Exception):
    """The command line is invalid: exit status 2. ``usage`` shows the correct form."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class CommandRefused(Exception):
    """The command would do harm, or its outcome is not the one that was requested: exit status 1."""


class ResourceUnavailable(Exception):
    """A file, a program, or a service that the command needs is missing or broken: exit status 3."""

"""Errors of writing a tree."""

from __future__ import annotations


class OutputRefused(Exception):
    """Writing would overwrite files that smspec did not create. Nothing was changed."""


class OutputFailed(Exception):
    """The disk, the permissions, or a file that changed meanwhile prevented it. The previous output is still there."""

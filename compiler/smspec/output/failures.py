"""Why a tree was not written."""

from __future__ import annotations


class OutputRefused(Exception):
    """Writing would destroy something that is not ours. Nothing was touched."""


class OutputFailed(Exception):
    """The disk, the permissions or a file that changed meanwhile stood in the way. What was there before still is."""

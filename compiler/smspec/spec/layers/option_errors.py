"""The command line asks for something that the spec does not offer."""

from __future__ import annotations


class OptionError(Exception):
    """Not the spec is at fault but the command: no such overlay, no such variable, not one of its values."""

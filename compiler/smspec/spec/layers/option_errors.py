"""Errors in command line options that do not match the spec."""

from __future__ import annotations


class OptionError(Exception):
    """The error is in the command, not in the spec: an unknown overlay, variable, or value."""

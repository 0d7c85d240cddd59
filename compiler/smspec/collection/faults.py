"""Why a result cannot be collected."""

from __future__ import annotations


class ResultRefused(Exception):
    """The job has no result, or one that is damaged or unsafe to unpack."""


class MergeFailed(Exception):
    """The parts of the hosts do not fit together. The result itself is whole."""

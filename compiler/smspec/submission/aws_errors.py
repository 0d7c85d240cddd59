"""Errors of calls to AWS, by who can fix them."""

from __future__ import annotations


class JobRefused(Exception):
    """AWS rejects the job: it does not exist, or is invalid."""


class AwsUnavailable(Exception):
    """AWS cannot be called: no credentials, no region, no connection, or no permission."""

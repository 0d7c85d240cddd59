"""What can go wrong with a call to AWS, by who can mend it."""

from __future__ import annotations


class JobRefused(Exception):
    """AWS understood, and says no to the job: it does not exist, or is not as it may be."""


class AwsUnavailable(Exception):
    """AWS cannot be asked, or does not let us: no credentials, no region, no connection, no permission."""

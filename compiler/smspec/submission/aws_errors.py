"""Errors of calls to AWS, by who can fix them."""

from __future__ import annotations

import re

_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired")
_UNKNOWN = ("UnrecognizedClientException", "InvalidClientTokenId", "InvalidSignatureException", "SignatureDoesNotMatch")
_SKEWED = ("RequestTimeTooSkewed", "RequestInTheFuture")
INVALID_CREDENTIALS = (*_EXPIRED, *_UNKNOWN, *_SKEWED)
"""Error codes of a call with credentials that AWS does not accept."""

_CLOCK = re.compile(
    r"RequestTimeTooSkewed|RequestInTheFuture|RequestExpired|Signature (?:expired|not yet current)", re.I
)

DENIED = (
    *("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"),
    *("403", "Forbidden"),  # of a HEAD request, whose response has no body
)
"""Error codes of a call that no policy allows."""

_NOT_ALLOWED = re.compile(r"not authorized to perform: ([A-Za-z0-9-]+:[A-Za-z0-9*]+)(?: on resource: ([!-~]+))?")


class JobRefused(Exception):
    """AWS rejects the job: it does not exist, or is invalid."""


class AwsUnavailable(Exception):
    """AWS cannot be called: no credentials, no region, no connection, or no permission."""


class InvalidCredentials(AwsUnavailable):
    """AWS does not accept the credentials; a new login may help, and repeating the call does not."""


class AccessDenied(AwsUnavailable):
    """An IAM policy does not allow the call; repeating it does not help."""


class ActionDenied(AccessDenied):
    """The credentials lack a permission. ``action`` and ``resource`` as IAM writes them; ``resource`` may be empty."""

    def __init__(self, action: str, resource: str) -> None:
        super().__init__(f"AWS denies `{action}`" + (f" on `{resource}`" if resource else ""))
        self.action = action
        self.resource = resource


def denied_action(sentence: str) -> ActionDenied | None:
    """Return the permission that AWS's sentence says is missing, from an API or from a registry; None if it is none."""
    found = _NOT_ALLOWED.search(sentence)
    return None if found is None else ActionDenied(found[1], (found[2] or "").strip(".,:\"'"))


def unaccepted(code: str, message: str) -> str:
    """Return why AWS does not accept credentials."""
    if _CLOCK.search(f"{code}: {message}"):
        return f"AWS does not accept the time of the request ({code}): set the clock of this machine"
    if code in _EXPIRED:
        return "the AWS credentials have expired; log in again"
    return f"AWS does not accept the credentials ({code})"


def unavailable(what: str, code: str, message: str, action: str, resource: str = "") -> AwsUnavailable:
    """Return the error for what AWS rejects.

    ``what`` follows "cannot". ``action`` and ``resource``: the permission that the call requires.
    """
    if code in INVALID_CREDENTIALS:
        return InvalidCredentials(f"cannot {what}: {unaccepted(code, message)}")
    if code in DENIED:
        return denied_action(message) or ActionDenied(action, resource)
    return AwsUnavailable(f"cannot {what}: {code}: {message}")

"""Read a list from AWS, page by page, with errors as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from smspec.submission.aws_errors import DENIED, AwsUnavailable
from smspec.wire.aws import AwsRefused, AwsSession, responses
from smspec.wire.fault import WireFault

_MOST_PAGES = 1000


def session_of(profile: str | None) -> AwsSession:
    """Return a session with the credentials of a profile. Raise `AwsUnavailable`."""
    try:
        with responses("call AWS"):
            return AwsSession(profile)
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


def regions_of(session: AwsSession, regions: tuple[str, ...]) -> tuple[str, ...]:
    """Return regions, or if there are none the region of a session. Raise `AwsUnavailable` if it has none either."""
    own = session.session.region_name
    if not regions and not own:
        raise AwsUnavailable("no AWS region; pass `--region`, or set `region` in a spec")
    return regions or (str(own),)


def client_of(session: AwsSession, service: str, region: str) -> Any:
    """Return the client of a service in a region. Raise `AwsUnavailable`."""
    try:
        with responses(f"call {service} in {region}"):
            return session.client(service, region_name=region)
    except WireFault as fault:
        raise AwsUnavailable(str(fault)) from None


def listed(what: str, action: str, member: str, call: Callable[..., dict[str, Any]]) -> Iterator[Any]:
    """Yield the items in ``member`` of all pages of a call.

    ``action`` is what IAM calls it. Raise `AwsUnavailable`, for a token that repeats too.
    """
    token: dict[str, str] = {}
    seen: set[str] = set()
    for _ in range(_MOST_PAGES):
        try:
            with responses(f"ask AWS for {what}"):
                page = call(**token)
                items, next_token = list(page.get(member) or ()), page.get("NextToken")
        except AwsRefused as refusal:
            if refusal.code in DENIED:
                raise AwsUnavailable(f"AWS denies access to {what}; allow `{action}` in an IAM policy") from None
            raise AwsUnavailable(f"AWS rejects the request for {what}: {refusal}") from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None
        yield from items
        if not next_token:
            return
        if next_token in seen:
            break
        seen.add(next_token)
        token = {"NextToken": next_token}
    raise AwsUnavailable(f"AWS lists {what} without an end")

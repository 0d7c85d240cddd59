"""The API model and the developer guide differ on how long instances can be kept."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM349", "long warm pool", "warning", evidence="conflict")
LONGEST_IN_THE_GUIDE = 3_600
LONGEST_IN_THE_MODEL = 21_600


def check(request: Request) -> Iterator[Finding]:
    """Warn about a keep-alive period above the limit of the guide and within that of the model."""
    if LONGEST_IN_THE_GUIDE < request.keep_alive <= LONGEST_IN_THE_MODEL:
        yield RULE.at(
            ("ResourceConfig", "KeepAlivePeriodInSeconds"),
            f"`{request.word('KeepAlivePeriodInSeconds', 'hosts.keep_alive')}` is {request.time(request.keep_alive)}; "
            f"the maximum in the developer guide is {request.time(LONGEST_IN_THE_GUIDE)}",
            help=(
                f"use {request.time(LONGEST_IN_THE_GUIDE)} or less; the API model allows "
                f"{request.time(LONGEST_IN_THE_MODEL)}"
            ),
        )

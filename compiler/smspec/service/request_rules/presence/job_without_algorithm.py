"""A request must set what it runs. The model stopped requiring it with serverless jobs; the service did not."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.request import Request

RULE = Rule("SM420", "job without an image", evidence="third-party-schema")


def check(request: Request) -> Iterator[Finding]:
    """Reject a request without AlgorithmSpecification, unless the job is serverless."""
    if "AlgorithmSpecification" not in request.payload and not request.is_serverless:
        image = request.word("AlgorithmSpecification", "image")
        yield RULE.at(
            ("AlgorithmSpecification",),
            f"`{image}` is not set",
            help=f"set `{image}` to an image or an algorithm",
        )

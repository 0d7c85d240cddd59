"""Each account of AWS publishes only some repositories."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.facts import accounts
from smspec.service.request import IMAGE, Request

RULE = Rule("SM384", "image repository of a different account", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a repository that AWS publishes from a different account in the region, or not at all."""
    image = request.provided_image
    # AWS publishes many repositories that are not for training, so an unlisted one is no sign of an error.
    if image is None or not image.is_of_region or image.published or not image.of_repository:
        return
    columns = {listed.column for listed in image.of_repository}
    others = sorted({accounts.account(column, image.region) for column in columns} - {""})
    right = image.uri_in(request.region or image.region)
    regions = sorted({region for column in columns for region in accounts.regions(column)})
    yield RULE.at(
        IMAGE,
        f"{HERE}: `{image.repository}` is not in "
        + (f"account `{image.account}` {accounts.as_of()}" if others else f"`{image.region}` {accounts.as_of()}"),
        help=f"use `{right}`"
        if right
        else f"use account {' or '.join(f'`{other}`' for other in others)}"
        if others
        else f"use a region such as {', '.join(f'`{region}`' for region in regions[:3])}",
    )

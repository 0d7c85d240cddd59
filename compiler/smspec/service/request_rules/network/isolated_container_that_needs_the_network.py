"""Some containers of SageMaker download what they run."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.provided_images import needs_the_network
from smspec.service.request import Request

RULE = Rule("SM471", "network isolation of a container that needs the network", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject network isolation for Chainer and reinforcement learning containers of SageMaker."""
    image = request.image
    if request.payload.get("EnableNetworkIsolation") is True and image and needs_the_network(image):
        yield RULE.at(
            ("EnableNetworkIsolation",),
            f"{HERE} is not supported by the SageMaker container `{image.repository}`",
            help="remove it, or use a different image",
        )

"""A short name must name one image in the region of the job."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.image_names import Unavailable
from smspec.service.named_image import NamedImage

RULE = Rule("SM487", "unknown image name", instead_of="SM436")


def check(named: NamedImage) -> Iterator[Finding]:
    """Reject a name without an image, or with several."""
    if isinstance(named.uri, Unavailable):
        near = named.uri.suggestion
        yield RULE.at(
            named.path,
            f"{HERE}: {named.uri.reason}",
            label=f"did you mean `{near}`?" if near else "",
            help=named.uri.help,
        )

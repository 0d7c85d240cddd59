"""SageMaker cannot pull a tag that was never published."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.service.facts import accounts, images
from smspec.service.member_names import shown
from smspec.service.provided_image import ProvidedImage
from smspec.service.request import IMAGE, Request

RULE = Rule("SM385", "unlisted image tag", "warning", evidence="inferred")

# No tag, or `latest`, is reported by a different rule. Not all tags with Python 2 are listed.
_UNKNOWABLE = r"|latest|.*-py2[0-9]*(?:-.*)?"
_VERSION_AND_PROCESSOR = r".+?-(?:cpu|gpu|neuronx?)(?=-|$)"


def check(request: Request) -> Iterator[Finding]:
    """Warn about an image of AWS whose region or tag is not in the tables."""
    image = request.provided_image
    if image is None or image.listed or not image.of_repository:
        return
    if image.region not in accounts.all_regions():
        yield _unlisted_region(image)
    elif image.published and not re.fullmatch(_UNKNOWABLE, image.tag or "") and not _is_longer(image):
        elsewhere = any(image.tag in listed.tags for listed in image.of_repository)
        near = None if elsewhere else _nearest(image)
        yield RULE.at(
            IMAGE,
            f"{HERE}: `{image.repository}` has no tag `{shown(image.tag)}`"
            f"{f' in `{image.region}`' if elsewhere else ''} {images.as_of()}",
            label=f"did you mean `{near}`?" if near else "",
            help="use a listed tag; if the tag is newer, add SM385 to `checks.ignore`",
        )


def _unlisted_region(image: ProvidedImage) -> Finding:
    near = nearest(image.region, accounts.all_regions())
    return RULE.at(
        IMAGE,
        f"{HERE} is in `{shown(image.region)}`, which has no images of AWS {accounts.as_of()}",
        label=f"did you mean `{near}`?" if near else "",
        help="check the region; if it is newer, add SM385 to `checks.ignore`",
    )


def _is_longer(image: ProvidedImage) -> bool:
    """Return whether a tag is a listed one with something behind it: AWS appends builds and dates to most tags."""
    return any(str(image.tag).startswith(f"{tag}-") for listed in image.of_repository for tag in listed.tags)


def _nearest(image: ProvidedImage) -> str | None:
    """Return the listed tag that is meant: of the same version for the same processor, or else the nearest."""
    tags = [tag for listed in image.published for tag in listed.tags]
    begun = re.match(_VERSION_AND_PROCESSOR, str(image.tag))
    same = [tag for tag in tags if begun and f"{tag}-".startswith(f"{begun[0]}-")]
    return same[0] if same else nearest(str(image.tag), tags)

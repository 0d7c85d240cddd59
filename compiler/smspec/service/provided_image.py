"""One image of AWS, as a request names it: what the tables know of its account, repository, and tag.

The account decides, not the name: a team may call its own image `kmeans`.
"""

from __future__ import annotations

from functools import lru_cache

from smspec.service.facts import accounts
from smspec.service.facts.images import ListedImage, images_of
from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedImage:
    """An image in an account of AWS.

    ``of_repository``: every listed image of its repository; ``published``: those that this account publishes in this
    region; ``listed``: those with this tag, too. ``is_of_region``: the account publishes any images in the region.
    """

    account: str
    region: str
    repository: str
    tag: str | None
    is_of_region: bool
    of_repository: tuple[ListedImage, ...]
    published: tuple[ListedImage, ...]
    listed: tuple[ListedImage, ...]

    @property
    def processors(self) -> frozenset[str]:
        """The processors that the image is for; empty if they are unknown. Both kinds of Neuron are one."""
        return frozenset(name.rstrip("x") for image in self.listed for name in image.processors)

    def uri_in(self, region: str) -> str:
        """Return the whole URI of the same image in a region; empty if it is not published there."""
        tagged = [image for image in self.of_repository if self.tag in image.tags]
        columns = dict.fromkeys(image.column for image in tagged or self.of_repository)
        registries = [registry for column in columns if (registry := accounts.registry(column, region))]
        return f"{registries[0]}/{self.repository}:{self.tag}" if registries and self.tag else ""


def is_provided(image: ImageReference | None) -> bool:
    """Return whether an image is in an account of AWS."""
    return image is not None and image.account is not None and accounts.is_provider(image.account)


@lru_cache(maxsize=256)  # several rules use it, and jobs share images
def provided_image(text: str) -> ProvidedImage | None:
    """Return what is known of an image of AWS; None for any other image, such as a mirror in the account of a team."""
    image = parsed_reference(text)
    if image is None or image.account is None or image.region is None or not is_provided(image):
        return None
    columns = accounts.columns(image.account, image.region)
    of_repository = images_of(image.repository)
    published = tuple(row for row in of_repository if row.column in columns)
    return ProvidedImage(
        account=image.account,
        region=image.region,
        repository=image.repository,
        tag=image.tag,
        is_of_region=bool(columns),
        of_repository=of_repository,
        published=published,
        listed=tuple(row for row in published if image.tag is not None and image.tag in row.tags),
    )

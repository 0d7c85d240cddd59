"""Read what AWS's pages on its deep learning containers list for each training image: tags, Python, end of patch."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from maintenance.checkout import Checkout
from smspec.source.frozen import dataclass

_PAGES = "docs/src/data"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerPage:
    """``tags``: from the most exact to the shortest. ``python``: ``py312``, or empty; ``processor``: as in tags."""

    repository: str
    version: str
    tags: tuple[str, ...]
    python: str
    processor: str
    end_of_patch: str


def container_pages(containers: Checkout, repositories: tuple[str, ...]) -> Iterator[ContainerPage]:
    """Yield the images of SageMaker of some repositories."""
    for path in containers.files(_PAGES, ".yml"):
        repository = path.split("/")[-2]
        if repository not in repositories:
            continue
        page = yaml.safe_load(containers.text(path))
        if page.get("platform", "sagemaker") == "sagemaker":
            yield ContainerPage(
                repository=repository,
                version=str(page["version"]),
                tags=tuple(map(str, page.get("tags", ()))),
                python=str(page.get("python", "")),
                processor=str(page.get("accelerator", "")),
                end_of_patch=str(page.get("eop", "")),
            )

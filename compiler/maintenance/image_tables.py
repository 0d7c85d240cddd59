"""The rows of the tables of images and accounts: what the SDK names, and what AWS's pages and builds add.

AWS's pages on its deep learning containers list tags, Python, and end of patch for each training image. Tags of
scikit-learn and XGBoost do not show their Python, and move; their repositories have a branch for each release. A
release is omitted if two of its Dockerfiles differ.
"""

from __future__ import annotations

import glob
import gzip
import importlib.util
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping

import yaml

from maintenance.surroundings import Checkout
from smspec.service.facts import Row, Table
from smspec.service.facts.installed_packages import ConfiguredImage
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


REPOSITORIES = {
    "sagemaker-scikit-learn-container": "sagemaker-scikit-learn",
    "sagemaker-xgboost-container": "sagemaker-xgboost",
}
"""The repository of the sources → that of the images."""

_DOCKERFILE = r"docker/(?P<release>[^/]+)/base/Dockerfile\.cpu"
_VERSION = r"^ARG PYTHON_VERSION=(\d+\.\d+)"
_UNKNOWN = ""

Releases = dict[tuple[str, str], str]
"""Repository of the images and release → version, such as ``3.8``."""


def interpreters(sources: Iterable[Checkout]) -> Releases:
    """Return the versions of Python in the images that are built from some repositories."""
    found: dict[tuple[str, str], set[str]] = {}
    for source in sources:
        for commit in source.versions():
            for path in source.files("docker", "Dockerfile.cpu", at=commit):
                match = re.fullmatch(_DOCKERFILE, path)
                if match:
                    version = re.search(_VERSION, source.text(path, at=commit), re.MULTILINE)
                    release = (REPOSITORIES[source.name], match["release"])
                    found.setdefault(release, set()).add(version[1] if version else _UNKNOWN)
    agreed = {release: versions.pop() for release, versions in sorted(found.items()) if len(versions) == 1}
    return {release: version for release, version in agreed.items() if version}


_ONLY_IN_A_LIST = "dlc-only"
_KEPT = ("full_tag", "interpreter", "end_of_patch")
# The SDK has no processor for images that are for both, and for algorithms; the guide has.
_BOTH = "cpu gpu"
_REGION, _DOMAIN = "region", "dns_suffix"

Registries = tuple[tuple[str, str], ...]


def refreshed(before: Mapping[str, Table], found: list[ConfiguredImage]) -> dict[str, list[Row]]:
    """Return the rows of both tables for the images of the SDK."""
    old = {(row["repository"], row["tag"]): row for row in before["images"].rows()}
    columns = _columns(before["accounts"].rows(), old.values(), found)
    images = [_image_row(image, old.get((image.repository, image.tag)), columns) for image in found]
    images += [row for row in old.values() if row["sdk_framework"] == _ONLY_IN_A_LIST]
    listed = {row["accounts"] for row in images}
    kept = {column: registries for registries, column in columns.items() if column in listed}
    return {
        "accounts": _account_rows(before["accounts"].rows(), kept),
        "images": _in_order(images),
    }


def with_pages(images: Iterable[Row], pages: Iterable[ContainerPage]) -> list[Row]:
    """Return the rows of images with the dates and longer tags of AWS's pages, and rows for other tags there."""
    found = [dict(row) for row in images]
    for page in pages:
        same = [
            row for row in found if row["repository"] == page.repository and page.processor in row["processor"].split()
        ]
        shown = [row for row in same if _is_shown(row, page)]
        longest, tags = page.tags[0], {row["tag"] for row in same}
        for row in shown:
            if longest not in tags and longest.startswith(f"{row['tag']}-"):
                row["full_tag"] = longest
            row["end_of_patch"] = page.end_of_patch or row["end_of_patch"]
        # A repository without any row has no accounts: its images wait for the SDK.
        known = tags | {row["full_tag"] for row in same}
        found += [_row_of_page(tag, page, (shown or same)[-1]) for tag in page.tags if same and tag not in known]
    return _in_order(found)


def with_interpreters(images: Iterable[Row], releases: Releases) -> list[Row]:
    """Return the rows of images with the version of Python of each release whose tag does not show it."""
    return [
        {**row, "interpreter": releases.get((row["repository"], row["version"]), row["interpreter"])}
        if row["python"] in ("", "py3")
        else row
        for row in images
    ]


def _is_shown(row: Row, page: ContainerPage) -> bool:
    """Return whether a page is about the image of a row."""
    return row["tag"] in page.tags or page.tags[0].startswith(f"{row['tag']}-")


def _row_of_page(tag: str, page: ContainerPage, sibling: Row) -> Row:
    return {
        **sibling,
        "tag": tag,
        "full_tag": "",
        "sdk_framework": _ONLY_IN_A_LIST,
        "version": page.version,
        "aliases": "",
        "base": "",
        "python": page.python,
        "interpreter": "",
        "processor": page.processor,
        "end_of_patch": page.end_of_patch,
    }


def _in_order(images: Iterable[Row]) -> list[Row]:
    return sorted(images, key=lambda row: (row["repository"], _natural(row["version"]), _natural(row["tag"])))


def _image_row(image: ConfiguredImage, old: Row | None, columns: dict[Registries, str]) -> Row:
    kept = {name: old[name] if old else "" for name in _KEPT}
    return {
        "repository": image.repository,
        "tag": image.tag,
        "full_tag": kept.pop("full_tag"),
        "sdk_framework": image.framework,
        "version": image.version,
        "aliases": " ".join(image.aliases),
        "base": image.base,
        "python": image.python,
        "interpreter": kept.pop("interpreter"),
        "processor": image.processor or (old["processor"] if old else _BOTH),
        "accounts": columns[image.registries],
        **kept,
    }


def _columns(accounts: tuple[Row, ...], images: Iterable[Row], found: list[ConfiguredImage]) -> dict[Registries, str]:
    """Return the column of each list of registries: its old one, that of the same image, or a new one.

    Columns keep their names, so that a new region changes one row.
    """
    names = [name for name in accounts[0] if name not in (_REGION, _DOMAIN)]
    before = {tuple(sorted((row[_REGION], row[name]) for row in accounts if row[name])): name for name in names}
    of_image = {(row["repository"], row["tag"]): row["accounts"] for row in images}
    columns: dict[Registries, str] = {}
    waiting: list[ConfiguredImage] = []
    for image in found:
        if image.registries in before:
            columns[image.registries] = before[image.registries]
        else:
            waiting.append(image)
    used = set(columns.values())
    for image in waiting:
        if image.registries in columns:
            continue
        old = of_image.get((image.repository, image.tag), "")
        # A column of images that are only in the list keeps its registries.
        is_free = old not in used and old in names
        name = old if is_free else str(max(map(int, {*names, *used})) + 1)
        columns[image.registries] = name
        used.add(name)
    return {**{registries: name for registries, name in before.items() if name not in used}, **columns}


def _account_rows(before: tuple[Row, ...], columns: dict[str, Registries]) -> list[Row]:
    domains = {row[_REGION]: row[_DOMAIN] for row in before}
    accounts = {name: dict(registries) for name, registries in columns.items()}
    regions = sorted({region for found in accounts.values() for region in found})
    return [
        {
            _REGION: region,
            _DOMAIN: domains.get(region) or _domain(region),
            **{name: accounts[name].get(region, "") for name in sorted(accounts, key=int)},
        }
        for region in regions
    ]


def _domain(region: str) -> str:
    """Return the domain of the partition of a region, from the files of the installed botocore."""
    package = importlib.util.find_spec("botocore")
    if package is None or package.origin is None:
        raise SystemExit("botocore is not installed")
    pattern = os.path.join(os.path.dirname(package.origin), "data", "partitions.json*")
    path = min(glob.glob(pattern))
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        partitions = json.load(file)["partitions"]
    for partition in partitions:
        if re.match(partition["regionRegex"], region):
            return str(partition["outputs"]["dnsSuffix"])
    raise SystemExit(f"botocore has no partition for {region}")


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts 2.10 after 2.9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split("([0-9]+)", text) if part]

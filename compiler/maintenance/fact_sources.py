"""Each source of tables: what it reads, and the tables that it makes of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from maintenance.image_packages import ADDED, REPOSITORY, Environment, environments, package_rows
from maintenance.image_tables import (
    REPOSITORIES,
    ContainerPage,
    Releases,
    container_pages,
    interpreters,
    refreshed,
    with_interpreters,
    with_pages,
)
from maintenance.instance_tables import (
    bandwidth_rows,
    described_types,
    instance_rows,
    not_offered_rows,
    offered_types,
    partition_rows,
    training_types,
)
from maintenance.pypi import module_names
from maintenance.surroundings import Checkout, Surroundings, Unreadable
from smspec.service.facts import Row, Table
from smspec.service.facts.images import repositories
from smspec.service.facts.installed_packages import CONFIGURATIONS, DISTRIBUTION, sdk_images
from smspec.source.frozen import dataclass

Before = Mapping[str, Table]
_DOWNLOADS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """``rows``: table → its rows. ``versions``: source → its version, as the first line of a table names them.

    ``date``: the date of a table that changes. ``unread``: what stays as it is, as sentences.
    """

    rows: Mapping[str, list[Row]]
    versions: Mapping[str, str]
    date: str
    unread: tuple[str, ...] = ()


def images(before: Before, around: Surroundings) -> Refreshed:
    """Refresh images and accounts: from the SDK, then from the pages and builds of the containers."""
    sdk = around.installed(DISTRIBUTION, CONFIGURATIONS)
    rows = refreshed(before, list(sdk_images(sdk.directory)))
    clones: list[Checkout] = []
    unread: list[str] = []
    try:
        containers = around.clone(REPOSITORY)
        pages: list[ContainerPage] = list(container_pages(containers, repositories()))
        rows["images"] = with_interpreters(with_pages(rows["images"], pages), _built_interpreters(containers))
        clones.append(containers)
    except Unreadable as error:
        unread.append(f"images: longer tags and ends of patch: {error}")
    try:
        builds = [around.clone(name) for name in REPOSITORIES]
        rows["images"] = with_interpreters(rows["images"], interpreters(builds))
        clones += builds
    except Unreadable as error:
        unread.append(f"images: versions of Python of scikit-learn and XGBoost: {error}")
    return Refreshed(
        rows=rows,
        versions={sdk.name: sdk.version, **_commits(clones)},
        date=around.date_of(sdk, clones=clones),
        unread=tuple(unread),
    )


def packages(before: Before, around: Surroundings) -> Refreshed:
    """Refresh the packages of images from the locks that they are built from, and their modules from PyPI."""
    containers = around.clone(REPOSITORY)
    found = list(environments(containers, repositories()))
    unread = [f"image_packages: {each.repository}:{each.tag}: {each.reason}" for each in found if each.packages is None]
    old = before["image_packages"].rows()
    try:
        rows = package_rows(old, found, _modules(old, found))
    except OSError as error:
        raise Unreadable(f"PyPI cannot be read: {error}") from error
    return Refreshed(
        rows={"image_packages": rows},
        versions=_commits([containers]),
        date=around.date_of(clones=[containers]),
        unread=tuple(unread),
    )


def instances(before: Before, around: Surroundings) -> Refreshed:
    """Refresh instance types, their bandwidth, and the regions without them."""
    botocore, moto = around.installed("botocore", "botocore"), around.installed("moto", "moto")
    types, described = training_types(botocore.directory), described_types(moto.directory)
    return Refreshed(
        rows={
            "instances": instance_rows(types, described, before["instances"].rows()),
            "instance_bandwidth": bandwidth_rows(types, described, before["instance_bandwidth"].rows()),
            "ec2_not_offered": not_offered_rows(
                types, described, offered_types(moto.directory), before["ec2_not_offered"].rows()
            ),
        },
        versions={moto.name: moto.version},
        date=around.date_of(moto),
    )


def partitions(_: Before, around: Surroundings) -> Refreshed:
    """Refresh the partitions, their regions, and their DNS suffixes."""
    botocore = around.installed("botocore", "botocore")
    return Refreshed(
        rows={"partitions": partition_rows(botocore.directory)},
        versions={botocore.name: botocore.version},
        date=around.date_of(botocore),
    )


SOURCES: tuple[tuple[tuple[str, ...], Callable[[Before, Surroundings], Refreshed]], ...] = (
    (("accounts", "images"), images),
    (("image_packages",), packages),
    (("instances", "instance_bandwidth", "ec2_not_offered"), instances),
    (("partitions",), partitions),
)
"""The tables that are written together, and what refreshes them."""


def _built_interpreters(containers: Checkout) -> Releases:
    """Return the versions of Python that the configurations of current releases name."""
    found: Releases = {}
    for each in environments(containers, repositories()):
        release = each.tag.partition("-cpu")[0].partition("-gpu")[0].partition("-cu")[0]
        if each.python:
            found[each.repository, release] = each.python
    return found


def _modules(before: tuple[Row, ...], found: list[Environment]) -> Callable[[str, str], frozenset[str] | None]:
    """Return a look-up of modules for which those of new versions are downloaded at the same time."""
    known = {(row["package"], version.partition("+")[0]) for row in before for version in row.values()}
    wanted = {
        (name, version.partition("+")[0]): each.python.replace(".", "")
        for each in found
        for name, version in (each.packages or {}).items()
        if version != ADDED
    }
    new = {key: python for key, python in wanted.items() if key not in known}
    if new:
        print(f"reading the modules of {len(new)} packages from PyPI", file=sys.stderr)  # noqa: T201
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        names = dict(zip(new, pool.map(lambda item: module_names(*item[0], python=item[1]), new.items()), strict=True))

    def modules_of(name: str, version: str) -> frozenset[str] | None:
        key = (name, version)
        if key not in names:
            names[key] = module_names(name, version, python=wanted[key])
        return names[key]

    return modules_of


def _commits(clones: list[Checkout]) -> dict[str, str]:
    return {clone.name: f"{clone.commit} of {clone.date}" for clone in clones}

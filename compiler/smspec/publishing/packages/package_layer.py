"""The packages of an image: their wheels from the lockfile, and one layer with their files."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from smspec.installers import chooses_place
from smspec.local.python.wanted import secret_variables as build_secrets
from smspec.local.running.request import RunFailed
from smspec.lock.compatibility import rank, wheel_name
from smspec.lock.index_settings import IndexSettings, index_settings, secret_variables
from smspec.lock.resolver_process import ResolverFailed
from smspec.publishing.file_layers import LayerFile, whiteout
from smspec.publishing.packages.base_listing import BaseListing
from smspec.publishing.packages.installed_files import (
    BasePython,
    Installed,
    InstalledFile,
    base_python,
    directories_above,
    installed_files,
    installed_packages,
    is_same_version,
    removed_files,
)
from smspec.publishing.packages.wheel import Wheel, read_wheel, rejected
from smspec.publishing.packages.wheel_cache import WheelCache
from smspec.publishing.publication import JobImage, PublishFailed
from smspec.render.dockerfile import REQUIREMENTS
from smspec.service.bare_image import BareImage, bare_image
from smspec.service.requirement_lines import CERTIFICATES, Requirement, RequirementLines, read_requirements

Show = Callable[[str], None]

_LARGEST = 52_000 << 20
"""Bytes: the quota of Amazon ECR for a layer."""


def package_files(
    job: JobImage, requirements: bytes, listing: BaseListing, variables: Mapping[str, str], show: Show
) -> tuple[LayerFile, ...]:
    """Return the files of the locked packages, with marks for what they replace. Raise PublishFailed.

    ``requirements``: the locked file. ``variables``: those of the image while it installs packages.
    """
    python = _python(job, listing, variables)
    lines = read_requirements(requirements, _named(job))
    _check_lines(lines)
    before = installed_packages(listing, python.packages)
    others: dict[str, Installed] = {}
    for directory in python.others:
        others |= installed_packages(listing, directory)
    wanted, replaced = [], []
    for each in lines.requirements:
        known = [found for found in (before.get(each.name), others.get(each.name)) if found is not None]
        if any(is_same_version(found.version, _version(each)) for found in known) and not each.url:
            continue  # pip leaves what is installed already
        wanted.append(each)
        if each.name in before:
            replaced.append(each.name)
    for name in replaced:
        if before[name].files is None:
            raise PublishFailed(
                1,
                f"the base `{job.image.base}` has `{name}` {before[name].version} without a list of its files, and the"
                " lockfile replaces it; build the image with an engine",
            )
    wheels = _wheels(job, wanted, lines, show)
    installed = [file for requirement, wheel in wheels for file in _installed(requirement, wheel, python)]
    files = _placed(job, _without_duplicates(installed, show), listing)
    marks = [whiteout(path) for path in removed_files(listing, python, (before[name] for name in replaced), {*files})]
    files[REQUIREMENTS] = LayerFile.of(REQUIREMENTS, requirements)
    if sum(file.size for file in files.values()) > _LARGEST:
        raise PublishFailed(1, f"the packages of `{job.spec}` have more than {_LARGEST:,} bytes")
    return (*files.values(), *marks)


def _python(job: JobImage, listing: BaseListing, variables: Mapping[str, str]) -> BasePython:
    python = base_python(job.image.base, listing, variables.get("PATH", ""))
    environment = job.image.environment
    assert environment is not None  # `obstacle` has checked it
    if python.minor != environment.python:
        raise PublishFailed(
            1,
            f"the base `{job.image.base}` has Python {python.minor}, and the lockfile has packages for Python"
            f" {environment.python}; run `smspec lock --update`",
        )
    moved = next((name for name in (*variables, *job.image.build_args) if chooses_place(name)), None)
    if moved is not None:
        raise PublishFailed(
            1,
            f"the variable `{moved}` of the image changes where pip installs packages, which `--engine none` does not"
            " support; remove it, or build the image with an engine",
        )
    return python


def _check_lines(lines: RequirementLines) -> None:
    if lines.obstacle:
        raise PublishFailed(1, f"cannot install the packages of the lockfile: {lines.obstacle}")
    for each in lines.requirements:
        file = each.url.partition("#")[0].partition("?")[0]
        if each.url and not file.endswith(".whl"):
            raise PublishFailed(
                1,
                f"the lockfile has `{posixpath.basename(file)[:100]}` for `{each.name}`, which is not a wheel, and"
                " `--engine none` builds no packages; build the image with an engine, or put a wheel into an index",
            )


def _wheels(
    job: JobImage, requirements: Sequence[Requirement], lines: RequirementLines, show: Show
) -> list[tuple[Requirement, Wheel]]:
    bare = bare_image(job.image.base, job.image.system_packages, job.image.platform, job.image.python)
    if isinstance(bare, str):
        raise PublishFailed(1, f"cannot tell which wheels fit the base `{job.image.base}`: {bare}")
    cache = WheelCache()
    missing = [each for each in requirements if cache.get(each) is None]
    if missing:
        show(f"downloading {len(missing)} {'wheel' if len(missing) == 1 else 'wheels'}")
        cache.download(missing, lines.options, _index_settings(job, lines), bare)
    return [(each, _wheel(cache.get(each), each, bare)) for each in requirements]


def _wheel(path: str | None, requirement: Requirement, image: BareImage) -> Wheel:
    if path is None:
        raise PublishFailed(3, f"pip did not download the wheel of `{requirement.shown}`")
    name = wheel_name(os.path.basename(path))
    if name is None or rank(name, image) is None:
        raise rejected(path, f"it is not for Python {image.minor} on {image.processor}; run `smspec lock --update`")
    return read_wheel(path, requirement.name)


def _index_settings(job: JobImage, lines: RequirementLines) -> IndexSettings:
    texts = (*lines.options, *(each.text for each in lines.requirements))
    try:
        secrets = secret_variables(job.authored.secrets, texts, job.base_dir)
    except ResolverFailed as fault:
        raise PublishFailed(3, f"cannot download the wheels of the lockfile: {fault}") from None
    settings = index_settings(job.image.build_variables, secrets, texts)
    return replace(settings, variables={**settings.variables, **_certificates(job)})


def _certificates(job: JobImage) -> dict[str, str]:
    """Return the files of secrets with which pip reaches an index. Raise PublishFailed."""
    found = {name: secret for name, secret in job.authored.secrets.items() if name in CERTIFICATES}
    try:
        return build_secrets(found, os.environ, job.base_dir)
    except RunFailed as fault:
        raise PublishFailed(fault.exit_status, str(fault)) from None


def _named(job: JobImage) -> list[str]:
    """Return the names of the variables that the lines may refer to."""
    return [*job.image.build_variables, *(name for name, kind in job.image.secrets.items() if kind == "env")]


def _version(requirement: Requirement) -> str:
    return re.sub(r"^\s*===?\s*", "", requirement.specifier).strip()


def _installed(requirement: Requirement, wheel: Wheel, python: BasePython) -> list[InstalledFile]:
    sha256 = next(iter(requirement.hashes), "")
    return installed_files(wheel, python, requirement.url.partition("#")[0], sha256)


def _without_duplicates(files: Iterable[InstalledFile], show: Show) -> dict[str, InstalledFile]:
    """Return the files by path. Of different ones, that of the first project by name, which pip installs last."""
    found: dict[str, InstalledFile] = {}
    for file in sorted(files, key=lambda each: (each.path.encode(), each.owner)):
        first = found.setdefault(file.path, file)
        if first is not file and first.digest != file.digest:
            show(f"`{file.path}` is in `{first.owner}` and in `{file.owner}`; the image has that of `{first.owner}`")
    return found


def _placed(job: JobImage, files: Mapping[str, InstalledFile], listing: BaseListing) -> dict[str, LayerFile]:
    """Return the files of a layer: where links of the base lead."""
    found: dict[str, LayerFile] = {}
    for path, file in files.items():
        try:
            directory = listing.resolved(posixpath.dirname(path))
        except ValueError:
            raise _conflict(job, file, path) from None
        place = f"{directory}/{posixpath.basename(path)}"
        if place in found or listing.is_directory(place):
            raise _conflict(job, file, place)
        found[place] = LayerFile(path=place, size=file.size, is_executable=file.is_executable, chunks=file.chunks)
    for place in found:
        for above in directories_above(place):
            there = listing.get(above)
            if above in found or (there is not None and there.kind == "file"):
                raise _conflict(job, files.get(place), above)
    return found


def _conflict(job: JobImage, file: InstalledFile | None, path: str) -> PublishFailed:
    owner = f"`{file.owner}`" if file else "a package"
    return PublishFailed(
        1, f"cannot install {owner} into `{job.image.base}`: `{path[:200]}` is a directory and a file at once"
    )

"""Why nothing fits a list of requirements: which of them is at fault, from what the indexes have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from smspec.lock.environments.concurrent_calls import THREADS, called
from smspec.lock.environments.index_listing import ListedFile, listed_files
from smspec.lock.environments.index_settings import IndexSettings
from smspec.lock.environments.resolution import Question, ResolverFailed
from smspec.lock.environments.versions import Version, fits
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import Requirement, joined_lines, normalized
from smspec.wire.connections import VARIABLES, Connections, trust_of_environment
from smspec.wire.fault import WireFault

# What uv prints first of a package without usable files.
_WITHOUT_WHEEL = re.compile(
    r"Because (?:all (?:of:|versions of)\s+)?([A-Za-z0-9][\w-]*(?:\.[\w-]+)*?)(?=[\s=<>~!{])(?:(?!Because).)*?"
    r" ha(?:s|ve)\s+no\s+(?:usable\s+)?wheels",
    re.DOTALL,
)

# What uv prints of a package that they would build.
_BUILT = re.compile(r"Building source distributions for `([^`]+)` is disabled")


class Fault(NamedTuple):
    """``with_``: the other requirement of a conflict. ``others``: versions that could be used, the nearest first.

    ``pythons``: those that the wanted version, or any of the dependency, has wheels for, on the platform of the image.
    ``dependency``: the package without a wheel, or to build, as the requirement depends on it. ``is_source_only``: the
    wanted version has no wheel at all. ``has_source``: it could be built.
    """

    kind: Literal["unknown package", "unknown version", "unaccepted file", "no wheel", "build", "conflict"]
    requirement: Requirement
    is_in_file: bool
    others: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    with_: Requirement | None = None
    with_is_in_file: bool = False
    dependency: str = ""
    is_source_only: bool = False
    has_source: bool = True


def diagnosed(question: Question, settings: IndexSettings, text: str) -> list[Fault]:
    """Return the requirements at fault, in order; none if that is not clear. ``text``: what the resolver printed.

    Raise `ResolverFailed` if an index does not answer.

    A requirement that applies only under a condition is not judged on its own.
    """
    written = [(each, False) for each in question.packages.requirements]
    written += [(each, True) for each in question.file.requirements]
    built = _built(written, question, text)
    if built is not None:
        return [built]
    judged = [(each, is_in_file) for each, is_in_file in written if each.name and not each.url and ";" not in each.text]
    connections = Connections(trust_of_environment(("PIP_CERT", *VARIABLES)), THREADS)

    listings = dict(called(lambda item: listed_files(item[0].name, settings, connections), judged))
    found = []
    for number, (requirement, is_in_file) in enumerate(judged):
        listing = listings[number]
        if not isinstance(listing, WireFault):
            fault = _fault(requirement, is_in_file, listing, question)
            found += [fault] if fault else []
    found = found or list(_conflict(judged, text))
    found = found or list(_through_dependency(judged, text, question, settings, connections))
    silent = next((listing for listing in listings.values() if isinstance(listing, WireFault)), None)
    if silent is not None and not found:
        raise ResolverFailed(f"a package index does not list its files: {settings.masked(str(silent))}")
    return found


def _built(written: Sequence[tuple[Requirement, bool]], question: Question, text: str) -> Fault | None:
    """Return the requirement that leads to a package that would be built, or the option that demands it."""
    match = _BUILT.search(text)
    if match is None:
        return None
    if match[1] == question.option_to_build:
        lines = joined_lines((question.content or b"").decode("utf-8-sig", "replace"))
        place = next(((number, column) for number, column, line in lines if "--no-binary" in line), (1, 1))
        return Fault("build", Requirement(name=match[1], specifier="", url="", text=match[1], place=place), True)
    exact = [item for item in written if match[1] == item[0].name or (not item[0].name and item[0].url in text)]
    named = exact or _mentioned(written, text)
    if not named:
        return None
    requirement, is_in_file = named[0]
    return Fault("build", requirement, is_in_file, dependency="" if exact else match[1])


def package_without_wheel(text: str) -> str:
    """Return the first package that uv found no usable file of, by what it printed; empty if it names none."""
    match = _WITHOUT_WHEEL.search(text)
    return normalized(match[1]) if match else ""


def _fault(
    requirement: Requirement, is_in_file: bool, listing: Sequence[ListedFile] | None, question: Question
) -> Fault | None:
    if listing is None:
        return Fault("unknown package", requirement, is_in_file)
    usable = [file for file in listing if question.allow_builds or file.fits(question.image)]
    matching = [file for file in listing if fits(file.version, requirement.specifier)]
    if not matching:
        near = _nearest(usable, requirement.specifier)
        return Fault("unknown version", requirement, is_in_file, others=near)
    if any(fits(file.version, requirement.specifier) for file in usable):
        return None
    newest = max(matching, key=lambda file: file.version.key).version
    wheels = [file for file in matching if file.version.key == newest.key]
    return Fault(
        "no wheel",
        requirement,
        is_in_file,
        others=_nearest(usable, requirement.specifier),
        pythons=tuple(_pythons(wheels, question.image)),
        is_source_only=not any(file.wheel for file in wheels),
        has_source=not all(file.wheel for file in wheels),
    )


def _nearest(files: Sequence[ListedFile], specifier: str) -> tuple[str, ...]:
    """Return versions next to the one that is wanted: the next newer one, then the next older one."""
    wanted = re.search(r"\d[^\s,;]*", specifier)
    versions = {file.version.key: file.version for file in files if not file.version.is_preview}
    ordered: list[Version] = [versions[key] for key in sorted(versions)]
    if wanted is None:
        return (ordered[-1].text,) if ordered else ()
    newer = [each for each in ordered if fits(each, f">{wanted[0].removesuffix('.*')}")]
    older = [each for each in ordered if each not in newer]
    return tuple(each.text for each in (*newer[:1], *older[-1:]))


def _pythons(files: Sequence[ListedFile], image: BareImage) -> Iterator[str]:
    for minor in range(8, 15):
        other = BareImage(python=(3, minor, 99), libc=image.libc, processor=image.processor)
        if any(file.fits(other) for file in files):
            yield other.minor


def _conflict(judged: Sequence[tuple[Requirement, bool]], text: str) -> Iterator[Fault]:
    """Yield the later one of the two requirements that a resolver mentions."""
    named = _mentioned(judged, text)
    if len(named) == 2:
        first, last = named
        yield Fault("conflict", last[0], last[1], with_=first[0], with_is_in_file=first[1])


def _through_dependency(
    judged: Sequence[tuple[Requirement, bool]],
    text: str,
    question: Question,
    settings: IndexSettings,
    connections: Connections,
) -> Iterator[Fault]:
    """Yield the only requirement that a resolver mentions, with the package that it found no wheel of."""
    named = _mentioned(judged, text)
    name = package_without_wheel(text)
    if len(named) == 1 and name and name != named[0][0].name and not question.allow_builds:
        try:
            files = listed_files(name, settings, connections) or ()
        except WireFault:
            files = ()
        yield Fault(
            "no wheel",
            named[0][0],
            named[0][1],
            dependency=name,
            pythons=tuple(_pythons(files, question.image)),
            has_source=not files or any(file.wheel is None for file in files),
        )


def _mentioned(judged: Sequence[tuple[Requirement, bool]], text: str) -> list[tuple[Requirement, bool]]:
    # uv writes a package with its versions, as in `numpy>=2` or `numpy{python_version < '3.10'}>=2`.
    words = {normalized(word) for word in re.findall(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", text)}
    return [item for item in judged if item[0].name in words]

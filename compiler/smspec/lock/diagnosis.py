"""What is wrong with a list of requirements: which of them is at fault where nothing fits, from what the indexes have.

And what is probably wrong with packages that fit: libraries and programs that their wheels need, measured with
``readelf``, and slim images lack. `manylinux` covers the C library, and not what a graphics library needs.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import one_of
from smspec.lock.compatibility import Version, fits
from smspec.lock.index_listing import ListedFile, called, index_connections, listed_files
from smspec.lock.index_settings import IndexSettings
from smspec.lock.resolution import Question
from smspec.lock.resolver_process import ResolverFailed, unusable_index
from smspec.plan import ImagePlan
from smspec.service.bare_image import BareImage
from smspec.service.facts import instance
from smspec.service.image_reference import parsed_reference
from smspec.service.requirement_lines import Requirement, joined_lines, normalized
from smspec.source import Path, Span
from smspec.source.frozen import replace
from smspec.wire.connections import Connections
from smspec.wire.fault import WireFault

# What uv prints first of a package without usable files.
_WITHOUT_WHEEL = re.compile(
    r"Because (?:all (?:of:|versions of)\s+)?([A-Za-z0-9][\w-]*(?:\.[\w-]+)*?)(?=[\s=<>~!{])(?:(?!Because).)*?"
    r" ha(?:s|ve)\s+no\s+(?:usable\s+)?wheels",
    re.DOTALL,
)

# What uv prints of a package that it would build.
_BUILT = re.compile(r"Building source distributions for `([^`]+)` is disabled")

UNKNOWN_PACKAGE = Rule("SM724", "package missing from the index")
UNKNOWN_VERSION = Rule("SM725", "version missing from the index")
NO_WHEEL = Rule("SM726", "package without a wheel")
CONFLICT = Rule("SM727", "conflicting requirements")
_FILE: Path = ("image", "python_requirements")
_LIST: Path = ("image", "python_packages")
_AT_START: Path = ("source", "dir")


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
    connections = index_connections()

    listings = dict(called(lambda item: listed_files(item[0].name, settings, connections), judged))
    found = []
    for number, (requirement, is_in_file) in enumerate(judged):
        listing = listings[number]
        if not isinstance(listing, WireFault):
            fault = _fault(requirement, is_in_file, listing, question)
            found += [fault] if fault else []
    found = found or list(conflict(judged, text))
    found = found or list(_through_dependency(judged, text, question, settings, connections))
    if not found:
        unusable_index(text, "uv")
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


def conflict(judged: Sequence[tuple[Requirement, bool]], text: str) -> Iterator[Fault]:
    """Yield the later one of the two requirements that a resolver mentions; of more, one that its conclusion names.

    Hints, which follow it, name other packages, and indexes.
    """
    reason = text.partition("hint: ")[0]
    named = _mentioned(judged, reason)
    if len(named) > 2:
        last = _mentioned(judged, reason.rpartition("because you require")[2])[:2]
        named = [*[each for each in named if each not in last][: 2 - len(last)], *last]
    if len(named) == 2:
        first, last_one = sorted(named, key=judged.index)
        yield Fault("conflict", last_one[0], last_one[1], with_=first[0], with_is_in_file=first[1])


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


def fault_findings(faults: Iterable[Fault], question: Question, file: str) -> list[Finding]:
    """Return a finding for each fault; ``file``: the path of the requirements file."""
    return [_finding(fault, question, file) for fault in faults]


def _finding(fault: Fault, question: Question, file: str) -> Finding:
    shown = f"`{fault.requirement.shown}`"
    path = _AT_START if question.is_at_start else _path(fault.requirement, fault.is_in_file)
    where = "requirements of `source`" if question.is_at_start else f"`{'.'.join(map(str, path[:2]))}`"
    if fault.kind == "unknown package":
        finding = UNKNOWN_PACKAGE.at(
            path,
            f"{where}: the package index has no package `{fault.requirement.name}`",
            help="check its name, or set `PIP_EXTRA_INDEX_URL` in `image.secrets` for a private index",
        )
    elif fault.kind == "unknown version":
        finding = UNKNOWN_VERSION.at(
            path, f"{where}: the package index has no version {shown}", help=_versions(fault, "check the version")
        )
    elif fault.kind == "unaccepted file":
        finding = UNKNOWN_VERSION.at(
            path,
            f"{where}: the package index has no file of {shown} that fits the image and has one of its hashes",
            help="compare the hashes with those of the index, and add the one of the file for the image",
        )
    elif fault.kind == "no wheel":
        image = question.image
        what = f" for Python {image.minor}"
        if fault.dependency:
            lacks = f"requires a version of `{fault.dependency}` that has no wheel"
        else:
            lacks = "has no wheel"
            if fault.is_source_only:
                what = ""
            elif image.minor in fault.pythons or not fault.pythons:
                libc = "musl" if image.libc[0] == "musllinux" else f"glibc 2.{image.libc[1]}"
                what += f" on {image.processor} with {libc}"
        otherwise = "run `smspec lock --allow-builds`, which runs the code of the package to build it"
        if not fault.has_source:
            otherwise = "use a base image that it has a wheel for"
            if fault.dependency and not fault.pythons:
                otherwise = f"remove `{fault.requirement.name}`, or use a version without `{fault.dependency}`"
            elif fault.dependency:
                otherwise = f"use a base image with a Python that `{fault.dependency}` has a wheel for"
        finding = NO_WHEEL.at(
            path,
            f"{where}: {shown} {lacks}{what}",
            help=otherwise if fault.is_source_only else _versions(fault, otherwise),
        )
        if fault.pythons:
            listed = ", ".join(fault.pythons)
            it = f"`{fault.dependency}`" if fault.dependency else "it"
            finding = replace(finding, notes=(Note(f"{it} has wheels for Python {listed}"),))
    elif fault.kind == "build":
        shown = shown if fault.requirement.name else f"`{fault.requirement.url[:60]}`"
        what = f"requires `{fault.dependency[:60]}`, which would be built" if fault.dependency else "would be built"
        is_option = fault.requirement.name.startswith("--")
        finding = NO_WHEEL.at(
            path,
            f"{where}: {shown} {'builds packages from sources' if is_option else f'{what} from its source'}",
            help="use wheels, or run `smspec lock --allow-builds`, which runs the code of the package to build it",
        )
    else:
        assert fault.with_ is not None
        other = fault.with_
        span = _span(other, file) if fault.with_is_in_file else None
        where_other = "" if span else " in `image.python_packages`"
        finding = CONFLICT.at(
            path,
            f"{where}: {shown} conflicts with `{other.shown}`",
            help="change one of the two, so that one version of each package fits both",
            notes=(Note(f"`{other.shown}` is required{where_other or ' here'}", span),),
        )
    return replace(finding, place=_span(fault.requirement, file)) if fault.is_in_file else finding


def _versions(fault: Fault, otherwise: str) -> str:
    if not fault.others:
        return otherwise
    return f"use {one_of(f'{fault.requirement.name}=={version}' for version in fault.others)}"


def _path(requirement: Requirement, is_in_file: bool) -> Path:
    return _FILE if is_in_file else (*_LIST, requirement.place[0])


def _span(requirement: Requirement, file: str) -> Span:
    line, column = requirement.place
    return Span(file, line, column, line, column + max(1, len(requirement.text)))


_GRAPHICS = (("libgl1", r"libgl1|libgl-|mesa"), ("libglib2.0-0", r"libglib2|libgtk|ffmpeg"))
_THREADS = (("libgomp1", r"libgomp|gcc|g\+\+|build-essential|gfortran|libopenblas"),)

_NEEDED: dict[str, tuple[tuple[str, str], ...]] = {
    "opencv-python": _GRAPHICS,
    "opencv-contrib-python": _GRAPHICS,
    "open3d": (*_GRAPHICS[:1], ("libx11-6", r"libx11|libgl"), *_THREADS),
    "lightgbm": _THREADS,
    "mpi4py": (("libopenmpi3", r"openmpi|mpich"),),
    "python-magic": (("libmagic1", r"libmagic|file"),),
    "pyzbar": (("libzbar0", r"zbar"),),
    "weasyprint": (("libpango-1.0-0", r"pango"),),
    "pytesseract": (("tesseract-ocr", r"tesseract"),),
    "graphviz": (("graphviz", r"graphviz"),),
}
"""Package → packages of apt, each with a pattern of those that include it."""


def library_hints(packages: Container[str], image: ImagePlan) -> Iterator[str]:
    """Yield a sentence for each package that probably lacks a library in an image without most of them."""
    if not _is_slim(image.base) or any(re.search(r"\bapt(?:-get)?\b", command) for command in image.commands):
        return
    for name, needed in _NEEDED.items():
        missing = [
            f"`{apt}`" for apt, pattern in needed if not any(re.search(pattern, word) for word in image.system_packages)
        ]
        if name in packages and missing:
            yield f"{name} probably needs {' and '.join(missing)} in `image.system_packages`"


def gpu_hints(packages: Iterable[str], sizes: Mapping[str, int], instance_type: str) -> Iterator[str]:
    """Yield a sentence about packages for GPUs on instances without any; ``sizes``: bytes, as far as they are known."""
    names = [name for name in packages if name.startswith("nvidia-")]
    facts = instance(instance_type) if names and instance_type else None
    if facts is None or facts.gpus != 0:
        return
    size = sum(sizes.get(name, 0) for name in names)
    shown = f" ({size / 1e9:.1f} GB)" if size >= 1e8 else ""
    yield (
        f"{len(names)} package{'' if len(names) == 1 else 's'} for NVIDIA GPUs{shown}, but `hosts.instance_type`"
        f" {instance_type} has none; https://download.pytorch.org/whl/cpu has PyTorch without them"
    )


def _is_slim(image: str) -> bool:
    reference = parsed_reference(image)
    if reference is None:
        return False
    name = reference.official_name
    return name in ("debian", "ubuntu") or (name == "python" and "slim" in (reference.tag or ""))

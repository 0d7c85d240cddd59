"""The findings about requirements that nothing fits, at their lines."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import one_of
from smspec.lock.environments.diagnosis import Fault
from smspec.lock.environments.resolution import Question
from smspec.service.requirement_lines import Requirement
from smspec.source import Path, Span
from smspec.source.frozen import replace

UNKNOWN_PACKAGE = Rule("SM724", "package missing from the index")
UNKNOWN_VERSION = Rule("SM725", "version missing from the index")
NO_WHEEL = Rule("SM726", "package without a wheel")
CONFLICT = Rule("SM727", "conflicting requirements")

_FILE: Path = ("image", "python_requirements")
_LIST: Path = ("image", "python_packages")
_AT_START: Path = ("source", "dir")


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

"""Import the modules that every run of a script imports, each in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from smspec.diagnostics import Finding, Note
from smspec.diagnostics.quoting import quoted
from smspec.proof.codes import CRASHED_IMPORT, LIBRARY_OF_THIS_MACHINE, SLOW_IMPORT
from smspec.proof.failures import Circumstances, import_failure, unproven
from smspec.proof.observation import Observation, observe_import
from smspec.proof.reachable import OwnModule
from smspec.proof.sandbox import Sandbox
from smspec.proof.shared_libraries import lacking, package_of
from smspec.proof.start import Start
from smspec.rules.program.program_and_image import file_name, here
from smspec.script.reach import ForeignImport
from smspec.source import Span
from smspec.source.frozen import dataclass, field

_CIRCULAR = "partially initialized module"
"""In another order, a module of a cycle can be imported: the script's own order was not reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """A module to import, and the line that imports it; None for a module of the source, whose file is ``file``."""

    name: str
    place: Span | None
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result: modules that can be imported, shared libraries in use, and what is wrong with the others."""

    names: frozenset[str] = frozenset()
    libraries: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default_factory=tuple)


def wanted_imports(foreign: Iterable[ForeignImport], own: Iterable[OwnModule]) -> list[Import]:
    """Return what every run imports: packages first, whose failure explains that of a module which uses them."""
    packages = [Import(name=used.name, place=used.place, file=file_name(used.place)) for used in foreign]
    certain = (each for each in own if each.is_certain and each.name)
    return [*packages, *(Import(name=each.name, place=None, file=os.path.basename(each.path)) for each in certain)]


def import_all(
    wanted: Iterable[Import],
    start: Start,
    sandbox: Sandbox,
    circumstances: Circumstances,
    show: Callable[[str], None],
) -> Imported:
    """Import modules one after the other."""
    names: set[str] = set()
    libraries: set[str] = set()
    findings: dict[tuple[str, ...], Finding] = {}
    for each in wanted:
        show(f"importing `{each.name}`")
        seen = observe_import(start, sandbox, each.name)
        if seen.kind == "imported":
            names.add(each.name)
            libraries.update(seen.libraries)
            continue
        if seen.raised is not None and (each.place is None and _CIRCULAR in seen.raised.message):
            continue
        finding = _finding(each, seen, circumstances, sandbox.seconds)
        # A failing package fails again in each module that imports it.
        cause = (seen.raised.kind, seen.raised.message) if seen.raised is not None else (each.name,)
        findings.setdefault(cause, finding)
    return Imported(names=frozenset(names), libraries=tuple(libraries), findings=tuple(findings.values()))


def library_findings(libraries: Iterable[str], circumstances: Circumstances, own: Iterable[str]) -> list[Finding]:
    """Return which shared libraries the packages took from this machine, and the image lacks."""
    return [
        LIBRARY_OF_THIS_MACHINE.at(
            circumstances.path,
            f"`{circumstances.script}` loads `{library}` of this machine, which the image might lack",
            help=f"add `{package_of(library)}` to `image.system_packages`",
        )
        for library in lacking(libraries, circumstances.image, own)
    ]


def _finding(each: Import, seen: Observation, circumstances: Circumstances, seconds: float) -> Finding:
    if seen.raised is not None:
        return import_failure(seen.raised, each.name, each.place, circumstances)
    used = () if each.place is None else here("the module is imported here", each.place)
    what = f"`{each.file}`" if each.place is None else f"`{each.file}` imports {quoted(each.name)}, which"
    if seen.kind == "late":
        return SLOW_IMPORT.at(
            circumstances.path,
            f"{what} takes more than {seconds:g} s to import",
            help="check what the module does when it is imported, or pass a longer `--timeout`",
            notes=used,
        )
    if seen.kind == "killed":
        return CRASHED_IMPORT.at(
            circumstances.path,
            f"{what} ends Python with {seen.signal_name} when it is imported",
            help="fix the module" if each.place is None else "change the version of the package",
            notes=used,
        )
    last = seen.ended.last_line[:100]
    notes = (*used, *((Note(f"its last line: {last}"),) if last else ()))
    return unproven(circumstances.path, f"{what} ends the process when it is imported", *notes)

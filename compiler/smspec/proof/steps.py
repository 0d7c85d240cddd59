"""The steps of a proof: compile what a script can import, import what every run imports, run it up to its parser.

Each is done by the Python of the image, in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from smspec.diagnostics import Finding, Note
from smspec.diagnostics.quoting import quoted
from smspec.local.python.interpreter import without_foreign_packages
from smspec.pipeline.script_source import ProgramSource
from smspec.proof import (
    CRASHED_IMPORT,
    LIBRARY_OF_THIS_MACHINE,
    SLOW_IMPORT,
    UNCOMPILED,
    UNCOMPILED_OPTIONAL,
)
from smspec.proof.changes import changes_before
from smspec.proof.driver import compiling
from smspec.proof.failures import CIRCULAR, Circumstances, import_failure, script_failure, unproven
from smspec.proof.observation import Observation, observe_import
from smspec.proof.rejections import LONGEST_LINE, message_line, rejection
from smspec.proof.sandbox import Sandbox
from smspec.proof.shared_libraries import lacking, package_of
from smspec.proof.start import Start
from smspec.rules.program.program_and_image import file_name, here
from smspec.script.program import Program, UnreadScript
from smspec.script.reach import ForeignImport, ForeignMember, Reach
from smspec.script.script_files import names_imported, own_package
from smspec.source import Path, SourceText, Span
from smspec.source.frozen import dataclass, field
from smspec.spec.model import JobSpec

MOST_MODULES = 500

_LONGEST_REASON = 60
_MOST_MEMBERS = 5
_NO_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)'")

_WORDS = re.compile(
    r"\b(?:argparse|ArgumentParser|HfArgumentParser|optparse|getopt|click|typer|absl|jsonargparse|hydra|fire|tyro)\b"
)
_OTHERS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(hydra|fire|tyro|omegaconf|simple_parsing|docopt)\b", re.MULTILINE)

_PARSES = {
    "hydra": re.compile(r"\bhydra\.main\b|^[ \t]*from[ \t]+hydra[ \t]+import\b.*\bmain\b", re.MULTILINE),
    "fire": re.compile(r"\bFire\s*\("),
    "tyro": re.compile(r"\btyro\.cli\s*\(|^[ \t]*from[ \t]+tyro[ \t]+import\b.*\bcli\b", re.MULTILINE),
}

_CALLS_MORE = re.compile(r"\btyro\.extras\b|\bconstructor\s*=")
"""By these, tyro calls functions that the driver cannot know to be the program."""

_FROM_CLI = re.compile(r"\bfrom_cli\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnModule:
    """A file of the source, by its path there. ``name``: its full name, empty for the script itself.

    ``is_certain``: every run imports it. ``written``: its path as the author would type it.
    """

    path: str
    name: str
    written: str
    is_certain: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """A module to import, and the line that imports it; None for a module of the source, whose file is ``file``.

    ``is_early``: the script imports it before it could create modules, or change where they are found.
    """

    name: str
    place: Span | None
    file: str
    is_early: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The result: modules that can be imported, shared libraries in use, and what is wrong with the others."""

    names: frozenset[str] = frozenset()
    libraries: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class UncompiledModule:
    """What the interpreter reports for a module."""

    module: OwnModule
    reason: str
    place: Span


def reachable_modules(reach: Reach, files: Mapping[str, str], directory: str, *, is_handler: bool) -> list[OwnModule]:
    """Return the script and what it can import, the script first, in the order of the imports.

    ``files``: the path of each on this machine, by its path in the source. ``directory``: that of the source, as the
    author names it. Raise OSError.
    """
    source = ProgramSource(dict(files), directory, reach.places, searches=False)
    paths = {source.name_of(path): path for path in files}
    certain = [paths[text.name] for text in reach.texts if text.name in paths]
    found: dict[str, OwnModule] = {}
    rest = [(path, None if is_handler or number else "") for number, path in enumerate(certain)]
    while rest and len(found) < MOST_MODULES:
        path, known = rest.pop(0)
        if path in found:
            continue
        name = _name(path, reach.places) if known is None else known
        found[path] = OwnModule(path=path, name=name, written=source.name_of(path), is_certain=path in certain)
        text = source.text(path)
        if text is None:
            continue
        for imported in dict.fromkeys(names_imported(text.text, own_package(name, path))):
            file = source.file_of(imported, reach.places)
            if file is not None and file not in found:
                rest.append((file, imported))
    return list(found.values())


def _name(path: str, places: tuple[str, ...]) -> str:
    """Return the full name of a module, from the longest directory that Python searches."""
    above = max((place for place in places if path.startswith(os.path.join(place, ""))), key=len, default="")
    return os.path.relpath(path, above or ".").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def wanted_imports(foreign: Iterable[ForeignImport], own: Iterable[OwnModule]) -> list[Import]:
    """Return what every run imports: packages first, whose failure explains that of a module which uses them."""
    packages = [
        Import(name=used.name, place=used.place, file=file_name(used.place), is_early=used.is_early) for used in foreign
    ]
    certain = (each for each in own if each.is_certain and each.name)
    return [*packages, *(Import(name=each.name, place=None, file=os.path.basename(each.path)) for each in certain)]


def import_all(
    wanted: Iterable[Import],
    order: Sequence[str],
    start: Start,
    sandbox: Sandbox,
    circumstances: Circumstances,
    show: Callable[[str], None],
    texts: Sequence[SourceText],
) -> ImportResult:
    """Import modules one after the other. ``order``: those of the source, as the script imports them.

    ``texts``: the script, then the modules that it can import.
    """
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
        if seen.raised is not None and each.place is None and CIRCULAR in seen.raised.message:
            # In another order, a module of a cycle can be imported: the script imports them in this one.
            seen = observe_import(start, sandbox, each.name, before=order[: order.index(each.name)])
            if seen.raised is None or CIRCULAR not in seen.raised.message:
                continue
        is_changed = not each.is_early or changes_before(each.name, each.place, texts).may_cure(seen.raised, each.name)
        finding = _finding(each, seen, circumstances, sandbox.seconds, is_changed=is_changed)
        # A failing package fails again in each module that imports it.
        cause = (seen.raised.kind, seen.raised.message) if seen.raised is not None else (each.name,)
        findings.setdefault(cause, finding)
    return ImportResult(names=frozenset(names), libraries=tuple(libraries), findings=tuple(findings.values()))


def member_findings(
    members: Iterable[ForeignMember],
    start: Start,
    sandbox: Sandbox,
    circumstances: Circumstances,
    texts: Sequence[SourceText],
) -> list[Finding]:
    """Return which names modules lack that can be imported: one process takes them all, until one is missing."""
    rest = [*members]
    findings: list[Finding] = []
    while rest and len(findings) < _MOST_MEMBERS:
        seen = observe_import(start, sandbox, "sys", members=[(each.module, each.name) for each in rest])
        missing = None if seen.raised is None else _NO_NAME.match(seen.raised.message)
        if missing is None or seen.raised is None:
            break
        number = next((n for n, each in enumerate(rest) if (each.name, each.module) == missing.groups()), None)
        if number is None:
            break
        module, place = rest[number].module, rest[number].place
        is_changed = changes_before(module, place, texts).may_cure(seen.raised, module)
        findings.append(import_failure(seen.raised, module, place, circumstances, is_changed=is_changed))
        rest = rest[number + 1 :]
    return findings


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


def _finding(
    each: Import, seen: Observation, circumstances: Circumstances, seconds: float, *, is_changed: bool
) -> Finding:
    if seen.raised is not None:
        return import_failure(seen.raised, each.name, each.place, circumstances, is_changed=is_changed)
    used = () if each.place is None else here("the module is imported here", each.place)
    what = f"`{each.file}`" if each.place is None else f"`{each.file}` imports {quoted(each.name)}, which"
    if seen.kind == "late":
        return SLOW_IMPORT.at(
            circumstances.path,
            f"{what} takes more than {seconds:g} s to import",
            help="check what the module does when it is imported, or pass a longer `--timeout`",
            notes=used,
        )
    if seen.kind == "killed" and not is_changed:
        return CRASHED_IMPORT.at(
            circumstances.path,
            f"{what} ends Python with {seen.signal_name} when it is imported",
            help="fix the module" if each.place is None else "change the version of the package",
            notes=used,
        )
    last = seen.ended.last_line[:100]
    notes = (*used, *((Note(f"its last line: {last}"),) if last else ()))
    return unproven(circumstances.path, f"{what} ends the process when it is imported", *notes)


def compile_modules(
    python: str, modules: Iterable[OwnModule], code: str, sandbox: Sandbox
) -> list[UncompiledModule] | None:
    """Return the errors of the modules in a copy of the source, ``code``; None if the interpreter did not finish."""
    by_file = {os.path.join(code, module.path): module for module in modules}
    files, result = sandbox.path("modules.json"), sandbox.path("errors.json")
    with open(files, "w", encoding="utf-8") as file:
        json.dump(list(by_file), file)
    words = [python, "-I", "-S", compiling.__file__, files, result]
    sandbox.run(words, without_foreign_packages(os.environ), sandbox.directory, recorded=True)
    found = sandbox.result(result)
    if found is None:
        return None
    errors = found["errors"]
    return [
        UncompiledModule(module=module, reason=_reason(errors[path][0]), place=_place(module, errors[path]))
        for path, module in by_file.items()
        if path in errors
    ]


def syntax_findings(faults: Iterable[UncompiledModule], path: Path) -> Iterator[Finding]:
    """Yield the errors; a module that not every run imports is a risk."""
    for fault in faults:
        rule = UNCOMPILED if fault.module.is_certain else UNCOMPILED_OPTIONAL
        condition = "" if fault.module.is_certain else ", if the script imports it"
        yield rule.at(
            path,
            f"`{file_name(fault.place)}` line {fault.place.line}: {fault.reason}",
            help="fix the line, or use a base image with a newer Python",
            notes=here(f"Python rejects the module here{condition}", fault.place),
        )


def _reason(message: str) -> str:
    reason = message.partition(". Did you mean")[0].partition(". Perhaps")[0].partition(" (<")[0].rstrip(".?!")
    return reason[:_LONGEST_REASON] or "invalid syntax"


def _place(module: OwnModule, error: list[object]) -> Span:
    line, column = (max(value, 1) if isinstance(value, int) else 1 for value in error[1:3])
    return Span(module.written, line, column, line, column + 1)


def parser_count(program: Program | UnreadScript | None, texts: Sequence[SourceText]) -> int:
    """Return how many parsers read the command line; 0 if there is none that a script can be stopped after.

    ``texts``: the script, then the modules that it can import. Without a parser it would run to its end.
    """
    if foreign_parser(texts):
        return 0
    if isinstance(program, Program) and not program.command_lines and program.stop is None:
        texts = texts[:1]  # other modules may have parsers for themselves
    if not any(_WORDS.search(text.text) for text in texts):
        return 0
    return max(1, len(program.command_lines)) if isinstance(program, Program) else 1


def foreign_parser(texts: Iterable[SourceText]) -> str:
    """Return the library of a parser that a script cannot be stopped after; empty if there is none."""
    contents = [text.text for text in texts]
    used = dict.fromkeys(match[1] for text in contents for match in _OTHERS.finditer(text))
    return next((library for library in used if not _is_harmless(library, contents)), "")


def _is_harmless(library: str, texts: Iterable[str]) -> bool:
    """Return whether the driver stops the parser of a library, or the script uses none of it."""
    if library == "omegaconf":
        return not any(map(_FROM_CLI.search, texts))
    if library == "tyro" and any(map(_CALLS_MORE.search, texts)):
        return False
    return library in _PARSES and any(map(_PARSES[library].search, texts))


def argument_findings(
    seen: Observation, job: JobSpec, here: Circumstances, seconds: float, argv: Sequence[str]
) -> list[Finding]:
    """Return what is wrong with the arguments, or why that is unknown."""
    if seen.kind == "parsed" and seen.is_open:
        reason = "another parser may read what the first one leaves"
        return [unproven(here.path, f"only a part of the arguments of `{here.script}` was checked: {reason}")]
    if seen.kind == "parsed":
        return []
    if seen.kind == "caught":
        reason = "it goes on after its parser rejects them"
        notes = (Note(message_line(seen.message, here)),) if seen.message else ()
        return [unproven(here.path, f"the arguments of `{here.script}` were not checked: {reason}", *notes)]
    if seen.kind == "rejected":
        return [rejection(seen.message or seen.ended.last_line, job, here, argv)]
    if seen.raised is not None:
        return [script_failure(seen.raised, here)]
    if seen.kind == "late":
        reason = f"it did not reach its parser in {seconds:g} s"
    elif seen.kind == "killed":
        reason = f"{seen.signal_name} ended it before its parser"
    else:
        reason = "it ended before its parser"
    return [unproven(here.path, f"the arguments of `{here.script}` were not checked: {reason}", *_last(seen, here))]


def _last(seen: Observation, here: Circumstances) -> tuple[Note, ...]:
    line = here.shown(seen.ended.last_line)[:LONGEST_LINE]
    return (Note(f"its last line: {line}"),) if line and seen.kind != "late" else ()

"""Gather everything that a compilation needs from the disk: the merged spec and the files that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Rule
from smspec.diagnostics.suggestions import nearest
from smspec.organization.lock_file import name_in_lock
from smspec.pipeline.image_python import image_python
from smspec.pipeline.input_cache import LARGEST_REQUIREMENTS, InputCache
from smspec.pipeline.runtime_files import runtime_listing
from smspec.pipeline.script_reading import ReadScript, started_program, without_source
from smspec.pipeline.source_findings import HIDES_FILES, SOURCE, source_findings
from smspec.pipeline.source_texts import compares_source
from smspec.pipeline.spec_files import SpecFiles, read_spec_files
from smspec.plan.build_inputs import BuildInputs, StartupPackages
from smspec.render import templates_digest
from smspec.script.foreign_script import ForeignScript
from smspec.script.program import Program
from smspec.script.reach.reached import Reach
from smspec.script.unread_script import UnreadScript
from smspec.service.policy import Level, Policy
from smspec.service.prices import PriceBook
from smspec.source import Document, Path, Scalar, Sequence, SourceText
from smspec.source import Mapping as Entries
from smspec.source.data_extent import DataExtent
from smspec.source.frozen import dataclass, field, replace
from smspec.source.listing import Listing
from smspec.spec.layers.assembly import Assembly, Merged, MissingBases
from smspec.workspace.boundary import OUTSIDE, Boundary, FileNotRead, outside
from smspec.workspace.path_targets import not_found
from smspec.workspace.source_listing import unreadable

NO_SOURCE_DIRECTORY = Rule("SM143", "source directory not found")
NO_REQUIREMENTS_FILE = Rule("SM144", "requirements file missing or too large")
_HIDE_FILES = HIDES_FILES | {NO_SOURCE_DIRECTORY.code, OUTSIDE.code}

if TYPE_CHECKING:
    from smspec.rules.organization_rules.organization_rule import OrganizationRule

REQUIREMENTS = ("image", "python_requirements")
_AT_STARTUP = "requirements.txt"
"""The file of the source that the runtime installs when a job starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of a compilation. ``directory`` contains the spec; paths in the spec are relative to it.

    ``faults`` are those of its layers: if there are any, ``document`` is the part of the spec without them.
    ``findings`` are about missing files that the spec names; ``build_inputs`` are without them. ``policy`` is the
    policy for the job, ``levels`` the severities that the organization sets,
    ``organization_rules`` those that it wrote. ``program`` is what the text of the entry
    point shows, or why it is unknown; ``reach`` are the modules that it imports. ``source_texts``: the text files of
    the source, None if they are unknown or not compared with the job. ``source_is_known`` False: the source directory
    could not be listed, so missing files are not reported. ``local_data``: channel → the extent of its local data, if
    known. ``variants``: how many variants of the spec are checked. ``region_of_caller``: the region in ``document``,
    if the caller decided it because the spec leaves it open.
    """

    document: Document
    directory: str
    overlay: str | None
    build_inputs: BuildInputs
    policy: Policy | None = None
    levels: Mapping[str, Level] = field(default_factory=dict)
    organization_rules: tuple[OrganizationRule, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    findings: tuple[Finding, ...] = ()
    program: Program | UnreadScript | None = None
    reach: Reach | ForeignScript | None = None
    source_texts: tuple[SourceText, ...] | None = None
    source_is_known: bool = True
    local_data: Mapping[str, DataExtent] = field(default_factory=dict)
    variants: int = 1
    region_of_caller: str | None = None

    @property
    def prices(self) -> PriceBook:
        """The instance prices of the organization."""
        return PriceBook() if self.policy is None else self.policy.prices

    @property
    def script_texts(self) -> tuple[SourceText, ...]:
        """The modules of the script, as far as they are known."""
        texts = [*(self.program.texts if isinstance(self.program, Program) else ())]
        texts += self.reach.texts if isinstance(self.reach, Reach) else ()
        return tuple(dict.fromkeys(texts))

    @property
    def requirements_file(self) -> str | None:
        """The path of the requirements file in the spec."""
        return _requirements_file(self.document, self.directory)


def gather(
    path: str,
    overlay: str | None = None,
    settings: Mapping[str, str] | None = None,
    cache: InputCache | None = None,
    *,
    region_of_caller: str | None = None,
) -> Inputs:
    """Read the spec at ``path``, its bases, and the files it names; apply the overlay and the settings.

    Files in the ``cache`` are not read again. ``region_of_caller``: becomes the region of the job, which the rules and
    the policy check, as if the spec had set it; only for a spec without one. Raise `InvalidInput` if a text cannot be
    parsed, `OptionError` for an overlay or a setting that does not exist, OSError if the disk fails.
    """
    cache = cache or InputCache()
    found = assembly(read_spec_files(path, cache), cache).merged(overlay, settings)
    if region_of_caller is None:
        return _inputs(found, overlay, cache)
    found = replace(found, document=_in_region(found.document, region_of_caller))
    return replace(_inputs(found, overlay, cache), region_of_caller=region_of_caller)


def _in_region(document: Document, region: str) -> Document:
    """Return a spec with a region, whose diagnostics point at the name of the job: no line contains the region."""
    root = document.root
    assert isinstance(root, Entries)
    name = root.get("name")
    span = root.span if name is None else name.span
    entries = tuple(entry for entry in root.entries if entry[0].text != "region")
    added = (Scalar("region", "region", True, span), Scalar(region, region, False, span))
    return replace(document, root=replace(root, entries=(*entries, added)))


def gather_all(
    path: str, settings: Mapping[str, str] | None = None, cache: InputCache | None = None
) -> Iterator[tuple[str | None, Inputs | InvalidInput]]:
    """Gather the spec at ``path``, then the spec with each of its overlays; everything is read once.

    A variant that cannot be gathered is yielded as the `InvalidInput` that explains why, so the others are still
    checked. Raise as `gather` does if there is nothing to merge.
    """
    cache = cache or InputCache()
    layers = assembly(read_spec_files(path, cache), cache)
    for overlay in (None, *layers.overlays):
        try:
            inputs = _inputs(layers.merged(overlay, settings), overlay, cache)
            # The cost of the spec on its own counts: with many overlays it is checked even if they cannot all be.
            yield overlay, inputs if overlay is None else replace(inputs, variants=len(layers.overlays))
        except InvalidInput as rejected:
            yield overlay, rejected


def assembly(files: SpecFiles, cache: InputCache) -> Assembly:
    """Return the layers of a job, for its files, which ``cache`` has read.

    Raise `InvalidInput` for invalid defaults of the organization.
    """
    if files.faults:
        return Assembly(files.documents, MissingBases(files.faults, files.texts))
    bases = files.documents[:-1]
    defaults = cache.defaults(os.path.dirname(files.documents[-1].texts[0].name))
    if defaults is None:
        return Assembly(files.documents, bases=cache.fold(bases))
    lists = (("hosts", "groups"), ("hosts", "any_of"))
    if any(isinstance(document.node(path), Sequence) for document in files.documents for path in lists):
        # Imported late: few specs have groups or alternatives.
        from smspec.organization.default_layer import defaults_for_several_types

        defaults = defaults_for_several_types(defaults)
    return Assembly(files.documents, bases=cache.fold((defaults, *bases)), defaults=defaults)


def gather_to_compare(
    merged: Merged, overlay: str | None, cache: InputCache, levels: Mapping[str, Level] | None = None
) -> Inputs:
    """Gather what a merged spec names, as far as a comparison needs it: its result, not its quality.

    So the script is not read, and only the severities below error of a policy count: a job that violates it can be
    compared. ``levels``: those of a different revision, by default of the spec's directory. A fault of the policy is
    not one of the spec.
    """
    inputs = _with_build_inputs(merged, overlay, cache)
    levels = cache.levels(inputs.directory) if levels is None else levels
    return replace(inputs, levels={code: level for code, level in levels.items() if level != "error"})


def _inputs(merged: Merged, overlay: str | None, cache: InputCache) -> Inputs:
    inputs = _with_build_inputs(merged, overlay, cache)
    policy = cache.policy(inputs.directory)
    script = _script(merged.document, inputs.directory, inputs.build_inputs, cache)
    return replace(
        inputs,
        policy=policy,
        levels={} if policy is None else policy.levels,
        organization_rules=cache.organization_rules(inputs.directory),
        program=script.program,
        reach=script.reach,
        source_texts=_source_texts(merged.document, inputs, cache),
        local_data=_local_data(merged.document, inputs.directory, cache),
    )


def _with_build_inputs(merged: Merged, overlay: str | None, cache: InputCache) -> Inputs:
    document = merged.document
    directory = os.path.dirname(document.texts[0].name)
    findings: list[Finding] = []
    source = _source(document, directory, findings, cache)
    lock_path, lock = cache.lock(directory) or ("", None)
    requirements = _requirements_file(document, directory)
    build_inputs = BuildInputs(
        source=source,
        runtime=runtime_listing(),
        templates=templates_digest(),
        requirements=_requirements(document, requirements, findings, cache, cache.boundary(directory)),
        requirements_name=name_in_lock(requirements, lock_path) if lock and requirements else "",
        lock=lock,
        startup=_startup(source, cache, cache.boundary(directory)),
    )
    if lock is not None and lock.environments and not merged.faults:
        # Imported late: few repositories have locked environments.
        from smspec.pipeline.needed_environment import with_environments

        build_inputs = with_environments(document, build_inputs, lock_path, cache.boundary(directory), cache)
    return Inputs(
        document=document,
        directory=directory,
        overlay=overlay,
        build_inputs=build_inputs,
        faults=merged.faults,
        findings=tuple(findings),
        source_is_known=not any(f.path == SOURCE and f.code in _HIDE_FILES for f in findings),
    )


def _script(document: Document, directory: str, inputs: BuildInputs, cache: InputCache) -> ReadScript:
    source = inputs.source
    started, written = started_program(document), _text(document, SOURCE)
    if isinstance(started, UnreadScript) and written is not None and started.path == ("entry_point", "script"):
        from smspec.pipeline.foreign_script_reading import read_foreign_script  # imported late: most scripts are Python

        return ReadScript(
            program=started, reach=read_foreign_script(document, source, os.path.join(directory, written))
        )
    if started is None or isinstance(started, UnreadScript):
        return ReadScript(program=started)
    if written is None:
        return ReadScript(program=without_source(started))
    if not source.files:
        return ReadScript()
    ignore = _texts(document, ("source", "ignore"))
    python = image_python(document, inputs.lock)
    return cache.program(started, source, os.path.join(directory, written), python, ignore)


def _source_texts(document: Document, inputs: Inputs, cache: InputCache) -> tuple[SourceText, ...] | None:
    written, source = _text(document, SOURCE), inputs.build_inputs.source
    if written is None or not source.files or not compares_source(document):
        return None
    return cache.source_texts(source, os.path.join(inputs.directory, written))


def _local_data(document: Document, directory: str, cache: InputCache) -> dict[str, DataExtent]:
    channels = document.node(("channels",))
    found = {}
    for key, channel in channels.entries if isinstance(channels, Entries) else ():
        local = channel.get("local") if isinstance(channel, Entries) else None
        if isinstance(local, Scalar) and isinstance(local.value, str) and local.value:
            extent = cache.local_data(os.path.join(directory, local.value), directory)
            if extent is not None:
                found[key.text] = extent
    return found


def _source(document: Document, directory: str, findings: list[Finding], cache: InputCache) -> Listing:
    written = _text(document, SOURCE)
    if written is None:
        return Listing()
    path = os.path.join(directory, written)
    boundary = cache.boundary(directory)
    try:
        is_there = boundary.is_directory(path)
    except OSError as fault:
        findings.extend(source_findings(unreadable(fault, path), written))
        return Listing()
    if not is_there:
        is_inside = boundary.contains(path)
        findings.append(
            _missing(NO_SOURCE_DIRECTORY, SOURCE, "directory", written, path)
            if is_inside
            else outside(SOURCE, written, path, boundary)
        )
        return Listing()
    scanned = cache.source(path, _texts(document, ("source", "ignore")))
    findings.extend(source_findings(scanned, written))
    return scanned.listing


def _requirements_file(document: Document, directory: str) -> str | None:
    written = _text(document, REQUIREMENTS)
    return None if written is None else os.path.join(directory, written)


def _requirements(
    document: Document, path: str | None, findings: list[Finding], cache: InputCache, boundary: Boundary
) -> bytes | None:
    if path is None:
        return None
    written = _text(document, REQUIREMENTS) or ""
    if not boundary.contains(path):
        findings.append(outside(REQUIREMENTS, written, path, boundary))
        return None
    if not boundary.is_file(path):
        findings.append(_missing(NO_REQUIREMENTS_FILE, REQUIREMENTS, "file", written, path))
        return None
    try:
        content = cache.requirements(path, boundary)
    except FileNotRead:  # it was replaced after the first check
        findings.append(outside(REQUIREMENTS, written, path, boundary))
        return None
    if len(content) > LARGEST_REQUIREMENTS:
        most = f"{LARGEST_REQUIREMENTS >> 20} MiB"
        help = "use a file with one requirement per line"
        findings.append(NO_REQUIREMENTS_FILE.at(REQUIREMENTS, f"`{written}` is larger than {most}", help=help))
        return None
    return _converted(written, content, findings) if written.endswith(".toml") else content


def _converted(written: str, content: bytes, findings: list[Finding]) -> bytes | None:
    """Return the packages of a ``pylock.toml`` as a requirements file, and any other file as it is."""
    # Imported late: few jobs have such a file.
    from smspec.rules.requirements import unreadable_lock
    from smspec.service.pylock import NotConvertible, is_pylock, requirements_of

    if not is_pylock(os.path.basename(written)):
        return content
    try:
        return requirements_of(content)
    except NotConvertible as reason:
        findings.append(unreadable_lock(written, str(reason)))
        return None


def _startup(source: Listing, cache: InputCache, boundary: Boundary) -> StartupPackages | None:
    """Return the list of packages in a source; None without one, or if it cannot be read or is too large."""
    files = {file.path: file for file in source.files if file.size <= LARGEST_REQUIREMENTS}
    if _AT_STARTUP not in files:
        return None
    # Imported late: few sources have one.
    from smspec.service.requirement_lines import paths_named

    found: dict[str, bytes] = {}
    ahead = [_AT_STARTUP]
    while ahead:
        path = ahead.pop()
        if path in found or path not in files:
            continue
        try:
            found[path] = cache.requirements(files[path].origin, boundary)
        except (FileNotRead, OSError):
            continue
        ahead += paths_named(path, found[path], files)
    content = found.pop(_AT_STARTUP, None)
    return None if content is None else StartupPackages(content=content, included=tuple(sorted(found.items())))


def _missing(rule: Rule, at: Path, what: str, written: str, path: str) -> Finding:
    parent, name = os.path.split(os.path.normpath(path))
    try:
        near = nearest(name, sorted(set(os.listdir(parent or ".")) - {name}))
    except (OSError, ValueError):
        near = None
    return rule.at(
        at,
        not_found(path, written, what),
        help="fix the path; it is relative to the directory of this file",
        label=f"did you mean `{os.path.join(os.path.dirname(written.rstrip('/')), near)}`?" if near else "",
    )


# The shape of the document is not checked yet: an invalid value is reported there, and skipped here.
def _text(document: Document, path: tuple[str, str]) -> str | None:
    node = document.node(path)
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) and node.value else None


def _texts(document: Document, path: tuple[str, str]) -> tuple[str, ...]:
    node = document.node(path)
    items = node.items if isinstance(node, Sequence) else ()
    return tuple(item.value for item in items if isinstance(item, Scalar) and isinstance(item.value, str))

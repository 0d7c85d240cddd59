"""Gather all that a compilation needs from the disk: the spec with its base specs, and the files that it names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, Rule, placed
from smspec.diagnostics.quoting import quoted
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.named_files import SOURCE, hides_files, read_build_inputs, requirements_file
from smspec.pipeline.script_reading import ReadScript, image_python, started_program, without_source
from smspec.pipeline.script_source import compares_source
from smspec.plan import BuildInputs
from smspec.render import templates_digest
from smspec.script.program import ForeignScript, Program, UnreadScript
from smspec.script.reach import Reach
from smspec.service.job_costs import PriceBook
from smspec.service.policy import KnownFacts, Level, Policy
from smspec.source import DataExtent, Document, ListedFile, Listing, Path, Scalar, Sequence, SourceText, Span
from smspec.source import Mapping as Entries
from smspec.source.frozen import dataclass, field, replace
from smspec.spec.layers import Assembly, Merged, MissingBases, extends_of, merged
from smspec.spec.yaml import read
from smspec.workspace.boundary import Boundary, FileNotRead, NotASpec, not_a_spec, outside
from smspec.workspace.path_targets import not_found
from smspec.workspace.source_listing import runtime_files

if TYPE_CHECKING:
    from smspec.rules.organization_rules.condition import OrganizationRule


BASE_NOT_FOUND = Rule("SM140", "base spec not found")

BASE_IN_A_CIRCLE = Rule("SM141", "circular extends")

TOO_MANY_BASES = Rule("SM142", "too many base specs")

UNREAD_BASE = Rule("SM147", "job without a base spec", "note")

MOST_BASES = 16

_MOST_FAULTS = 200
"""After this many, do not search for more base specs: a hostile file could name tens of thousands of missing ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFiles:
    """``documents``: base specs first, the job's own file last. With ``faults`` some base specs are missing.

    ``texts`` are all that were read, also those of files that are not YAML.
    """

    documents: tuple[Document, ...]
    faults: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]


def read_spec_files(path: str, cache: InputCache) -> SpecFiles:
    """Read the spec at ``path`` and every base spec it extends.

    A base spec that is reached twice is applied once, where it is reached first. Raise `OptionError` if there is no
    such spec, `InvalidInput` if it cannot be parsed as YAML, and OSError if the disk fails.
    """
    chain = _Chain(cache, cache.boundary(os.path.dirname(path)))
    chain.add(cache.spec(path), cache.identity(path), trail=())
    documents = tuple(chain.files.values())
    texts = dict.fromkeys((*documents[-1].texts, *(text for file in documents for text in file.texts), *chain.texts))
    return SpecFiles(documents=documents, faults=tuple(chain.diagnostics), texts=tuple(texts))


class _Chain:
    """The files found so far, by real path, and the errors in their `extends`."""

    def __init__(self, cache: InputCache, boundary: Boundary) -> None:
        self._cache = cache
        self._boundary = boundary
        self.files: dict[str, Document] = {}
        self.diagnostics: list[Diagnostic] = []
        self.texts: list[SourceText] = []

    def add(self, document: Document, identity: str, trail: tuple[str, ...]) -> None:
        """Add ``document`` after everything it extends. ``trail`` is the chain of files that extends it."""
        name = document.texts[0].name
        is_job = not trail
        trail = (*trail, identity)
        for place, (written, _) in enumerate(self._extended(document, is_job=is_job)):
            before = len(self.diagnostics)
            if before > _MOST_FAULTS:
                break
            path = os.path.normpath(os.path.join(os.path.dirname(name), written))
            objection = self._objection(path, trail) or self._follow(path, trail)
            if objection is not None:
                self.diagnostics += placed([objection.moved(("extends", place))], document)
                self.texts += document.texts
            if is_job and len(self.diagnostics) > before:
                self.diagnostics += placed([_unread(("extends", place), f"the base spec {quoted(written)}")], document)
        self.files[identity] = document

    def _extended(self, document: Document, *, is_job: bool) -> tuple[tuple[str, Span], ...]:
        try:
            return extends_of(document)
        except InvalidInput as rejected:
            self._note(rejected)
            if is_job:
                self.diagnostics += placed([_unread(("extends",), "`extends`")], document)
            return ()

    def _note(self, rejected: InvalidInput) -> None:
        self.diagnostics += rejected.diagnostics
        self.texts += rejected.texts

    def _objection(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        self._cache.bring(path)
        # Only the command line may name something other than a file: reading a device or a pipe could block forever.
        if not self._boundary.is_file(path):
            if not self._boundary.contains(path):
                return outside((), path, path, self._boundary)
            help = "fix the path; it is relative to the directory of this file"
            return BASE_NOT_FOUND.at((), not_found(path, path, "file"), help=help)
        if self._cache.identity(path) in trail:
            return BASE_IN_A_CIRCLE.at(
                (), f"circular `extends`: `{path}` extends this file", help="remove one of the two `extends` entries"
            )
        if len(self.files) + len(trail) > MOST_BASES:
            return TOO_MANY_BASES.at(
                (), f"`extends` reaches more than {MOST_BASES} base specs", help="merge some of them into one file"
            )
        return None

    def _follow(self, path: str, trail: tuple[str, ...]) -> Finding | None:
        identity = self._cache.identity(path)
        if identity in self.files:
            return None
        try:
            document = self._cache.base(path, self._boundary)
        except InvalidInput as rejected:
            self._note(rejected)
        except NotASpec:
            return not_a_spec((), path)
        except FileNotRead:  # it was replaced after the first check
            return outside((), path, path, self._boundary)
        else:
            self.add(document, identity, trail)
        return None


def _unread(at: Path, what: str) -> Finding:
    message = f"only the keys of this file were checked: {what} has errors"
    return UNREAD_BASE.at(at, message, help="fix those errors to check the whole job")


_NOTHING = hashlib.sha256().hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The inputs of a compilation. ``directory`` contains the spec; paths in the spec are relative to it.

    ``faults`` are those of its layers: if there are any, ``document`` is the part of the spec without them.
    ``findings`` are about missing files that the spec names; ``build_inputs`` are without them. ``policy`` is the
    policy for the job, ``facts`` what it states about AWS, ``levels`` the severities that the organization sets,
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
    facts: KnownFacts = field(default_factory=KnownFacts)
    organization_rules: tuple[OrganizationRule, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    findings: tuple[Finding, ...] = ()
    program: Program | UnreadScript | None = None
    reach: Reach | ForeignScript | None = None
    shell: ForeignScript | None = None
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
    def shell_script(self) -> ForeignScript | None:
        """The script of a shell: the entry point itself, or what starts it, or what it starts."""
        return self.reach if isinstance(self.reach, ForeignScript) else self.shell

    @property
    def requirements_file(self) -> str | None:
        """The path of the requirements file in the spec."""
        return requirements_file(self.document, self.directory)


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
    defaults = cache.organization(os.path.dirname(files.documents[-1].texts[0].name)).defaults()
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

    So the script is not read, and only facts and severities below error of a policy count: a job that violates it can
    be compared. ``levels``: those of a different revision, by default of the spec's directory. A fault of the policy is
    not one of the spec.
    """
    inputs = _with_build_inputs(merged, overlay, cache)
    levels = cache.levels(inputs.directory) if levels is None else levels
    kept = {code: level for code, level in levels.items() if level != "error"}
    return replace(inputs, levels=kept, facts=cache.facts(inputs.directory))


def _inputs(merged: Merged, overlay: str | None, cache: InputCache) -> Inputs:
    inputs = _with_build_inputs(merged, overlay, cache)
    organization = cache.organization(inputs.directory)
    policy = organization.policy()
    script = _script(merged.document, inputs.directory, inputs.build_inputs, cache)
    return replace(
        inputs,
        policy=policy,
        levels={} if policy is None else policy.levels,
        facts=cache.facts(inputs.directory),
        organization_rules=organization.rules(),
        program=script.program,
        reach=script.reach,
        shell=script.shell,
        source_texts=_source_texts(merged.document, inputs, cache),
        local_data=_local_data(merged.document, inputs.directory, cache),
    )


def _with_build_inputs(merged: Merged, overlay: str | None, cache: InputCache) -> Inputs:
    document = merged.document
    directory = os.path.dirname(document.texts[0].name)
    findings: list[Finding] = []
    return Inputs(
        document=document,
        directory=directory,
        overlay=overlay,
        build_inputs=read_build_inputs(document, findings, cache, is_whole=not merged.faults),
        faults=merged.faults,
        findings=tuple(findings),
        source_is_known=not hides_files(findings),
    )


def _script(document: Document, directory: str, inputs: BuildInputs, cache: InputCache) -> ReadScript:
    source, shell = inputs.source, None
    started, written = started_program(document), document.string(SOURCE)
    place = os.path.join(directory, written or "")
    if isinstance(started, UnreadScript) and started.path[:1] == ("entry_point",):
        # Imported late: most scripts are Python.
        from smspec.pipeline.foreign_scripts import python_behind, python_in_shell, read_foreign_script

        unread, started = started, python_behind(document, started, source)
        if started is None:
            shell = read_foreign_script(document, unread, source, place)
            started = None if shell is None else python_in_shell(document, shell, source)
            if started is None:
                return ReadScript(program=unread, reach=shell)
    if started is None or isinstance(started, UnreadScript):
        return ReadScript(program=started)
    if written is None:
        return ReadScript(program=without_source(started))
    read = ReadScript()
    if source.files:
        ignore, python = document.strings(("source", "ignore")), image_python(document, inputs.lock)
        read = cache.program(started, source, place, python, ignore)
    if shell is not None:
        return replace(read, shell=shell)
    if started.key == "command":
        from smspec.pipeline.foreign_scripts import shell_of_command  # imported late, as above

        shell = shell_of_command(document, source, place)
    texts = read.program.texts if shell is None and isinstance(read.program, Program) else ()
    if isinstance(read.program, Program) and any("bash" in one.text or ".sh" in one.text for one in texts):
        from smspec.pipeline.foreign_scripts import shells_of_program

        shell = shells_of_program(read.program, ("entry_point", started.key), source, place)
    return replace(read, shell=shell)


def _source_texts(document: Document, inputs: Inputs, cache: InputCache) -> tuple[SourceText, ...] | None:
    written, source = document.string(SOURCE), inputs.build_inputs.source
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


def in_memory_inputs(text: SourceText, settings: Mapping[str, str] | None = None, script: str | None = None) -> Inputs:
    """Return the inputs of the spec ``text``; raise `InvalidInput` if it cannot be parsed.

    ``settings``: values of its variables. ``script``: the one file of its source, whose content is not read.
    """
    files = [ListedFile(path=script, origin=script, executable=False, size=0, sha256=_NOTHING)] if script else []
    source = Listing(files=tuple(files))
    document = merged([read(text)], settings=settings)
    build_inputs = BuildInputs(source=source, runtime=runtime_files(document, source), templates=templates_digest())
    return Inputs(document=document, directory="", overlay=None, build_inputs=build_inputs)

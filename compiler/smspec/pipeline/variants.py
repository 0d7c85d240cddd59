"""Gather and compile a spec on its own and with each of its overlays, from the working tree or a revision."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.pipeline.compilation import Compilation, Compiled, Faulty, compile_spec
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs, assembly, gather_to_compare, read_spec_files
from smspec.pipeline.named_files import REQUIREMENTS, SOURCE
from smspec.rules.images import REPOSITORY_WITHOUT_A_REGION
from smspec.rules.naming import UNKNOWN_IMAGE_NAME
from smspec.service.policy import Level
from smspec.source import Document, Path, SourceText, Span, is_near, to_data
from smspec.source import Mapping as MappingNode
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers import Assembly, Merged
from smspec.spec.layers.substitution import NO_VALUE
from smspec.spec.layers.variables import UnfitSetting
from smspec.workspace.boundary import OUTSIDE
from smspec.workspace.boundary_search import NAME, PYPROJECT
from smspec.workspace.revision import Revision
from smspec.workspace.settings_files import is_settings

_SET_BY_OPTIONS = frozenset({NO_VALUE.code, REPOSITORY_WITHOUT_A_REGION.code, UNKNOWN_IMAGE_NAME.code})
"""A short name of an image has a registry only with a region."""
_OF_TEXT = (OUTSIDE.code, "SM305", "SM306", "SM307", "SM308", "SM309")
"""The latter: `entry_point`, `source`, and `image` do not fit."""
_OF_FILES = ("SM14", "SM25", "SM26", "SM5", "SM6", "SM7")
_NAMES_FILES: tuple[Path, ...] = (("extends",), ("source",), ("entry_point",), REQUIREMENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The inputs of a spec by overlay, None being the spec on its own; a fault where they cannot be gathered.

    ``texts`` are those of the spec and its base specs. ``is_read`` False: some of these cannot be read, and ``inputs``
    has the rest of the spec on its own. ``overlays`` and ``variables`` are all that the spec has. ``unfit``: the
    settings that it is gathered without, since its variables take other values.
    """

    path: str
    texts: tuple[str, ...]
    inputs: dict[str | None, Inputs | Faulty]
    is_read: bool = True
    overlays: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()
    unfit: tuple[UnfitSetting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """``compiled`` by overlay, None being the spec on its own; ``faults`` are those of the others.

    ``is_read`` False: the spec cannot be read, so its overlays are unknown.
    """

    path: str
    compiled: dict[str | None, Compiled]
    faults: dict[str | None, Faulty]
    is_read: bool = True

    @property
    def is_open(self) -> bool:
        """Whether it may be a job elsewhere: with `--set`, with `--region`, or with files that only CI has.

        A value that is here may be a default that `--set` replaces. Errors of a text without variables stay.
        """
        return any(map(_is_open, self.faults.values()))

    @property
    def lacks_files(self) -> bool:
        """Whether none of it compiles, since each lacks a file that no option names: so it is at a wrong path."""
        return not self.compiled and all(
            any(
                one.code.startswith("SM14") and not any(is_near(one.path, path) for path, _ in faulty.settable)
                for one in _errors(faulty)
            )
            for faulty in self.faults.values()
        )

    @property
    def is_unset(self) -> bool:
        """Whether it is open, and a value of `--set` or `--region` is missing."""
        opened = filter(_is_open, self.faults.values())
        return any(one.code in _SET_BY_OPTIONS for faulty in opened for one in _errors(faulty))


def _is_open(faulty: Faulty) -> bool:
    return all(_may_be_gone(one, faulty.settable) for one in _errors(faulty))


def _may_be_gone(error: Diagnostic, settable: tuple[tuple[Path, str], ...]) -> bool:
    """Return whether options, or files that are not here, may remove an error.

    `build` rejects a spec without a required key, or with an unknown one, with any value of `--set`: it is a part of a
    job, or no spec. Unless a variable decides about the key: null removes one, and the value of `distribution` is the
    name of one.
    """
    # Imported late: only a spec with errors needs it.
    from smspec.spec.shape.faulty_keys import MISSING_KEY, UNKNOWN_KEY

    if error.code in (MISSING_KEY.code, UNKNOWN_KEY.code):
        return any(is_near(error.path, path) for path, _ in settable)
    if settable or error.code in _SET_BY_OPTIONS:
        return True
    is_of_file = is_settings(error.span.file) or any(error.path[: len(path)] == path for path in _NAMES_FILES)
    return error.code not in _OF_TEXT and (is_of_file or error.code.startswith(_OF_FILES))


def _errors(faulty: Faulty) -> list[Diagnostic]:
    return [one for one in faulty.diagnostics if one.severity == "error"]


def gather_variants(
    path: str,
    overlay: str | None,
    settings: Mapping[str, str],
    cache: InputCache,
    revision: Revision | None = None,
    levels: Mapping[str, Level] | None = None,
) -> Gathered:
    """Gather a spec with the requested overlay, if it has that, or on its own and with each of its overlays.

    A setting of a variable that the spec does not declare is dropped, as is a value that the variable does not take:
    the other side, or another spec, may. Raise `OptionError` if there is no such spec, or if a value is not valid
    anywhere; OSError if the disk fails. ``levels``: the severities of rules, if not those of the spec's own state.
    """
    try:
        files = read_spec_files(path, cache)
        layers = assembly(files, cache)
    except InvalidInput as rejected:
        texts = tuple(text.text for text in rejected.texts)
        return Gathered(path=path, texts=texts, inputs={None: _faulty(rejected)}, is_read=False)
    variables = frozenset(declared_variables(files.documents))
    known = {name: value for name, value in settings.items() if name in variables}
    texts = (*(text.text for text in files.texts), *_defaults(path, cache))
    unfit: dict[str, UnfitSetting] = {}
    if files.faults:
        own = _gathered(path, _merged(layers, None, known, unfit), None, cache, revision, levels)
        return Gathered(path=path, texts=texts, inputs={None: own}, is_read=False)
    names = layers.overlays
    asked = (None, *names) if overlay is None else (overlay,) if overlay in names else ()
    return Gathered(
        path=path,
        texts=texts,
        inputs={
            name: _gathered(path, _merged(layers, name, known, unfit), name, cache, revision, levels) for name in asked
        },
        overlays=names,
        variables=variables,
        unfit=tuple(unfit.values()),
    )


def compile_variants(gathered: Gathered) -> Variants:
    """Compile a gathered spec."""
    compiled: dict[str | None, Compiled] = {}
    faults: dict[str | None, Faulty] = {}
    for name, inputs in gathered.inputs.items():
        outcome: Compilation = inputs if isinstance(inputs, Faulty) else compile_spec(inputs)
        if isinstance(outcome, Compiled):
            compiled[name] = outcome
        else:
            faults[name] = outcome
    return Variants(path=gathered.path, compiled=compiled, faults=faults, is_read=gathered.is_read)


def are_same(one: Gathered, other: Gathered) -> bool:
    """Return whether two states of a spec consist of the same bytes, so that their results are the same."""
    if one.texts != other.texts or list(one.inputs) != list(other.inputs):
        return False
    return all(_are_alike(inputs, other.inputs[name], one.texts) for name, inputs in one.inputs.items())


def _are_alike(one: Inputs | Faulty, other: Inputs | Faulty, texts: tuple[str, ...]) -> bool:
    """Return whether two states with the same texts have the same result; for a fault, whether it is in these texts."""
    if isinstance(one, Inputs) and isinstance(other, Inputs):
        return _made_of(one) == _made_of(other)
    faults = [faulty for faulty in (one, other) if isinstance(faulty, Faulty)]
    written = (
        text for faulty in faults for text in faulty.texts if os.path.basename(text.name) not in (NAME, PYPROJECT)
    )
    return len(faults) == 2 and all(text.text in texts for text in written)


def misplaced(*states: tuple[str, Mapping[str, Gathered], Mapping[str, Variants]]) -> set[str]:
    """Return the places that make no job, now or before, of files that are jobs at a different place.

    What a spec names is relative to its path, so a file that links lead to may be valid at one of its paths only.
    ``states``: the directory of each state, all its specs by their places, and those that differ, compiled.
    """
    made = [compiled for _, _, compiled in states]

    def is_wrong(place: str) -> bool:
        sides = [compiled[place] for compiled in made if place in compiled]
        return bool(sides) and all(side.lacks_files for side in sides)

    @functools.cache
    def is_job(place: str) -> bool:
        sides = (compiled.get(place) or compile_variants(all_[place]) for _, all_, compiled in states if place in all_)
        return all(side.compiled for side in sides)

    found: set[str] = set()
    for directory, all_, _ in states:
        if wrong := {*filter(is_wrong, all_)}:
            files: dict[str, list[str]] = {}
            for place in all_:
                files.setdefault(os.path.realpath(os.path.join(directory, place)), []).append(place)
            found.update(
                place
                for places in files.values()
                for place in wrong.intersection(places)
                if any(is_job(other) for other in places if other not in wrong)
            )
    return found


def _made_of(inputs: Inputs) -> tuple[object, ...]:
    """Return what a compilation depends on besides the texts. Runtime and templates are the same for both."""
    build_inputs, missing = inputs.build_inputs, [finding.path for finding in inputs.findings]
    # Of the environments only its own counts, and there may be hundreds.
    lock = build_inputs.lock and replace(build_inputs.lock, environments={})
    locked = lock, build_inputs.requirements_name, build_inputs.environment
    return build_inputs.source.digest, build_inputs.requirements, *locked, missing


def shown_as_of(variants: Variants, revision: Revision) -> Variants:
    """Return a spec of a revision with its faults, under the names of its files there."""
    return replace(variants, faults={name: _shown_faults(fault, revision) for name, fault in variants.faults.items()})


def text_as_of(written: str, revision: Revision) -> str:
    """Return a text with the names that files have in a revision, also those that would be outside of it."""
    for above in ("", "../"):  # both are directories of this process
        directory = os.path.normpath(os.path.join(revision.directory, above))
        for spelled in (directory, os.path.relpath(directory)):
            written = written.replace(os.path.join(spelled, ""), f"{revision.name}:{above}")
    return written


def _shown_faults(faulty: Faulty, revision: Revision) -> Faulty:
    """Return faults of a revision under the names of its files there: ``HEAD:specs/a/job.yaml``."""

    def name(file: str) -> str:
        return f"{revision.name}:{os.path.relpath(os.path.abspath(file), revision.directory)}"

    def span(place: Span) -> Span:
        return place._replace(file=name(place.file))

    def text(written: str) -> str:
        return text_as_of(written, revision)

    def diagnostic(original: Diagnostic) -> Diagnostic:
        notes = tuple(
            replace(note, message=text(note.message), span=note.span and span(note.span)) for note in original.notes
        )
        return replace(
            original,
            message=text(original.message),
            span=span(original.span),
            help=text(original.help),
            label=text(original.label),
            notes=notes,
        )

    texts = tuple(SourceText(name(text.name), text.text) for text in faulty.texts)
    return replace(faulty, diagnostics=tuple(map(diagnostic, faulty.diagnostics)), texts=texts)


def _merged(
    layers: Assembly, overlay: str | None, settings: Mapping[str, str], unfit: dict[str, UnfitSetting]
) -> Merged:
    """Merge layers with the settings that their variables take, and add the others to ``unfit``."""
    while True:
        try:
            return layers.merged(overlay, settings)
        except UnfitSetting as fault:
            unfit[fault.name] = fault
            settings = {name: text for name, text in settings.items() if name != fault.name}


def _gathered(
    path: str,
    merged: Merged,
    overlay: str | None,
    cache: InputCache,
    revision: Revision | None,
    levels: Mapping[str, Level] | None,
) -> Inputs | Faulty:
    try:
        if revision is None:
            return gather_to_compare(merged, overlay, cache, levels)
        _bring(revision, path, merged.document)
        inputs = gather_to_compare(merged, overlay, cache)
        as_checked_out = revision.listing(inputs.build_inputs.source)
        return replace(inputs, build_inputs=replace(inputs.build_inputs, source=as_checked_out))
    except InvalidInput as rejected:
        return replace(_faulty(rejected), settable=merged.document.settable)


def _bring(revision: Revision, path: str, document: Document) -> None:
    """Extract the files that a spec of a revision names: its source and its requirements."""
    for key in (SOURCE, REQUIREMENTS):
        name = document.string(key)
        if name is not None and "\0" not in name:
            revision.bring(os.path.join(os.path.dirname(path), name))


def _defaults(path: str, cache: InputCache) -> tuple[str, ...]:
    """Return the organization's defaults for a spec as text; the rest of their file does not change a job."""
    layer = cache.organization(os.path.dirname(path)).defaults()
    return () if layer is None else (repr(to_data(layer.root)),)


def declared_variables(files: tuple[Document, ...]) -> Iterator[str]:
    """Yield the names of the variables that a spec and its base specs declare."""
    for file in files:
        node = file.node(("vars",))
        yield from (key.text for key, _ in node.entries) if isinstance(node, MappingNode) else ()


def _faulty(rejected: InvalidInput) -> Faulty:
    return Faulty(diagnostics=tuple(rejected.diagnostics), texts=tuple(rejected.texts))

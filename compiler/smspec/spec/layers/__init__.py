"""Merging of base specs, the job's own file, an overlay, and variable values into one spec.

An `Assembly` has the layers of a job and merges them with any of its overlays to one `Document`. Mappings merge key by
key, and everything else is replaced; null removes a key. Each value keeps the position of the file it came from, so
that a finding about a merged spec is shown at the line that set it. What is wrong with one layer does not hide faults
of the others.

The package reads no files: it gets their documents. It must not check whether the result is a job.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as Settings
from collections.abc import Sequence as Layers

from smspec.diagnostics import Diagnostic, Finding, InvalidInput, in_order, placed
from smspec.diagnostics.suggestions import did_you_mean
from smspec.source import Document, Mapping, Null, Path, Scalar, Sequence, SourceText, Span
from smspec.source.frozen import ByIdentity, dataclass, replace
from smspec.spec.layers.merging import is_null, layered, most_alternatives, nulls_of
from smspec.spec.layers.short_forms import (
    NO_VERSION,
    NOT_IN_AN_OVERLAY,
    expanded,
    extends_faults,
    extent_findings,
    layer_faults,
    own_mapping,
    rehomed,
)
from smspec.spec.layers.substitution import Substitution
from smspec.spec.layers.variables import OptionError, SpecVariable, declared, valued, valued_as_far_as_possible

_DECLARED: ByIdentity[tuple[dict[str, SpecVariable], list[Finding]]] = ByIdentity()  # many jobs have those of one base

_EXTENDS: ByIdentity[tuple[list[Finding], tuple[tuple[str, Span], ...]]] = ByIdentity()

_MOST_NAMED = 8

WHOLE_JOB = ("role", "image", "hosts", "output")
"""The keys besides ``name`` that every job of an image has."""


def is_base(document: Document) -> bool:
    """Return whether a file is a base spec, unless another one names it: it has no ``name``."""
    return own_mapping(document).get("name") is None


def has_name(layers: Layers[Document]) -> bool:
    """Return whether a job of some layers has a name, on its own or with an overlay: otherwise it cannot be built."""
    named = False
    for layer in layers:
        name = own_mapping(layer).get("name")
        named = named if name is None else not is_null(name)
    changes = (change.get("name") for changes in _overlays(layers).values() for change in changes)
    return named or any(name is not None and not is_null(name) for name in changes)


def is_nameless_job(document: Document) -> bool:
    """Return whether a file without ``name`` is a job that lacks it: it has all other required keys, or no version."""
    own = own_mapping(document)
    return is_base(document) and (own.get("smspec") is None or all(own.get(key) is not None for key in WHOLE_JOB))


def extends_of(document: Document) -> tuple[tuple[str, Span], ...]:
    """Return the paths under ``extends`` as they are written, with their positions.

    Raise `InvalidInput` if they are not paths.
    """
    findings, written = _EXTENDS.of("", document, lambda: (extends_faults(document), _extends(document)))
    if findings:
        raise InvalidInput(placed(findings, document), document.texts)
    return written


def _extends(document: Document) -> tuple[tuple[str, Span], ...]:
    node = own_mapping(document).get("extends")
    items = node.items if isinstance(node, Sequence) else ()
    return tuple((item.text, item.span) for item in items if isinstance(item, Scalar))


def overlay_names(*layers: Document) -> tuple[str, ...]:
    """Return the names of a job's overlays, given all its layers or only its own file."""
    return tuple(_overlays(layers))


def merged(
    layers: Layers[Document], overlay: str | None = None, settings: Settings[str, str] | None = None
) -> Document:
    """Merge layers into one spec: base specs first, then the job's own file, the overlay, and the variables.

    The result is in its long form, has no ``extends``, ``vars``, or ``overlays``, and its relative paths start at the
    directory of the job's own file. Raise `InvalidInput` for an error in the spec, `OptionError` for one on the command
    line.
    """
    found = Assembly(layers).merged(overlay, settings)
    if found.faults:
        raise InvalidInput(found.faults, found.document.texts)
    return found.document


@dataclass(frozen=True, slots=True)
class Merged:
    """The spec that layers make. With ``faults``, the document is the part without errors: some paths are unknown."""

    document: Document
    faults: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class MissingBases:
    """Why base specs are missing from the layers of a spec, and the texts that show it."""

    faults: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Layers merged into one spec, and the nulls in them."""

    spec: Mapping | None = None
    nulls: tuple[Null, ...] = ()

    def under(self, *layers: Document) -> Fold:
        """Return this with more layers on top."""
        spec, nulls = self.spec, [*self.nulls]
        for layer in layers:
            own = expanded(_without(own_mapping(layer), "extends", "overlays"))
            nulls += nulls_of(spec, own)
            spec = layered(spec, own)
        return Fold(spec, tuple(nulls))


class Assembly:
    """The layers of a job, which can be merged with any of its overlays.

    ``bases``: all but the last, if folded; ``defaults`` is beneath them, and then part of ``bases``.
    """

    def __init__(
        self,
        layers: Layers[Document],
        missing: MissingBases | None = None,
        bases: Fold | None = None,
        defaults: Document | None = None,
    ) -> None:
        self._own = layers[-1]
        self._is_partial = missing is not None
        self._has_bases = len(layers) > 1 or defaults is not None
        self._texts = tuple(dict.fromkeys(text for layer in reversed(layers) for text in layer.texts))
        if defaults is not None:
            self._texts += defaults.texts
        alone = len(layers) == 1 and missing is None
        self._faults = [fault for layer in layers for fault in layer_faults(layer, alone=alone)]
        if missing is not None:
            self._faults += missing.faults
            self._texts = tuple(dict.fromkeys((*self._texts, *missing.texts)))
            # A missing base spec may change what the others set, but not what the job's own file sets.
            layers = layers[-1:]
        self._overlays = _overlays(layers)
        beneath = Fold().under(*layers[:-1]) if bases is None or missing is not None else bases
        fold = beneath.under(layers[-1])
        self._nulls = [*_nulls_of_layers(layers), *fold.nulls]
        spec = fold.spec
        assert spec is not None
        self._spec = spec
        too_many = tuple(_extent_faults(layers, spec, self._overlays))
        self._faults += too_many
        self._can_be_laid = not too_many

    @property
    def overlays(self) -> tuple[str, ...]:
        """The names of the job's overlays; empty if there are too many of them to check."""
        return tuple(self._overlays) if self._can_be_laid else ()

    def merged(self, overlay: str | None = None, settings: Settings[str, str] | None = None) -> Merged:
        """Return the job with an overlay, or on its own. Raise `OptionError` for an error on the command line.

        The error is an `UnfitSetting` if the variable takes other values.
        """
        if self._is_partial:
            return self._partial(overlay, settings or {})
        own, texts, spec, nulls = self._own, self._texts, self._spec, [*self._nulls]
        for change in map(expanded, self._chosen(overlay)):
            nulls += nulls_of(spec, change)
            spec = replace(layered(spec, change), span=own.root.span)
        spec, unknown, settable, more = _with_values(Document(spec, texts), settings or {}, faulty=bool(self._faults))
        unknown = (*unknown, *self._version())
        if overlay is not None and overlay not in self.overlays:
            unknown = ((),)  # one of the errors is the reason
        # A variable may have set a launcher, and `distribution: torchrun` is a short form.
        spec = expanded(spec)
        whole = rehomed(_own_first(spec, own), own.texts[0].name) if self._has_bases else spec
        document = Document(whole, texts, tuple(nulls), unknown, settable=settable)
        return Merged(document, in_order((*self._faults, *more), texts))

    def _partial(self, overlay: str | None, settings: Settings[str, str]) -> Merged:
        """Return what no base spec can change: what the job's own file sets, including its overlay."""
        spec = expanded(_without(own_mapping(self._own), "extends", "overlays"))
        if overlay is not None:
            # An overlay of a base spec applies after the job's own file, and before the overlay there.
            declared_here = tuple((key, value) for key, value in spec.entries if key.text == "vars")
            changes = map(expanded, self._chosen(overlay))
            spec = replace(spec, entries=(*declared_here, *(entry for change in changes for entry in change.entries)))
        spec, unknown, settable, more = _with_values(
            Document(spec, self._texts), settings, faulty=True, is_partial=True
        )
        unknown = (*unknown, *self._version())
        document = Document(expanded(spec), self._texts, (), unknown, is_partial=True, settable=settable)
        return Merged(document, in_order((*self._faults, *more), self._texts))

    def _version(self) -> tuple[Path, ...]:
        return (("smspec",),) if any(fault.code == NO_VERSION.code for fault in self._faults) else ()

    def _chosen(self, overlay: str | None) -> list[Mapping]:
        """Return what the layers set for an overlay, in their order."""
        if overlay is None or not self._can_be_laid:
            return []
        if overlay in self._overlays:
            return self._overlays[overlay]
        if self._faults:
            return []  # it may be the one with the error
        names = ", ".join(f"`{name}`" for name in list(self._overlays)[:_MOST_NAMED])
        known = did_you_mean(overlay, self._overlays) or f"it has {names or 'none'}"
        raise OptionError(f"the spec has no overlay `{overlay}`: {known}")


def _with_values(
    document: Document, settings: Settings[str, str], *, faulty: bool, is_partial: bool = False
) -> tuple[Mapping, tuple[Path, ...], tuple[tuple[Path, str], ...], tuple[Diagnostic, ...]]:
    """Return the spec with its variables replaced, its unknown and settable paths, and the errors in its variables.

    Raise `OptionError` only if there are no other errors. Where a base spec is missing, it may declare what the spec
    lacks.
    """
    assert isinstance(document.root, Mapping)
    node = document.root.get("vars")
    variables, findings = _DECLARED.of("", node, lambda: declared(node))
    values: dict[str, Scalar | None] = {}
    if faulty or findings:
        # The declarations of these have been reported, or are about to be set: do not report their values too.
        values.update((key.text, None) for key, _ in (node.entries if isinstance(node, Mapping) else ()))
        values.update(valued_as_far_as_possible(variables, settings))
    else:
        values.update(valued(variables, settings))
    substitution = Substitution(document, variables, values, others_are_known=not is_partial, fixed=settings)
    spec = substitution.apply(_without(document.root, "vars"))
    assert isinstance(spec, Mapping)
    faults = (*placed(findings, document), *substitution.diagnostics)
    return spec, tuple(substitution.unknown), tuple(substitution.settable.items()), faults


def _overlays(layers: Layers[Document]) -> dict[str, list[Mapping]]:
    overlays: dict[str, list[Mapping]] = {}
    for layer in layers:
        node = own_mapping(layer).get("overlays")
        if node is not None and is_null(node):
            overlays.clear()
        for key, value in node.entries if isinstance(node, Mapping) else ():
            if is_null(value):
                overlays.pop(key.text, None)
            elif isinstance(value, Mapping):
                overlays.setdefault(key.text, []).append(_without(value, *NOT_IN_AN_OVERLAY))
    return overlays


def _nulls_of_layers(layers: Layers[Document]) -> Iterator[Null]:
    """Yield the nulls that remove base specs, or overlays that no lower layer has."""
    names: set[str] = set()
    for layer in layers:
        own = own_mapping(layer)
        for key, value in own.entries:
            if is_null(value) and (key.text == "extends" or (key.text == "overlays" and not names)):
                yield Null((key.text,), key.span, is_idle=True)
        overlays = own.get("overlays")
        for key, value in overlays.entries if isinstance(overlays, Mapping) else ():
            if is_null(value) and key.text not in names:
                yield Null(("overlays", key.text), key.span, is_idle=True)
            names.add(key.text)


def _extent_faults(
    layers: Layers[Document], spec: Mapping, overlays: Settings[str, list[Mapping]]
) -> Iterator[Diagnostic]:
    """Yield the errors in the number of overlays, in the last file that has some."""
    own = most_alternatives(spec)
    checks = sum(max([own, *map(most_alternatives, changes)]) for changes in overlays.values())
    findings = extent_findings(spec, len(overlays), checks)
    if findings:
        yield from placed(findings, next(layer for layer in reversed(layers) if own_mapping(layer).get("overlays")))


def _own_first(spec: Mapping, own: Document) -> Mapping:
    """Return ``spec`` with the keys of the job's own file first, in its order, where its author expects them."""
    order = {key.text: place for place, (key, _) in enumerate(own_mapping(own).entries)}
    return replace(spec, entries=tuple(sorted(spec.entries, key=lambda entry: order.get(entry[0].text, len(order)))))


def _without(spec: Mapping, *keys: str) -> Mapping:
    return replace(spec, entries=tuple((key, value) for key, value in spec.entries if key.text not in keys))

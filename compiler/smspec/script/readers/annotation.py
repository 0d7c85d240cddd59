"""Type annotations, as the libraries that turn them into options read them."""

from __future__ import annotations

from smspec.script.classes import Class
from smspec.script.external_names import Named
from smspec.script.program import Kind
from smspec.script.sequences import items
from smspec.script.values import Known, Value, constant
from smspec.source.frozen import dataclass

_KINDS: dict[str, Kind] = {"str": "text", "int": "int", "float": "float", "bool": "truth"}
_UNIONS = ("Optional", "Union")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """``kind`` of one word; ``is_list``: several values are allowed; ``may_be_none``: an Optional.

    ``structure``: a class of the script that is no Enum.
    """

    kind: Kind = "unknown"
    choices: tuple[object, ...] | None = None
    is_list: bool = False
    may_be_none: bool = False
    extras: tuple[Value, ...] = ()
    structure: Class | None = None

    @property
    def is_bool(self) -> bool:
        return self.kind == "truth" and not self.is_list


def annotation_of(value: Value) -> Annotation:
    """Return the parsed annotation; empty if it is not understood."""
    if isinstance(value, Named):
        if value.name in ("list", "typing.List"):
            return Annotation(is_list=True)
        return Annotation(kind=_KINDS.get(value.name, "unknown"))
    if isinstance(value, Class):
        return _enumeration(value)
    both = items(value)
    if both is not None and len(both) == 2:
        head, inner = both
        name = head.name.rpartition(".")[2] if isinstance(head, Named) else ""
        parts = items(inner) or (inner,)
        if name == "Literal":
            return _literal(inner)
        if name in ("List", "list"):
            of = annotation_of(inner)
            return Annotation(kind=of.kind, choices=of.choices, is_list=True)
        if name == "Annotated":
            of = annotation_of(parts[0])
            return _changed(of, extras=parts[1:])
        if name == "Optional":
            return _changed(annotation_of(inner), may_be_none=True)
        return _union(parts if name == "Union" else both)
    return Annotation()


def _union(parts: tuple[Value, ...]) -> Annotation:
    others = [part for part in parts if not (isinstance(part, Known) and part.value is None)]
    if len(others) != 1 or len(parts) == 1:
        return Annotation()
    return _changed(annotation_of(others[0]), may_be_none=True)


def _changed(of: Annotation, *, may_be_none: bool = False, extras: tuple[Value, ...] = ()) -> Annotation:
    return Annotation(
        kind=of.kind,
        choices=of.choices,
        is_list=of.is_list,
        may_be_none=of.may_be_none or may_be_none,
        extras=(*of.extras, *extras),
    )


def _literal(inner: Value) -> Annotation:
    found = constant(inner)
    choices = found if isinstance(found, tuple) else (found,)
    if ... in choices:
        return Annotation()
    return Annotation(kind="text", choices=tuple(map(str, choices)))


def _enumeration(value: Class) -> Annotation:
    """Return the values of an Enum as choices."""
    if not any(isinstance(base, Named) and base.name in ("enum.Enum", "enum.StrEnum") for base in value.bases):
        return Annotation(structure=value)
    values = [constant(member) for member in value.frame.names.values()]
    if ... in values:
        return Annotation()
    return Annotation(kind="text", choices=tuple(map(str, values)))

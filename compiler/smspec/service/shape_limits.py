"""Check a request against the shapes of the API. SageMaker rejects what does not fit; botocore finds a sixth of it."""

from __future__ import annotations

import json
from typing import Literal

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.quoting import one_of
from smspec.diagnostics.suggestions import Fix, nearest, spelling_fix
from smspec.service.instance_types import UPDATE, unknown_instance_type
from smspec.service.patterns import form, kind, kind_of, matches, member_name, quantity, shown
from smspec.service.shapes import Model, Shape, pinned_model
from smspec.source import Path, dotted
from smspec.source.frozen import ByIdentity

WRONG_TYPE = Rule("SM401", "value of the wrong type")
UNKNOWN_MEMBER = Rule("SM402", "unknown member")
MISSING_MEMBER = Rule("SM403", "missing member", needs_every_layer=True)
TOO_SHORT = Rule("SM404", "string that is too short")
TOO_LONG = Rule("SM405", "string that is too long")
WRONG_FORM = Rule("SM406", "string that does not match the API pattern")
UNKNOWN_WORD = Rule("SM407", "value not in the API's list")
TOO_SMALL = Rule("SM408", "number that is too small")
TOO_LARGE = Rule("SM409", "number that is too large")
TOO_FEW_ITEMS = Rule("SM410", "list that is too short")
TOO_MANY_ITEMS = Rule("SM411", "list that is too long")
TOO_MANY_ENTRIES = Rule("SM412", "mapping that is too large")

SHAPE_RULES = (
    WRONG_TYPE,
    UNKNOWN_MEMBER,
    MISSING_MEMBER,
    TOO_SHORT,
    TOO_LONG,
    WRONG_FORM,
    UNKNOWN_WORD,
    TOO_SMALL,
    TOO_LARGE,
    TOO_FEW_ITEMS,
    TOO_MANY_ITEMS,
    TOO_MANY_ENTRIES,
)
"""Limits of the API model. The service rejects the request."""

MAY_BE_NEWER = (UNKNOWN_MEMBER, UNKNOWN_WORD)
"""Those that a newer API may permit, so that an author can ignore them, with the reason. The others never."""

_INSTANCE_TYPES = ("TrainingInstanceType", "ProcessingInstanceType")
_LEAST_OF_A_REQUEST = {"TrainingInstanceCount": 1}
"""Where the model allows a value that only responses contain; see `zero_instances` in request_rules/hosts.py."""
_LARGEST = {"integer": 2**31 - 1, "long": 2**63 - 1}
_KEYS = {"SecurityGroupIds": "network.security_groups", "Subnets": "network.subnets"}
"""Keys of a spec that can be omitted on their own, though the request needs both or neither."""
_LONGEST_LIST_SHOWN = 8
_MOST_COMPARED = 100
"""No author fixes more in one run, and searching for similar names takes time."""

_FITTING: ByIdentity[bool] = ByIdentity()


class _Walk:
    """A walk over a value along its shape."""

    def __init__(self, model: Model, in_spec_words: bool) -> None:
        self.model = model
        self.in_spec_words = in_spec_words
        self.unknown = 0
        self.findings: list[Finding] = []

    def visit(self, path: Path, shape: Shape, value: object) -> None:
        """Add the findings about a value of a request, and everything in it."""
        kind_here = shape.kind
        if kind_here == "string" and isinstance(value, str):
            self._text(path, shape, value)
        elif kind_here == "structure" and isinstance(value, dict):
            self._structure(path, shape, value)
        elif kind_here == "map" and isinstance(value, dict):
            self._map(path, shape, value)
        elif kind_here == "list" and isinstance(value, list):
            self._list(path, shape, value)
        elif kind_here in ("integer", "long") and isinstance(value, int) and not isinstance(value, bool):
            self._number(path, shape, value)
        elif kind_here != "any" and not (kind_here == "boolean" and isinstance(value, bool)):
            self._add(
                WRONG_TYPE.at(
                    path,
                    f"{member_name(path)} must be {kind(shape)}, got {kind_of(value)}",
                    help=_retyped(shape, value),
                )
            )

    def _structure(self, path: Path, shape: Shape, value: dict[str, object]) -> None:
        for name, inner in value.items():
            if name in shape.members:
                below = self.model.shapes[shape.members[name]]
                if path or not self._fits_again(name, below, inner):
                    self.visit((*path, name), below, inner)
            else:
                self.unknown += 1
                near, elsewhere = None, None
                if self.unknown <= _MOST_COMPARED:
                    near = nearest(name, shape.members)
                    elsewhere = None if near else self._places_of(name, path)
                self._add(
                    UNKNOWN_MEMBER.at(
                        (*path, name),
                        f"unknown member {member_name((*path, name))}",
                        label=f"did you mean `{near}`?" if near else "",
                        fix=spelling_fix(name, shape.members.keys() - value.keys()) if near else None,
                        help=f"move it to {elsewhere}" if elsewhere else "" if near else self._model_notes(),
                        on="key",
                    )
                )
        for name in shape.required:
            if name not in value:
                key = _KEYS.get(name) if self.in_spec_words else None
                self._add(
                    MISSING_MEMBER.at(
                        (*path, name),
                        f"`{key}` is not set" if key else f"{member_name((*path, name))} is not set",
                        help=f"add `{key or name}`",
                        on="key",
                    )
                )

    def _fits_again(self, name: str, shape: Shape, value: object) -> bool:
        """Return whether a member has no findings, without looking twice at a value: jobs share many."""
        if not self.in_spec_words or not isinstance(value, dict | list):
            return False  # another tool's request is checked once
        if self.model is not pinned_model():
            return _FITTING.of_all(name, (value, self.model), lambda: not self._findings_of(name, shape, value))
        return _FITTING.of(name, value, lambda: not self._findings_of(name, shape, value))

    def _findings_of(self, name: str, shape: Shape, value: object) -> list[Finding]:
        walk = _Walk(self.model, self.in_spec_words)
        walk.visit((name,), shape, value)
        return walk.findings

    def _map(self, path: Path, shape: Shape, value: dict[str, object]) -> None:
        if shape.maximum is not None and len(value) > shape.maximum:
            self._add(
                TOO_MANY_ENTRIES.at(
                    path,
                    f"{member_name(path)} has {len(value):,} entries; the maximum is {shape.maximum:,}",
                    help="combine several into one JSON value, or move them to a file of a channel",
                    on="key",
                )
            )
        for name, inner in value.items():
            self._text((*path, name), self.model.shapes[shape.key], name, on="key")
            self.visit((*path, name), self.model.shapes[shape.item], inner)

    def _list(self, path: Path, shape: Shape, value: list[object]) -> None:
        if shape.minimum is not None and len(value) < shape.minimum:
            self._add(
                TOO_FEW_ITEMS.at(
                    path,
                    f"{member_name(path)} is empty"
                    if not value
                    else f"{member_name(path)} has {len(value):,} items; the minimum is {shape.minimum:,}",
                    help="remove the list" if not value else f"add {shape.minimum - len(value):,}",
                    on="key",
                )
            )
        if shape.maximum is not None and len(value) > shape.maximum:
            self._add(
                TOO_MANY_ITEMS.at(
                    path,
                    f"{member_name(path)} has {len(value):,} items; the maximum is {shape.maximum:,}",
                    help=f"remove {len(value) - shape.maximum:,}",
                    on="key",
                )
            )
        for index, inner in enumerate(value):
            self.visit((*path, index), self.model.shapes[shape.item], inner)

    def _number(self, path: Path, shape: Shape, value: int) -> None:
        largest = shape.maximum if shape.maximum is not None else _LARGEST[shape.kind]
        smallest = shape.minimum if shape.minimum is not None else -_LARGEST[shape.kind] - 1
        if smallest <= value <= largest:
            return

        def written(number: int) -> str:
            return quantity(number, shape, in_spec_words=self.in_spec_words)

        rule, limit = (TOO_SMALL, "minimum") if value < smallest else (TOO_LARGE, "maximum")
        smallest = _LEAST_OF_A_REQUEST.get(shape.name, smallest)
        bound = smallest if value < smallest else largest
        self._add(
            rule.at(
                path,
                f"{member_name(path)} is {written(value)}; the {limit} is {written(bound)}",
                help=f"use {written(smallest)} {'or more' if shape.maximum is None else f'to {written(largest)}'}",
            )
        )

    def _text(self, path: Path, shape: Shape, value: str, *, on: Literal["key", "value"] = "value") -> None:
        length = len(value)
        if shape.minimum is not None and length < shape.minimum:
            self._add(
                TOO_SHORT.at(
                    path,
                    f"{member_name(path)} has {_characters(length)}; the minimum is {shape.minimum:,}"
                    if value
                    else f"{member_name(path)} is empty",
                    help=self._form_notes(shape),
                    on=on,
                )
            )
        elif shape.maximum is not None and length > shape.maximum:
            # Only then check the pattern: on a string of any length some patterns would backtrack for minutes.
            self._add(
                TOO_LONG.at(
                    path,
                    f"{member_name(path)} has {_characters(length)}; the maximum is {shape.maximum:,}",
                    help=f"remove at least {_characters(length - shape.maximum)}",
                    on=on,
                )
            )
        elif shape.enum:
            if value not in shape.enum:
                self.findings.append(self._unknown_word(path, shape, value))
        elif shape.pattern is not None and not matches(shape.pattern, value):
            has_break = shape.pattern in (".*", ".+")
            self._add(
                WRONG_FORM.at(
                    path,
                    f"{member_name(path)} contains a line break"
                    if has_break
                    else f"{member_name(path)} does not match the API pattern",
                    help="remove the line break" if has_break else self._form_notes(shape),
                    on=on,
                )
            )

    def _add(self, finding: Finding) -> None:
        self.findings.append(finding)

    def _unknown_word(self, path: Path, shape: Shape, value: str) -> Finding:
        is_instance_type = shape.name in _INSTANCE_TYPES
        if is_instance_type and value.startswith("ml."):
            return unknown_instance_type(path, value, shape.enum, self.model.date)
        near = f"ml.{value}" if f"ml.{value}" in shape.enum else nearest(value, shape.enum)
        label = f"did you mean `{near}`?" if near else ""
        return UNKNOWN_WORD.at(
            path,
            f"{member_name(path)} cannot be `{shown(value)}`",
            label=label,
            fix=Fix(value, near) if near == f"ml.{value}" else spelling_fix(value, shape.enum),
            help=self._word_notes(shape) if near is None else self._listed(shape),
        )

    def _word_notes(self, shape: Shape) -> str:
        listed = self._listed(shape) or "check the spelling"
        return f"{listed}; if it is newer than the API model of {self.model.date}, run `{UPDATE}`"

    def _listed(self, shape: Shape) -> str:
        return f"use {one_of(shape.enum)}" if len(shape.enum) <= _LONGEST_LIST_SHOWN else ""

    def _places_of(self, name: str, written: Path) -> str | None:
        """Return where the API has a member of this name: in the same part of the request, else anywhere."""
        places = [path[:-1] for path, _ in pinned_model().walk() if path[-1] == name != "*" and len(path) > 1]
        if not places:
            return None
        most = max(_shared(place, written) for place in places)
        beside = [(*written[:most], *place[most:]) for place in places if _shared(place, written) == most]
        return one_of(map(dotted, sorted(beside, key=len)))

    def _form_notes(self, shape: Shape) -> str:
        words = form(shape)
        return f"use {words}" if words else ""

    def _model_notes(self) -> str:
        model = f"the API model of {self.model.date} (botocore {self.model.botocore})"
        return f"check the spelling; if it is newer than {model}, run `{UPDATE}`"


def limit_findings(
    payload: dict[str, object], *, in_spec_words: bool = False, model: Model | None = None
) -> list[Finding]:
    """Return every part of a CreateTrainingJob request that does not fit its shape, as paths of the request.

    ``model``: the one that applies; by default the pinned one.
    """
    model = model or pinned_model()
    walk = _Walk(model, in_spec_words)
    walk.visit((), model.root, payload)
    return walk.findings


def _shared(place: Path, written: Path) -> int:
    """Return how many steps two paths have in common; all items of a list count as the same step."""
    for count, (one, other) in enumerate(zip(place, written, strict=False)):
        if one != other and not (isinstance(one, int) and isinstance(other, int)):
            return count
    return min(len(place), len(written))


def _retyped(shape: Shape, value: object) -> str:
    """Return a value of a wrong type converted to the type of its shape, where the conversion is obvious."""
    if value is None:
        return "remove the member"
    if shape.kind == "string" and isinstance(value, bool | int | float):
        return f"add quotes: `{json.dumps(json.dumps(value))}`"
    if shape.kind in ("integer", "long", "boolean") and isinstance(value, str):
        bare = value.strip().lower()
        if bare in ("true", "false") if shape.kind == "boolean" else bare.isascii() and bare.isdecimal():
            return f"remove the quotes: `{bare[:20]}`"
    if shape.kind in ("integer", "long"):
        unit = " of seconds" if shape.name.endswith("InSeconds") else " of GB" if shape.name.endswith("InGB") else ""
        return f"use an integer{unit}{' without quotes' if isinstance(value, str) else ''}"
    if shape.name == "TagList" and isinstance(value, dict):
        return 'use a list: `[{"Key": "team", "Value": "ads"}]`'
    if shape.kind == "list" and not isinstance(value, list):
        return "use brackets, even for one item"
    return ""


def _characters(count: int) -> str:
    return f"{count:,} character{'' if count == 1 else 's'}"

"""Dataclasses of a script, whose fields HfArgumentParser turns into options."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from smspec.script.follow.classes import Class
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Call
from smspec.script.follow.interpreter import ProgramInterpreter, place_of
from smspec.script.follow.values import UNKNOWN, Items, Known, Named, Value, constant, items
from smspec.script.program import DeclaredOption, Kind, Words
from smspec.script.readers.argument_parser import Parser
from smspec.script.record import Handler
from smspec.source import Span
from smspec.source.frozen import dataclass, replace

_KINDS: dict[str, Kind] = {"str": "text", "int": "int", "float": "float", "bool": "truth"}

_DATACLASS = "dataclasses.dataclass"
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """``kind`` of one word; ``is_list``: several values are allowed; ``may_be_none``: an Optional."""

    kind: Kind = "unknown"
    choices: tuple[object, ...] | None = None
    is_list: bool = False
    may_be_none: bool = False

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
            found = constant(inner)
            return _one_of(found if isinstance(found, tuple) else (found,))
        if name in ("List", "list"):
            of = annotation_of(inner)
            return Annotation(kind=of.kind, choices=of.choices, is_list=True)
        if name == "Annotated":
            return annotation_of(parts[0])
        if name == "Optional":
            return replace(annotation_of(inner), may_be_none=True)
        return _union(parts if name == "Union" else both)
    return Annotation()


def _union(parts: tuple[Value, ...]) -> Annotation:
    others = [part for part in parts if not (isinstance(part, Known) and part.value is None)]
    if len(others) != 1 or len(parts) == 1:
        return Annotation()
    return replace(annotation_of(others[0]), may_be_none=True)


def _one_of(values: Iterable[object]) -> Annotation:
    choices = tuple(values)
    return Annotation() if ... in choices else Annotation(kind="text", choices=tuple(map(str, choices)))


def _enumeration(value: Class) -> Annotation:
    """Return the values of an Enum as choices."""
    if not any(isinstance(base, Named) and base.name in ("enum.Enum", "enum.StrEnum") for base in value.bases):
        return Annotation()
    return _one_of(map(constant, value.frame.names.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """``default`` None: there is none. ``is_plain``: only its type and default determine what it accepts."""

    name: str
    annotation: Annotation
    default: Value | None
    is_plain: bool
    place: Span


def fields_of(run: ProgramInterpreter, kind: Class) -> tuple[list[Field], bool] | None:
    """Return the fields of a dataclass, and whether these are all; None if it is not a dataclass."""
    if not any(isinstance(decorator, Named) and decorator.name == _DATACLASS for decorator in kind.decorators):
        return None
    fields: dict[str, Field] = {}
    are_all = True
    for base in kind.bases:
        inherited = fields_of(run, base) if isinstance(base, Class) else None
        if inherited is None:
            are_all = False
        else:
            fields |= {field.name: field for field in inherited[0]}
            are_all &= inherited[1]
    evaluation = Evaluation(run, kind.frame)
    for node in kind.node.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = _field(evaluation, node, node.target.id)
            if found is None:
                are_all = False
                fields.pop(node.target.id, None)
            else:
                fields[node.target.id] = found
    return list(fields.values()), are_all


def _field(evaluation: Evaluation, node: ast.AnnAssign, name: str) -> Field | None:
    default: Value | None = None
    is_plain = True
    if isinstance(node.value, ast.Call) and _is_field(evaluation.value(node.value.func)):
        keywords = {word.arg: word.value for word in node.value.keywords}
        if None in keywords or "init" in keywords or node.value.args:
            return None
        if "default" in keywords:
            default = _default(keywords["default"])
        elif "default_factory" in keywords:
            default = UNKNOWN
        is_plain = "metadata" not in keywords or _only_helps(keywords["metadata"])
    elif node.value is not None:
        default = _default(node.value)
    return Field(
        name=name,
        annotation=annotation_of(evaluation.value(node.annotation)),
        default=default,
        is_plain=is_plain,
        place=place_of(node, evaluation.frame),
    )


def _default(node: ast.expr) -> Value:
    """Return a default; one that is not a constant was evaluated where the class was defined."""
    return Known(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, _PLAIN) else UNKNOWN


def _is_field(value: Value) -> bool:
    return isinstance(value, Named) and value.name == "dataclasses.field"


def _only_helps(metadata: ast.expr) -> bool:
    if not isinstance(metadata, ast.Dict):
        return False
    return all(isinstance(key, ast.Constant) and key.value in ("help", "metavar") for key in metadata.keys)


def is_none(value: Value | None) -> bool:
    return isinstance(value, Known) and constant(value) is None


def _decorator(_: Call) -> Value:
    return Named(_DATACLASS)


class HfParser(Parser):
    library = "HfArgumentParser"

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        given = call.argument(0, "dataclass_types")
        self.escaped = not call.is_whole or bool(call.keywords.keys() - {"dataclass_types", "description", "prog"})
        kinds = items(given) or (given,)
        for kind in kinds:
            found = fields_of(call.run, kind) if isinstance(kind, Class) else None
            if found is None:
                self.is_complete = False  # a class of a library, such as TrainingArguments
            else:
                self.is_complete &= found[1]
                self._take(found[0])
        self._results, self._of_classes = len(kinds), len(self.options)

    def method(self, name: str, call: Call) -> Value:
        if name == "parse_args_into_dataclasses":
            remaining = constant(call.keywords.get("return_remaining_strings", Known(False)))
            self.parse(call, is_complete=remaining is False and not call.arguments)
            # With options of its own there is one more result.
            if remaining is True and not call.arguments and len(self.options) == self._of_classes:
                return Items((*[UNKNOWN] * self._results, self.left_over(call)))
            return UNKNOWN
        if name in ("parse_json_file", "parse_yaml_file", "parse_dict"):
            return UNKNOWN
        return super().method(name, call)

    def _take(self, fields: list[Field]) -> None:
        for field in fields:
            self.options += _options(field)
            # Metadata are passed to argparse unchanged: more names, for example.
            self.escaped |= not field.is_plain


def _options(field: Field) -> list[DeclaredOption]:
    names = tuple(dict.fromkeys((f"--{field.name}", f"--{field.name.replace('_', '-')}")))
    annotation = field.annotation
    if annotation.is_bool:
        takes_none = not annotation.may_be_none or not (field.default is None or is_none(field.default))
        words: Words = "?" if takes_none else 1
        options = [
            DeclaredOption(
                names=names,
                label=field.name,
                place=field.place,
                words=words,
                kind="truth",
                default=constant(field.default),
            )
        ]
        if field.default is not None and constant(field.default) in (True, ...):
            no = tuple(dict.fromkeys((f"--no_{field.name}", f"--no-{field.name.replace('_', '-')}")))
            options.append(DeclaredOption(names=no, label=field.name, place=field.place, words=0))
        return options
    return [
        DeclaredOption(
            names=names,
            label=field.name,
            place=field.place,
            words="+" if annotation.is_list else 1,
            kind=annotation.kind,
            choices=annotation.choices,
            is_required=field.default is None,
            default=constant(field.default),
        )
    ]


HANDLERS: dict[str, Handler] = {
    _DATACLASS: _decorator,
    "transformers.HfArgumentParser": HfParser,
    "transformers.hf_argparser.HfArgumentParser": HfParser,
}

"""Fields of dataclasses, which some libraries turn into options."""

from __future__ import annotations

import ast

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.evaluation import Evaluation
from smspec.script.external_names import Named
from smspec.script.interpreter import Interpreter, place_of
from smspec.script.readers.annotation import Annotation, annotation_of
from smspec.script.values import UNKNOWN, Known, Value, constant
from smspec.source import Span
from smspec.source.frozen import dataclass

_DATACLASS = "dataclasses.dataclass"
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """``default`` None: there is none. ``is_plain``: only its type and default determine what it accepts."""

    name: str
    annotation: Annotation
    default: Value | None
    is_plain: bool
    place: Span


def fields_of(run: Interpreter, kind: Class) -> tuple[list[Field], bool] | None:
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


HANDLERS = {_DATACLASS: _decorator}

"""What libraries take from the classes of a script: annotations and fields of dataclasses, and actions of argparse.

Some libraries turn fields into options. An action may read a config file, whose values replace those of earlier
arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from smspec.script.follow.classes import Class
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Call
from smspec.script.follow.interpreter import ProgramInterpreter, place_of
from smspec.script.follow.values import UNKNOWN, Known, Named, Value, constant, items
from smspec.script.program import Kind
from smspec.source import Span
from smspec.source.frozen import dataclass

_KINDS: dict[str, Kind] = {"str": "text", "int": "int", "float": "float", "bool": "truth"}
_UNIONS = ("Optional", "Union")

_DATACLASS = "dataclasses.dataclass"
_PLAIN = (str, int, float, bool, type(None))

_READERS = frozenset({"open", "load", "safe_load", "full_load", "unsafe_load", "loads", "read", "read_text"})
_NAMESPACE = 2
"""The position of the namespace among the parameters of `argparse.Action.__call__`."""


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


def loads_config(action: Value | None, library: str) -> bool:
    """Return whether an action certainly sets arguments to the values of a file."""
    if library == "jsonargparse":
        known = isinstance(action, Named) and action.name == "jsonargparse.ActionConfigFile"
        return known or (action is not None and constant(action) == "config")
    return isinstance(action, Class) and _replaces_arguments(action.node)


def _replaces_arguments(node: ast.ClassDef) -> bool:
    call = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__call__"), None)
    if call is None or len(call.args.args) <= _NAMESPACE:
        return False
    namespace = call.args.args[_NAMESPACE].arg
    calls = [each for each in ast.walk(call) if isinstance(each, ast.Call)]
    if not any(_called(each) in _READERS for each in calls):
        return False
    return any(_sets_arguments(each, namespace) for each in _unconditional_calls(call.body))


def _unconditional_calls(statements: list[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls in statements, except below a condition: that may keep the values of earlier arguments."""
    for statement in statements:
        if isinstance(statement, (ast.For, ast.With, ast.Try)):
            yield from _unconditional_calls(statement.body)
        if isinstance(statement, ast.With):
            statement = ast.Expr(ast.Tuple([item.context_expr for item in statement.items], ast.Load()))
        if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)):
            yield from (each for each in ast.walk(statement) if isinstance(each, ast.Call))


def _sets_arguments(call: ast.Call, namespace: str) -> bool:
    match _called(call), call.args:
        case "setattr", [ast.Name(id=name), key, _]:
            return name == namespace and isinstance(key, ast.Name)
        case "parse_args" | "parse_known_args", [_, ast.Name(id=name)]:
            return name == namespace
        case "parse_args" | "parse_known_args", _:
            values = [each.value for each in call.keywords if each.arg == "namespace"]
            return any(isinstance(value, ast.Name) and value.id == namespace for value in values)
        case "update", _:
            return isinstance(call.func, ast.Attribute) and _is_dictionary(call.func.value, namespace)
    return False


def _is_dictionary(node: ast.expr, namespace: str) -> bool:
    """Return whether a node is ``vars(namespace)`` or ``namespace.__dict__``."""
    match node:
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=name)]):
            return name == namespace
        case ast.Attribute(value=ast.Name(id=name), attr="__dict__"):
            return name == namespace
    return False


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


HANDLERS = {_DATACLASS: _decorator}

"""Classes of the program without a base of the SDK: their constants, and the fields of data classes.

Their objects and methods are followed like those of subclasses of the SDK. A class with anything that may change an
attribute in another way, such as a metaclass or `__getattr__`, is not followed: what its objects have is unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from smspec.importer.sdk.callables import ACCESSORS, HARMLESS, PLAIN_BASES, SdkClass, SubclassInstance, chained
from smspec.importer.sdk.conversions import copied
from smspec.importer.sdk.values import Entries, SdkUnknown, Value, applied, lifted, lowered
from smspec.script.follow import values as followed
from smspec.script.follow.evaluation import Assignment, Evaluation
from smspec.script.follow.frames import Call, Frame
from smspec.script.follow.values import UNKNOWN

if TYPE_CHECKING:
    from smspec.script.follow.interpreter import ProgramInterpreter

_DATA = frozenset(("dataclass", "dataclasses.dataclass"))
_FIELD = frozenset(("field", "dataclasses.field"))
_OPEN_BASES = ("Generic[", "typing.Generic[", "Protocol")
_CHANGES_NOTHING = frozenset(("get", "keys", "values", "items", "copy", "index", "count", "fit", "train", "join"))
_ALLOWED = frozenset(("__call__", "__post_init__"))


def plain_class(node: ast.ClassDef, bases: Sequence[followed.Value]) -> SdkClass:
    """Return a class whose bases are of the program, too; what else it has is an obstacle."""
    above: SdkClass | None = None
    obstacles: list[str] = []
    for written, base in reversed(list(zip(map(ast.unparse, node.bases), bases, strict=True))):
        if isinstance(base, SdkClass) and not base.kind and (above is None or base.above is None):
            above = base if above is None else chained(base, above)
        elif written not in PLAIN_BASES and not written.startswith(_OPEN_BASES):
            obstacles.append(written)
    made = SdkClass(node, above or UNKNOWN, {})
    made.obstacles = tuple(obstacles)
    made.is_data = any(_is_data(word) for word in node.decorator_list)
    return made


def is_followed(kind: SdkClass) -> bool:
    """Return whether all that sets attributes of the objects of a plain class is followed."""
    if kind.obstacles or (kind.above is not None and not is_followed(kind.above)):
        return False
    words = [word for word in kind.node.decorator_list if not _is_data(word)]
    if words or kind.node.keywords or "InitVar" in ast.unparse(kind.node):
        return False
    return all(map(_is_plain, kind.node.body))


def _is_plain(part: ast.stmt) -> bool:
    """Return whether a statement of a class is one whose effect on its objects is known."""
    if isinstance(part, ast.FunctionDef):
        is_special = part.name.startswith("__") and part.name.endswith("__") and part.name not in HARMLESS | _ALLOWED
        return not is_special and ACCESSORS.issuperset(map(ast.unparse, part.decorator_list))
    return isinstance(part, ast.Assign | ast.AnnAssign | ast.Pass | ast.Expr)


def constants_of(run: ProgramInterpreter, node: ast.ClassDef, frame: Frame) -> dict[str, Value]:
    """Return the values of the names that the body of a class sets, without the fields that `field` describes."""
    body = Frame(frame.source, frame)
    body.is_class = True
    for part in node.body:
        if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None and not _field(part.value):
            value = Evaluation(run, body).value(part.value)
            for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                Assignment(run, body).assign(target, value)
    return {name: lowered(value, name) for name, value in body.names.items()}


def fill_fields(made: SubclassInstance, call: Call) -> None:
    """Give an object of a data class the values of its fields."""
    fields = dict(_fields(made.made_by))
    given = {**dict(zip(fields, call.arguments, strict=False)), **call.keywords}
    for name, described in fields.items():
        value = given.get(name)
        if value is None:
            value = _default(made.made_by, name, described, call)
        made.own[name] = lowered(value if call.is_whole else UNKNOWN, name)


def _default(kind: SdkClass, name: str, described: dict[str, ast.expr] | None, call: Call) -> followed.Value:
    evaluate = Evaluation(call.run, kind.frame).value
    if described is None:
        return kind.of_body(name) or UNKNOWN
    if "default" in described:
        return evaluate(described["default"])
    if "default_factory" in described:
        return applied(evaluate(described["default_factory"]), Call(call.run, call.node, (), {}, True))
    return UNKNOWN


def of_data_class(name: str, call: Call) -> followed.Value | None:
    """Return the result of a function for objects of data classes; None for all others."""
    first = call.arguments[0] if call.arguments else None
    if not isinstance(first, SubclassInstance) or not first.made_by.is_data:
        return None
    if name == "dataclasses.asdict":
        return lifted(copied(as_entries(first), {}))
    if name not in ("dataclasses.replace", "copy.replace"):
        return None
    kind = first.made_by
    names = [name for name, described in _fields(kind) if described is None or "init" not in described]
    given = {name: lifted(first.own.get(name, SdkUnknown(name))) for name in names}
    is_whole = call.is_whole and first.is_known
    return applied(kind, Call(call.run, call.node, (), {**given, **call.keywords}, is_whole))


def as_entries(made: SubclassInstance) -> Entries:
    """Return what `dataclasses.asdict` makes of an object."""
    found: dict[object, Value] = {}
    for name, _ in _fields(made.made_by):
        value = made.own.get(name, SdkUnknown(name))
        found[name] = as_entries(value) if isinstance(value, SubclassInstance) and value.made_by.is_data else value
    return Entries(found, is_known=made.is_known)


def stored_attributes(trees: Iterable[ast.AST]) -> set[str]:
    """Return the names of attributes that a program sets, or whose collections it changes, outside of constructors.

    With `=` at its end: another name may have its value. ``a.b``: the attribute of what is an attribute itself.
    """
    found: set[str] = set()
    for tree in trees:
        for part in _outside_constructors(tree):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store | ast.Del):
                found |= {part.attr, *_above(part.value), *_of_attribute(part.value, part.attr)}
            elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store | ast.Del):
                found |= set(_above(part.value))
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                if part.func.attr not in _CHANGES_NOTHING:
                    found |= set(_above(part.func.value))
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "setattr":
                words = [word.value for word in part.args if isinstance(word, ast.Constant)]
                for word in (word for word in words if isinstance(word, str)):
                    found |= {word, *_of_attribute(part.args[0], word)}
            elif isinstance(part, ast.Assign) and isinstance(part.value, ast.Attribute):
                found |= {f"{part.value.attr}="}
    return found


def replaced_in_subclasses(name: str, classes: Sequence[ast.ClassDef]) -> set[str]:
    """Return what the bodies of the classes that are below another one set or define, by name."""
    names, found = {name}, set[str]()
    for node in classes:  # a class is defined after its bases
        if names & {ast.unparse(base).rpartition(".")[2] for base in node.bases}:
            names.add(node.name)
            found |= {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
            found |= {
                part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
    return found


def _outside_constructors(tree: ast.AST) -> Iterator[ast.AST]:
    rest = [tree]
    while rest:
        node = rest.pop()
        yield node
        rest += [
            child
            for child in ast.iter_child_nodes(node)
            if not (isinstance(child, ast.FunctionDef) and child.name == "__init__")
        ]


def _of_attribute(owner: ast.AST, name: str) -> Iterator[str]:
    if isinstance(owner, ast.Attribute):
        yield f"{owner.attr}.{name}"


def _above(node: ast.AST) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.func if isinstance(node, ast.Call) else node.value


def _is_data(word: ast.expr) -> bool:
    return ast.unparse(word.func if isinstance(word, ast.Call) else word) in _DATA


def _field(node: ast.expr) -> dict[str, ast.expr] | None:
    """Return the arguments of `field(…)`; None if an expression is something else."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in _FIELD:
        return {word.arg or "**": word.value for word in node.keywords}
    return None


def _fields(kind: SdkClass) -> Iterator[tuple[str, dict[str, ast.expr] | None]]:
    """Yield the fields of a data class in the order of its arguments, with what `field` says of each."""
    found: dict[str, dict[str, ast.expr] | None] = dict(_fields(kind.above)) if kind.above is not None else {}
    for part in kind.node.body if kind.is_data else ():
        is_field = isinstance(part, ast.AnnAssign) and "ClassVar" not in ast.unparse(part.annotation)
        if is_field and isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            found[part.target.id] = _field(part.value) if part.value is not None else None
    yield from found.items()

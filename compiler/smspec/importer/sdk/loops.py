"""What a loop, or code that may run at any time, may change: names, and entries of collections.

A loop is followed once, in place of each of its passes. So what a pass leaves for the next one is unknown, except the
entries that each pass sets before it uses their mapping.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from smspec.importer.sdk.arguments import shared_hyperparameters
from smspec.importer.sdk.callables import SdkClass, SubclassInstance
from smspec.importer.sdk.values import Collection, Entries, SdkInstance, SdkItems, SdkUnknown, Value, forget
from smspec.script.follow.code import SCOPES
from smspec.script.follow.frames import Function

if TYPE_CHECKING:
    from smspec.script.follow.frames import Frame
    from smspec.script.follow.interpreter import ProgramInterpreter

Step = Callable[[int], None]
_READS = frozenset(("get", "keys", "values", "items", "copy", "index", "count"))
_COPIES = frozenset(("dict", "list", "copy"))
Key = str | int


def doubt(run: ProgramInterpreter, node: ast.AST, frame: Frame, kept: frozenset[ast.AST], step: Step) -> None:
    """Treat as unknown what code may assign, and the collections that it may change, except through ``kept``."""
    code = run.codes.of(node)
    changes = dict(_changes(node, step))
    changed = {part: root for part, root in changes.items() if part not in kept}
    for source, is_copied in _aliases(node, {*changes.values()}, step):
        roots = {root for part, root in changed.items() if not is_copied or _depth(part) > 1}
        if roots & source[0]:
            for name in source[1]:
                _forget_named(name, frame)
    for name in sorted(code.shared):
        frame.module.set(name, SdkUnknown(name))
    for name in sorted(code.shared if isinstance(node, SCOPES) else code.shared | code.stored):
        frame.set(name, SdkUnknown(name))
    for part in changed:
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            _forget_below(part.func.value, frame)
            if part.func.attr == "set_hyperparameters":
                _forget_hyperparameters(part, _instance(part.func.value, frame))
        elif isinstance(part, ast.Attribute | ast.Subscript):
            _forget_entry(part, frame)


def set_before_use(node: ast.AST, frame: Frame, step: Step) -> frozenset[ast.AST]:
    """Return the entries that each pass of a loop sets before it uses their mapping."""
    found: set[ast.AST] = set()
    used: set[str] = set()
    body = node.body if isinstance(node, ast.For | ast.While) else []
    tests: list[ast.AST] = [node.test] if isinstance(node, ast.While) else []
    for statement in (*tests, *body):
        target, name, keys = _entry_set(statement)
        for part in ast.walk(statement.value if target and isinstance(statement, ast.Assign) else statement):
            step(1)
            if isinstance(part, ast.Name):
                used.add(part.id)
                value = frame.get(part.id)
                if isinstance(value, Function) or (isinstance(value, SdkInstance) and value.kind[:6] == "class "):
                    return frozenset(found)  # its code may use them
        if target is not None and name not in used and not _is_shared(name, keys, frame, step):
            found.add(target)
    return frozenset(found)


def _changes(node: ast.AST, step: Step) -> Iterator[tuple[ast.AST, str]]:
    """Yield what may change a collection, with the name that it begins with."""
    for part in ast.walk(node):
        step(1)
        if isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store | ast.Del):
            yield part, _root(part)
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr not in _READS:
            yield part, _root(part.func.value)


def _aliases(node: ast.AST, changed: set[str], step: Step) -> Iterator[tuple[tuple[set[str], list[str]], bool]]:
    """Yield the names that get a collection, or a copy with the same values in it, and where they have it from."""
    for part in ast.walk(node):
        step(1)
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(part, ast.Assign):
            targets, value = part.targets, part.value
        elif isinstance(part, ast.AnnAssign | ast.NamedExpr | ast.For):
            targets, value = [part.target], part.iter if isinstance(part, ast.For) else part.value
        names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)} & changed
        if names and value is not None:
            is_copied = not isinstance(part, ast.For) and _is_copy(value)
            held = [value] if not is_copied else list(ast.iter_child_nodes(value))
            sources = [_root(each) for each in held if isinstance(each, ast.expr)]
            yield (names, list(filter(None, sources))), is_copied


def _is_copy(node: ast.expr) -> bool:
    if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.BinOp):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    return name in _COPIES


def _root(node: ast.AST) -> str:
    """Return the name that an expression begins with; empty if it begins with something else."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _depth(node: ast.AST) -> int:
    """Return how many steps a change is below its name."""
    count = 0
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node, count = node.func.value, 1
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node, count = (node.func if isinstance(node, ast.Call) else node.value), count + 1
    return count


def _entry_set(statement: ast.AST) -> tuple[ast.Subscript | None, str, list[Key]]:
    """Return the entry that a statement such as ``request["Tags"] = []`` sets, its name, and the keys before it."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(target, ast.Subscript):
        name, keys = _steps(target)
        if name and isinstance(keys[-1], str):
            return target, name, keys[:-1]
    return None, "", []


def _steps(node: ast.AST) -> tuple[str, list[Key]]:
    """Return the name and the constant keys of an expression; an empty name if it is anything else."""
    keys: list[Key] = []
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        if not isinstance(node.slice.value, str) and (type(node.slice.value) is not int or node.slice.value < 0):
            return "", []
        keys.insert(0, node.slice.value)
        node = node.value
    return (node.id, keys) if isinstance(node, ast.Name) else ("", [])


def _way(name: str, keys: list[Key], frame: Frame) -> list[Collection] | None:
    """Return the collections from a name to what is under keys; None if one of them is not known."""
    value: object = frame.get(name)
    found: list[Collection] = []
    for key in (*keys, None):
        if not isinstance(value, Entries | SdkItems):
            return None
        found.append(value)
        if key is not None:
            value = value.members().get(key)
    return found


def _is_shared(name: str, keys: list[Key], frame: Frame, step: Step) -> bool:
    """Return whether the program may reach a collection by another name, or in another way."""
    way = _way(name, keys, frame)
    if way is None:
        return bool(keys)
    wanted = {id(each) for each in way}
    seen: set[int] = set()
    rest: list[Value] = []
    above: Frame | None = frame
    while above is not None:
        for other, held in above.names.items():
            if held is way[0] and other.strip() != name:
                return True
            rest.append(held if held is not way[0] else None)
        above = above.outer
    rest += [inner for each in way for inner in each.members().values() if not any(inner is one for one in way)]
    while rest:
        value = rest.pop()
        step(1)
        if id(value) in wanted:
            return True
        if isinstance(value, Collection) and id(value) not in seen:
            seen.add(id(value))
            rest += value.members().values()
    return False


def _forget_entry(part: ast.Attribute | ast.Subscript, frame: Frame) -> None:
    """Treat an entry as changed, and its mapping; the other entries stay as they are if the key is known."""
    owner = frame.get(part.value.id) if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) else None
    if isinstance(owner, SdkInstance | SdkClass) and isinstance(part, ast.Attribute):
        if isinstance(owner, SdkInstance) or not owner.kind:
            owner.set_attribute(part.attr, SdkUnknown(part.attr))
        return
    name, keys = _steps(part)
    way = _way(name, keys[:-1], frame) if name else None
    if way is not None and isinstance(way[-1], Entries):
        way[-1].is_known = False
        forget(way[-1].values.get(keys[-1]))
    else:
        _forget_below(part.value, frame)


def _instance(node: ast.expr, frame: Frame) -> SdkInstance | None:
    value = frame.get(node.id) if isinstance(node, ast.Name) else None
    return value if isinstance(value, SdkInstance) else None


def _forget_hyperparameters(call: ast.Call, owner: SdkInstance | None) -> None:
    """Treat the hyperparameters that a call may set as unknown."""
    if owner is None:
        return
    known = shared_hyperparameters(owner) or owner.arguments.setdefault("set_hyperparameters", Entries({}))
    if not isinstance(known, Entries):
        return
    for word in call.keywords:
        if word.arg is None:
            known.is_known = False
        else:
            known.values[word.arg] = SdkUnknown(word.arg)


def _forget_below(node: ast.expr, frame: Frame) -> None:
    """Treat the collection that an expression is as changed, or else all below its name."""
    name, keys = _steps(node)
    way = _way(name, keys, frame) if keys else None
    if way is not None:
        forget(way[-1])
    else:
        _forget_named(_root(node), frame)


def _forget_named(name: str, frame: Frame) -> None:
    value = frame.get(name) if name else None
    if isinstance(value, SdkItems | Entries) or (isinstance(value, SubclassInstance) and not value.kind):
        forget(value)

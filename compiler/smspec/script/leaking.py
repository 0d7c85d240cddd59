"""What is out of sight once a function is handed on: others may run it at any time, or never."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from smspec.script.names import Named
from smspec.script.reach import ENDING_METHODS, EXITS, SEE_ALL

if TYPE_CHECKING:
    from smspec.script.frame import Frame
    from smspec.script.interpreter import Interpreter

_Code = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
NODES_A_STEP = 8
"""Nothing of them is followed, so that a step is cheap."""

_LISTS = ("sys.argv", "os.environ")
_READS = frozenset({"copy", "get", "index", "items", "keys", "values"})


def leak(run: Interpreter, node: ast.AST, frame: Frame) -> None:
    """Know nothing any more of what the code of ``node`` names; ``frame`` is where it looks for names."""
    own = set(_own_names(node))
    for number, part in enumerate(ast.walk(node)):
        if number % NODES_A_STEP == 0:
            run.step()
        if isinstance(part, ast.Name) and part.id not in own:
            frame.leak(part.id)
            _reached(run, part.id if frame.get(part.id) is None else "")
        elif isinstance(part, ast.Global | ast.Nonlocal):
            for name in part.names:
                frame.forget_for_good(name)
        elif isinstance(part, ast.Raise) and _name(frame, part.exc) == "SystemExit":
            run.ends()
        if isinstance(part, ast.Name | ast.Attribute):
            _reached(run, _name(frame, part))
        if isinstance(part, ast.Attribute) and part.attr in ENDING_METHODS:
            run.ends()
    for name in _changed_lists(node, frame):
        run.handed_on(name)


def _reached(run: Interpreter, name: str) -> None:
    if name in SEE_ALL:
        run.handed_on(name)
    elif name in EXITS:
        run.ends()


def _changed_lists(node: ast.AST, frame: Frame) -> Iterator[str]:
    """Yield which of the two lists of the program the code does more with than to read it."""
    read: set[int] = set()
    for part in ast.walk(node):
        match part:
            case ast.Subscript(value=value, ctx=ast.Load()):
                read.add(id(value))
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _READS:
                read.add(id(value))
            case ast.Call(func=ast.Name(id="len" | "print" | "dict" | "list"), args=[value]):
                read.add(id(value))
            case ast.Compare(comparators=[value]):
                read.add(id(value))
    for part in ast.walk(node):
        if isinstance(part, ast.Name | ast.Attribute) and id(part) not in read:
            name = _name(frame, part)
            if name in _LISTS:
                yield name


def _name(frame: Frame, node: ast.expr | None) -> str:
    """Return the full name of something of another module, or of a builtin."""

    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Name):
        found = frame.get(node.id)
        return found.name if isinstance(found, Named) else node.id if found is None else ""
    if isinstance(node, ast.Attribute):
        owner = _name(frame, node.value) if isinstance(node.value, ast.Name | ast.Attribute) else ""
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def _own_names(node: ast.AST) -> Iterator[str]:
    """Yield the parameters and variables of a function, which are nobody else's."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return
    args = node.args
    for parameter in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))):
        yield parameter.arg
    shared = {name for part in ast.walk(node) if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
    body = [] if isinstance(node, ast.Lambda) else list(node.body)
    rest: list[ast.AST] = [*body]
    while rest:
        part = rest.pop()
        if isinstance(part, _Code):
            continue
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id not in shared:
            yield part.id
        rest += ast.iter_child_nodes(part)

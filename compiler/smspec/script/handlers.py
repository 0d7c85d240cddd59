"""The handler of a job: whether its module has it, and whether the runtime can call it with what it passes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from smspec.script.reach import HandlerFault
from smspec.script.script_files import nodes_of, parsed
from smspec.source import SourceText, Span

_LOOP = {
    "begin": ("job",),
    "resume": ("job", "epoch"),
    "epoch": ("job", "epoch", "streams"),
    "end": ("job",),
}
"""Method of a handler of `pipe_loop` → the arguments that the runtime passes."""

_NAMES = "`begin`, `resume`, `epoch`, and `end`"
_Callable = ast.FunctionDef | ast.ClassDef

# With any of these, a module may have names that do not occur in its text.
_BY_OTHER_MEANS = re.compile(
    r"\bimport\s*\(?\s*\*|\b(?:exec|eval|globals|locals|vars|setattr|__getattr__|__dict__|sys\s*\.\s*modules)\b"
)
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


def handler_faults(text: SourceText, name: str, *, is_loop: bool) -> Iterator[HandlerFault]:
    """Yield why the runtime cannot call a function or class of a module; nothing where that is not certain."""
    tree = parsed(text)
    node = None if tree is None else _definition(tree, text.text, name)
    if isinstance(node, ast.FunctionDef):
        yield from _of_call(node, name, _LOOP["epoch"] if is_loop else ("job",), text, bound=0)
    elif isinstance(node, ast.ClassDef) and is_loop and _is_plain(node):
        yield from _of_class(node, text)


def _definition(tree: ast.Module, text: str, name: str) -> _Callable | None:
    """Return the only definition of a name at the top of a module, if nothing replaces it."""
    found = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name
    ]
    (node,) = found if len(found) == 1 else (None,)
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.decorator_list:
        return None
    others = rf"\b{re.escape(name)}\s*(?:=[^=]|\.\w+\s*=[^=])|\bas\s+{re.escape(name)}\b|\b(?:globals|exec|setattr)\b"
    return None if re.search(others, text) else node


def _is_plain(node: ast.ClassDef) -> bool:
    """Return whether a class has only what its own body defines."""
    bases = [base.id if isinstance(base, ast.Name) else "" for base in node.bases]
    names = {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return (
        not node.keywords and bases in ([], ["object"]) and not names & {"__new__", "__getattr__", "__getattribute__"}
    )


def _of_class(node: ast.ClassDef, text: SourceText) -> Iterator[HandlerFault]:
    methods = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    words = {word for one in nodes_of(node) for word in _names(one)}
    if not words & {*_LOOP, "__call__"}:
        reason = f"class `{node.name}` has none of {_NAMES}"
        yield HandlerFault(
            reason=reason, place=_place(node, text), help="add a method `epoch(self, job, epoch, streams)`"
        )
        return
    makes = methods.get("__init__")
    if makes is not None and not makes.decorator_list:
        yield from _of_call(makes, node.name, (), text, bound=1)
    for name, passed in _LOOP.items():
        method = methods.get(name)
        if method is not None and not method.decorator_list and _definitions(node, name) == 1:
            yield from _of_call(method, f"{node.name}.{name}", passed, text, bound=1)


def _definitions(node: ast.ClassDef, name: str) -> int:
    """Return how often a class defines a name, or sets an attribute of that name."""
    own = [one for one in node.body if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    set_in_body = [
        one.id
        for statement in own
        for one in ast.walk(statement)
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)
    ]
    defined = [one.name for one in nodes_of(node) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    attributes = [
        one.attr for one in nodes_of(node) if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)
    ]
    return [*set_in_body, *defined, *attributes].count(name)


def _names(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a part of a class may define, or set on its object."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.Constant):
        return (node.value,) if isinstance(node.value, str) else ()
    return (node.id,) if isinstance(node, ast.Name) else ()


def _of_call(
    node: ast.FunctionDef, name: str, passed: tuple[str, ...], text: SourceText, *, bound: int
) -> Iterator[HandlerFault]:
    """Yield why a function cannot be called with positional arguments; ``bound``: how many Python passes itself."""
    takes = node.args
    most = len(takes.posonlyargs) + len(takes.args) - bound
    least = most - len(takes.defaults)
    required = [
        parameter.arg for parameter, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if default is None
    ]
    count = len(passed)
    given = f"({', '.join(passed)})"
    if most < 0 and takes.vararg is None:
        reason = f"method `{name}` has no `self`"
    elif required:
        reason = f"`{name}` requires `{required[0]}`, which the runtime does not pass"
    elif count < least:
        reason = f"`{name}` requires {_arguments(least)}, but the runtime passes {count or 'none'}"
    elif count > max(most, 0) and takes.vararg is None:
        reason = f"`{name}` takes {_arguments(max(most, 0))}, but the runtime passes {count}"
    else:
        return
    yield HandlerFault(
        reason=reason, place=_place(node, text), help=f"change the parameters: the runtime calls `{name}{given}`"
    )


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _place(node: _Callable, text: SourceText) -> Span:
    return Span(text.name, node.lineno, node.col_offset + 1, node.lineno, node.col_offset + 2)


def lacks(text: str, name: str) -> bool:
    """Return whether a module certainly has nothing called ``name``: the word does not occur in its text."""
    if re.search(rf"\b{re.escape(name)}\b", text) or _BY_OTHER_MEANS.search(text):
        return False
    if text.isascii():
        return True
    import unicodedata  # imported late, and only for a likely finding: the module is slow to load

    # Python normalizes letters that only look different, such as `ﬁ` and `fi`.
    return not re.search(rf"\b{re.escape(name)}\b", unicodedata.normalize("NFKC", text))


def definitions(text: str) -> tuple[str, ...]:
    """Return the public functions and classes of a module, in order."""
    return tuple(name for name in dict.fromkeys(_DEFINITION.findall(text)) if not name.startswith("_"))

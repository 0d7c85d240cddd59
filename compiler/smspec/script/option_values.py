"""What a script does with the value of an option, where a word such as `none` is not what the author means."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Set
from typing import Literal

from smspec.script.program import DeclaredOption, bare
from smspec.script.script_files import nodes_of, parsed
from smspec.source import SourceText

_OF_FILES = re.compile(r"(?:.*[-_])?(?:resume|checkpoint|ckpt|path|file|filename|dir|directory|folder)(?:[-_]from)?")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_RESULTS = frozenset(
    {
        "FLAGS",
        "a",
        "arguments",
        "args",
        "cfg",
        "conf",
        "config",
        "flags",
        "hparams",
        "hyperparameters",
        "opt",
        "options",
    }
    | {"opts", "params", "parsed", "parsed_args"}
)
"""Names of what a parser returns, where the script does not show that."""

_PARSES = frozenset({"parse_args", "parse_known_args"})
_OPENS = frozenset({"load_checkpoint", "load_from_checkpoint", "load_model", "load_weights", "open"})
_LOADS = frozenset({"jnp", "joblib", "np", "numpy", "paddle", "torch"})
"""Libraries whose `load` opens the file that its argument names."""

_ASKS_FOR_FILES = frozenset({"exists", "isdir", "isfile"})

_KEEPS = frozenset({"Path", "bool", "int", "len", "print", "repr", "str", "type", *_OPENS})
"""Functions that understand no such word."""


def meant_as(option: DeclaredOption, name: str, texts: Iterable[SourceText]) -> Literal["file", "truth", ""]:
    """Return what a script, which does not contain the word, takes the value of an option for, passed as ``name``."""
    return "file" if _OF_FILES.fullmatch(bare(name)) else used_as(option, texts)


def used_as(option: DeclaredOption, texts: Iterable[SourceText]) -> Literal["file", "truth", ""]:
    """Return what a script does with the value of an option, whatever its name is.

    A value that is tested for its truth may be a word of a library that gets it, such as a padding: then its truth
    shows nothing.
    """
    uses = list(_uses(option, texts))
    defined = {node.name for nodes, _, _ in uses for node in nodes if isinstance(node, _DEFINITIONS)}
    is_tested = may_be_a_word = False
    for nodes, results, values in uses:
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        if any(id(_opened(call)) in values for call in calls):
            return "file"
        is_tested |= any(id(test) in values for node in nodes for test in _tests(node))
        quiet = {id(part) for part in _quiet(nodes, values)}
        may_be_a_word |= bool(values - quiet)
        for call in calls:
            given = [*call.args, *(one.value for one in call.keywords)]
            is_whole = any(isinstance(one, ast.Name) and one.id in results for one in given)
            may_be_a_word |= is_whole and _last(call.func) not in defined | _KEEPS and id(call) not in quiet
    return "truth" if is_tested and not may_be_a_word else ""


def is_guarded(option: DeclaredOption, texts: Iterable[SourceText]) -> bool:
    """Return whether a script compares the value of an option with others, or only asks for a file of that name."""
    for nodes, _, values in _uses(option, texts):
        tests = [node.test for node in nodes if isinstance(node, ast.If | ast.While | ast.IfExp)]
        is_bare = any(id(test) in values for test in tests if not isinstance(test, ast.BoolOp))
        for node in nodes:
            match node:
                case ast.Compare(ops=[op, *_]) if not isinstance(op, ast.Is | ast.IsNot):
                    parts = [node.left, *node.comparators]
                case ast.Attribute(value=value):
                    parts = [value]
                case ast.Call(args=[first, *_]) if _last(node.func) in _ASKS_FOR_FILES and not is_bare:
                    parts = [first]
                case _:
                    continue
            if any(id(part) in values for part in parts):
                return True
    return False


def _uses(option: DeclaredOption, texts: Iterable[SourceText]) -> Iterator[tuple[list[ast.AST], Set[str], set[int]]]:
    """Yield the nodes of each text, the names of what its parsers return, and the expressions that may be the value."""
    names = {one.lstrip("-").replace("-", "_") for one in (option.label, *option.names)}
    for text in texts:
        tree = parsed(text)
        if tree is not None:
            nodes = nodes_of(tree)
            results = _RESULTS | {*_results(nodes)}
            yield nodes, results, _values(nodes, names, results)


def _values(nodes: list[ast.AST], names: set[str], results: Set[str]) -> set[int]:
    """Return the expressions that may be the value: the attribute, variables that only ever are it, and choices."""
    stored = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored += [node.arg for node in nodes if isinstance(node, ast.arg)]
    found: set[int] = set()
    known: set[str] = set()
    for _ in range(3):  # a copy of a choice of a copy is enough
        for node in nodes:
            match node:
                case ast.Attribute(ctx=ast.Load()):
                    is_value = node.attr in names and _last(node.value) in results
                case ast.Name(ctx=ast.Load()):
                    is_value = node.id in known
                case ast.BoolOp() | ast.IfExp():
                    is_value = any(id(part) in found for part in _parts(node))
                case ast.Assign(targets=[ast.Name()]) if id(node.value) in found:
                    known |= {one.id for one in node.targets if isinstance(one, ast.Name) and stored.count(one.id) == 1}
                    continue
                case _:
                    continue
            found |= {id(node)} if is_value else set()
    return found


def _parts(node: ast.AST) -> list[ast.expr]:
    """Return the expressions one of which is the value of a choice."""
    return (
        node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
    )


def _results(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _last(node.value.func) in _PARSES:
            for target in node.targets:
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                yield _last(first)


def _last(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _opened(call: ast.Call) -> ast.AST | None:
    """Return the name of the file that a call opens, also as a path."""
    name, owner = _last(call.func), call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(owner, ast.Call) and name in ("open", "read_bytes", "read_text"):
        call, name = owner, "open" if _last(owner.func) == "Path" else ""
    if name not in _OPENS and (name != "load" or owner is None or _last(owner) not in _LOADS):
        return None
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Call) and _last(first.func) in ("Path", "str"):
        return first.args[0] if first.args else None
    return first


def _tests(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node tests for its truth, or compares with None."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test
    elif isinstance(node, ast.BoolOp):
        yield from node.values[: None if isinstance(node.op, ast.And) else -1]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
        yield node.left


def _quiet(nodes: list[ast.AST], values: set[int]) -> Iterator[ast.AST]:
    """Yield the expressions whose place shows that no code gets a word from them which it may understand."""
    names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    others = {node.id for node in names if id(node) not in values}
    for node in nodes:
        yield from _tests(node)
        yield from _parts(node)
        match node:
            case ast.Call() if _last(node.func) in _KEEPS:
                yield from node.args
            case ast.FormattedValue():
                yield node.value
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in others:
                yield node.value

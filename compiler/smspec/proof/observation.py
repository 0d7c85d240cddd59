"""What the driver observes: how a script ends before its parser, or an import.

Of the words that `parse_known_args` leaves, another parser may reject some.
"""

from __future__ import annotations

import ast
import json
import os
import signal
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

from smspec.proof.driver import starting
from smspec.proof.sandbox import Ended, Sandbox, is_list_of_texts
from smspec.proof.start import Start
from smspec.source.frozen import dataclass
from smspec.source.real_file import remove_tree

Kind = Literal["parsed", "imported", "rejected", "raised", "caught", "ended", "late", "killed", "lost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """An exception. ``kinds``: its classes. ``frames``: the files and lines that led to it, the last one last.

    ``module``: the module that an ImportError is about.
    """

    kind: str
    kinds: tuple[str, ...]
    message: str
    frames: tuple[tuple[str, int], ...]
    module: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """``modules`` were imported; ``libraries`` are the shared libraries in use. ``detail`` is the end of its output.

    ``message``: that of a parser. ``is_open``: another parser may read what it leaves. ``caught``: the script went on
    after its parser had rejected the arguments. ``lost``: the process ended without a result.
    """

    kind: Kind
    ended: Ended
    modules: frozenset[str] = frozenset()
    libraries: tuple[str, ...] = ()
    message: str = ""
    raised: Raised | None = None
    is_open: bool = False

    @property
    def signal_name(self) -> str:
        """The signal that killed the process."""
        number = self.ended.status - 128
        return next((one.name for one in signal.Signals if one == number), f"signal {number}")


def observe_start(start: Start, sandbox: Sandbox, parsers: int, rests: ParserRests) -> Observation:
    """Run the script until its parsers have read the command line."""
    result = sandbox.path("parsed.json")
    asked = {"result": result, "writable": sandbox.writable, "code": start.directory, "parsers": parsers}
    asked |= {"taken": rests.taken, "open": rests.open}
    environment = {**start.environment, starting.PARSE: json.dumps(asked)}
    return _observation(sandbox.run(start.words, environment, start.directory), sandbox.result(result))


def observe_import(
    start: Start,
    sandbox: Sandbox,
    module: str,
    before: Iterable[str] = (),
    members: Iterable[tuple[str, str]] = (),
) -> Observation:
    """Import one module in a process of its own, as the script would; ``before``: modules that it imports first.

    ``members``: names that it takes from modules.
    """
    result = sandbox.path("imported.json")
    if os.path.isdir(result) and not os.path.islink(result):
        remove_tree(result)
    elif os.path.lexists(result):
        os.unlink(result)
    script = start.argv[0] if start.argv else ""
    place = os.path.dirname(os.path.join(start.directory, script)) if script.endswith(".py") else start.directory
    asked = {
        "result": result,
        "writable": sandbox.writable,
        "argv": start.argv,
        "place": place,
        "modules": [*before, module],
        "members": [*members],
    }
    environment = {**start.environment, starting.IMPORT: json.dumps(asked)}
    ended = sandbox.run([start.python, start.driver], environment, start.directory)
    return _observation(ended, sandbox.result(result))


def _observation(ended: Ended, record: Mapping[str, Any] | None) -> Observation:
    if record is None or not _is_of_the_driver(record):
        kind: Kind = "late" if ended.is_late else "killed" if 128 < ended.status < 128 + 65 else "lost"
        return Observation(kind=kind, ended=ended)
    return Observation(
        kind=record["kind"],
        ended=ended,
        modules=frozenset(record["modules"]),
        libraries=tuple(record["libraries"]),
        message=record.get("message") or "",
        raised=_raised(record) if record["kind"] == "raised" else None,
        is_open=record.get("is_open", False),
    )


def _is_of_the_driver(record: Mapping[str, Any]) -> bool:
    """Return whether a record has the form in which the driver writes it: the script may have written another one."""
    is_raised = record.get("kind") == "raised"
    words = [record.get(name) for name in ("modules", "libraries", *(("kinds",) if is_raised else ()))]
    texts = [record.get("message"), *((record.get("type"),) if is_raised else ())]
    frames = record.get("frames", [])
    return (
        record.get("kind") in get_args(Kind)
        and all(is_list_of_texts(each) for each in words)
        and all(text is None or isinstance(text, str) for text in texts)
        and isinstance(frames, list)
        and all(isinstance(frame, list) and [*map(type, frame)] == [str, int] for frame in frames)
    )


def _raised(record: Mapping[str, Any]) -> Raised:
    module = record.get("module")
    return Raised(
        kind=record["type"] or "",
        kinds=tuple(record["kinds"]),
        message=record["message"] or "",
        frames=tuple((path, line) for path, line in record["frames"]),
        module=module if isinstance(module, str) else None,
    )


_KNOWN = frozenset({"parse_known_args", "parse_known_intermixed_args"})
_PARSES = _KNOWN | {"parse_args", "parse_intermixed_args", "parse_args_into_dataclasses"}

Place = tuple[str, int, int]
"""A file, and the first and the last line of a call in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParserRests:
    """Calls whose rest the next parser certainly reads, ``taken``, or may read, ``open``."""

    taken: tuple[Place, ...] = ()
    open: tuple[Place, ...] = ()


def parser_rests(texts: Mapping[str, str]) -> ParserRests:
    """Return the calls in files, by their path, whose rest matters."""
    trees = {
        path: tree
        for path, text in texts.items()
        if "parse_" in text or "argv" in text
        for tree in [_parsed(text)]
        if tree is not None
    }
    readers = {call for tree in trees.values() for call in _calls(tree, _PARSES) if _reads_words(call)}
    sets_argv = any(_sets_command_line(tree) for tree in trees.values())
    taken: list[Place] = []
    unsure: list[Place] = []
    for path, tree in trees.items():
        followed = set(_followed(tree))
        dropped = set(_dropped(tree))
        for call in _calls(tree, _KNOWN):
            place = (path, call.lineno, call.end_lineno or call.lineno)
            if call in followed:
                taken.append(place)
            elif call not in dropped and (sets_argv or readers - {call}):
                unsure.append(place)
    return ParserRests(taken=tuple(taken), open=tuple(unsure))


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _calls(tree: ast.AST, names: Iterable[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node


def _words(call: ast.Call) -> ast.expr | None:
    named = (keyword.value for keyword in call.keywords if keyword.arg in ("args", None))
    return call.args[0] if call.args else next(named, None)


def _reads_words(call: ast.Call) -> bool:
    """Return whether a parser reads other words than the command line."""
    words = _words(call)
    if words is None or isinstance(words, ast.Constant | ast.List):
        return False
    return not any(isinstance(node, ast.Attribute) and node.attr == "argv" for node in ast.walk(words))


def _sets_command_line(tree: ast.Module) -> bool:
    attributes = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "argv")
    stored = (node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
    return any(isinstance(node.ctx, ast.Store) for node in attributes) or any(
        isinstance(node.value, ast.Attribute) and node.value.attr == "argv" for node in stored
    )


def _rest_name(statement: ast.stmt) -> tuple[ast.Call, str] | None:
    """Return the call of `args, rest = parser.parse_known_args()`, and the name of its rest."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, call = statement.targets[0], statement.value
    if not (isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[1], ast.Name)):
        return None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _KNOWN:
        return call, target.elts[1].id
    return None


def _followed(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls whose rest a later statement of the same block gives to a parser."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        block: list[ast.stmt] = body if isinstance(body, list) else []
        for number, statement in enumerate(block):
            named = _rest_name(statement)
            if named is not None and any(_takes(each, named[1]) for each in block[number + 1 :]):
                yield named[0]


def _takes(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return):
        return False
    words = (_words(call) for call in _calls(statement, _PARSES))
    return any(isinstance(each, ast.Name) and each.id == name for each in words)


def _dropped(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls whose rest nothing reads."""
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        named = _rest_name(node) if isinstance(node, ast.stmt) else None
        if named is not None and named[1] not in loaded:
            yield named[0]
        elif isinstance(node, ast.Expr | ast.Subscript) and isinstance(node.value, ast.Call):
            index = node.slice if isinstance(node, ast.Subscript) else None
            if index is None or (isinstance(index, ast.Constant) and index.value == 0):
                yield node.value

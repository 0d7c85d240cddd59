"""Parses a program and follows it: as a script, or as the module of a function that is called with the job."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.frame import Frame
from smspec.script.functions import Function
from smspec.script.interpreter import Interpreter, TooLong
from smspec.script.modules import Module
from smspec.script.program import CommandLine, Program, Stop
from smspec.script.readable import Unreadable, is_readable
from smspec.script.readers import handler_of, lookup_of
from smspec.script.reading import MOST_MODULES, WORDS, Beside
from smspec.script.values import UNKNOWN, Known, Value
from smspec.source import SourceText
from smspec.source.frozen import replace

_PHASES = ("begin", "epoch", "end")


def followed(text: SourceText, beside: Beside, handler: str | None) -> Program:
    """Return what is known of a program. Raises `Unreadable` for one that this Python cannot parse, or follow."""
    shelf = _Shelf(beside)
    run = Interpreter(handler_of, lookup_of, shelf.find)
    tree = _tree(text)
    if tree is None:
        raise Unreadable("the Python that runs smspec cannot parse it")
    frame = Frame(text)
    frame.names |= _module_names("__main__" if handler is None else "handler")
    try:
        run.module(tree, frame)
        if handler is not None:
            _call_handler(run, frame, handler)
    except (TooLong, RecursionError):
        raise Unreadable("it is too long or too deeply nested to follow") from None
    is_silent = run.is_tampered or shelf.is_tampered
    return Program(
        texts=(text, *shelf.texts),
        command_lines=() if is_silent else tuple(dict.fromkeys(_with_left_over(run))),
        variables=tuple(dict.fromkeys(run.variables)),
        channels=tuple(dict.fromkeys(run.channels)),
        hyperparameters=tuple(dict.fromkeys(run.hyperparameters)),
        file_uses=() if run.is_blind else tuple(dict.fromkeys(run.file_uses)),
        process_groups=() if run.is_blind else tuple(run.process_groups),
        stop=_stop(run, text, is_silent) if handler is None else None,
    )


_LIBRARIES = frozenset(
    {"configargparse", "docopt", "fire", "getopt", "gin", "hydra", "optparse", "plac", "simple_parsing", "tap", "tyro"}
)
"""Who reads a command line in ways that no reader knows."""

_READING = re.compile(
    r"\bargparse\b|\bHfArgumentParser\b|^[ \t]*(?:from|import)[ \t]+(?:click|typer|absl|jsonargparse)\b", re.M
)


def _with_left_over(run: Interpreter) -> Iterator[CommandLine]:
    """Yield the command lines, now that it is known what was done with what they leave over."""
    for line in run.command_lines:
        left_over = run.left_over.get(line)
        yield line if left_over is None or left_over.is_used else replace(line, drops=True)


def _stop(run: Interpreter, text: SourceText, is_silent: bool) -> Stop | None:
    """Return why the arguments of a script are not known, or not all; None where they are, or it takes none."""
    if run.command_lines and is_silent:
        return Stop(reason="the script changes `sys.argv`, or what reads it", place=run.command_lines[0].place)
    if run.stops:
        return run.stops[0]
    if run.command_lines:
        return None
    for library in sorted(_LIBRARIES & {name.partition(".")[0] for name in run.imported}):
        return Stop(reason=f"smspec does not know how `{library}` reads them", place=None)
    if _READING.search(text.text):
        return Stop(reason="smspec could not follow the script to where it reads them", place=None)
    return None


class _Shelf:
    """The modules beside a program: those that it imports itself are followed, and what these import is not."""

    def __init__(self, beside: Beside) -> None:
        self.texts: list[SourceText] = []
        self.is_tampered = False
        self._beside = beside
        self._modules: dict[str, Module | None] = {}
        self._is_inside = False

    def find(self, run: Interpreter, name: str) -> Module | None:
        if self._is_inside or name.partition(".")[0] in ("smspec_runtime",):
            return None
        if name not in self._modules:
            self._modules[name] = None  # also while it is followed
            text = self._beside(name) if len(self._modules) <= MOST_MODULES else None
            if text is not None:
                self._modules[name] = self._followed(run, text, name)
        return self._modules[name]

    def _followed(self, run: Interpreter, text: SourceText, name: str) -> Module | None:
        if "sys.argv" in text.text:
            self.is_tampered = True
        tree = _tree(text) if any(word in text.text for word in (*WORDS, "dataclass")) else None
        frame = Frame(text)
        if tree is not None:
            frame.names |= _module_names(name)
            self.texts.append(text)
            self._is_inside = True
            run.module(tree, frame)
            self._is_inside = False
        return Module(frame)


def _tree(text: SourceText) -> ast.Module | None:
    if not is_readable(text.text):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, which are the program's affair
            return ast.parse(text.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _call_handler(run: Interpreter, frame: Frame, name: str) -> None:
    """Call a function, or the methods of a class, as the runtime does: with the job first."""
    found = frame.get(name)
    from smspec.script.readers.job import Job  # late: few programs are handlers

    node = ast.parse("handler()", mode="eval").body
    assert isinstance(node, ast.Call)

    def call() -> Call:
        return Call(run, node, (Job(run),), {}, True)

    if isinstance(found, Function):
        found.call(call())
    elif isinstance(found, Class) and not found.bases:
        instance = found.call(Call(run, node, (), {}, True))
        for phase in _PHASES:
            if isinstance(found.function(phase), Function):
                instance.method(phase, call())


def _module_names(name: str) -> dict[str, Value]:
    """Return the names that a module finds when it starts."""
    return {"__name__": Known(name), "__file__": UNKNOWN, "TYPE_CHECKING": Known(False)}

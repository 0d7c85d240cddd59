"""Parses a program and follows it: as a script, or as the module of a function that is called with the job."""

from __future__ import annotations

import ast
import warnings

from smspec.script.call import Call
from smspec.script.frame import Frame
from smspec.script.interpreter import Interpreter, TooLong
from smspec.script.program import Program
from smspec.script.readable import is_readable
from smspec.script.readers import handler_of, lookup_of
from smspec.script.reading import MOST_MODULES, WORDS, Beside
from smspec.script.values import UNKNOWN, Class, Function, Known, Module, Value
from smspec.source import SourceText

_PHASES = ("begin", "epoch", "end")


def followed(text: SourceText, beside: Beside, handler: str | None) -> Program | None:
    """Return what is known of a program; None for one that this Python cannot parse, or that is too much to follow."""
    shelf = _Shelf(beside)
    run = Interpreter(handler_of, lookup_of, shelf.find)
    tree = _tree(text)
    if tree is None:
        return None
    frame = Frame(text)
    frame.names |= _module_names("__main__" if handler is None else "handler")
    try:
        run.module(tree, frame)
        if handler is not None:
            _call_handler(run, frame, handler)
    except (TooLong, RecursionError):
        return None
    is_silent = run.is_tampered or shelf.is_tampered
    return Program(
        texts=(text, *shelf.texts),
        command_lines=() if is_silent else tuple(dict.fromkeys(run.command_lines)),
        channels=tuple(dict.fromkeys(read for read in run.channels if not run.may_have_set(read.written))),
        hyperparameters=tuple(
            dict.fromkeys(
                read for read in run.hyperparameters if read.by == "job" or not run.may_have_set(read.written)
            )
        ),
    )


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

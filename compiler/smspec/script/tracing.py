"""Parse a script and follow it: as a script, or as the module of a function that is called with the job."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.frame import Frame
from smspec.script.functions import Function
from smspec.script.interpreter import Interpreter, TooManySteps
from smspec.script.neighbors import Neighbors, names_at_start
from smspec.script.parse_limits import ScriptUnreadable
from smspec.script.parsing import parsed
from smspec.script.program import CommandLine, Program, Stop
from smspec.script.readers import handler_of, lookup_of
from smspec.script.script_files import Source
from smspec.source import SourceText
from smspec.source.frozen import replace

_PHASES = ("begin", "epoch", "end")


def followed(text: SourceText, source: Source, module: str, handler: str | None) -> Program:
    """Return what is known about a script. Raise `ScriptUnreadable` if this Python cannot parse or follow it.

    ``module``: its module name, ``__main__`` for a script.
    """
    tree = parsed(text)
    if tree is None:
        raise ScriptUnreadable("the Python that runs smspec cannot parse it")
    frame = Frame(text)
    frame.names |= names_at_start(module)
    frame.package = module if text.name.endswith("__init__.py") else module.rpartition(".")[0]
    neighbors = Neighbors(source, text, module, frame)
    run = Interpreter(handler_of, lookup_of, neighbors.find)
    try:
        for name in (*_AT_START, *filter(None, [frame.package])):
            neighbors.find(run, name)
        run.module(tree, frame)
        if handler is not None:
            _call_handler(run, frame, handler)
    except (TooManySteps, RecursionError):
        raise ScriptUnreadable("it is too long or too deeply nested to follow") from None
    return Program(
        texts=(text, *neighbors.texts),
        command_lines=() if run.is_tampered else tuple(dict.fromkeys(_with_left_over(run))),
        variables=tuple(dict.fromkeys(run.variables)),
        optional_variables=tuple(dict.fromkeys(run.optional_variables)),
        other_variables=tuple(dict.fromkeys(run.other_variables)),
        channel_uses=() if run.is_blind else tuple(dict.fromkeys(run.channel_uses)),
        aws_uses=() if run.is_blind else tuple(run.aws_uses),
        installations=() if run.is_blind else tuple(run.installations),
        searches=() if run.is_blind else tuple(dict.fromkeys(run.searches)),
        repeated_uses=() if run.is_blind else tuple(dict.fromkeys(run.repeated_uses)),
        channels=tuple(dict.fromkeys(run.channels)),
        hyperparameters=tuple(dict.fromkeys(run.hyperparameters)),
        file_uses=() if run.is_blind else tuple(dict.fromkeys(run.file_uses)),
        process_groups=() if run.is_blind else tuple(run.process_groups),
        stop=_stop(run, text) if handler is None else None,
    )


_AT_START = ("sitecustomize", "usercustomize")
"""Python imports these before any script."""

_LIBRARIES = frozenset(
    {"configargparse", "docopt", "fire", "getopt", "gin", "hydra", "optparse", "plac", "simple_parsing", "tap", "tyro"}
)
"""Libraries that parse a command line, and have no reader."""

_READING = re.compile(
    r"\bargparse\b|\bHfArgumentParser\b|^[ \t]*(?:from|import)[ \t]+(?:click|typer|absl|jsonargparse)\b", re.M
)


def _with_left_over(run: Interpreter) -> Iterator[CommandLine]:
    """Yield the command lines, once the use of their remaining arguments is known."""
    for line in run.command_lines:
        left_over = run.left_over.get(line)
        yield line if left_over is None or left_over.is_used else replace(line, drops=True)


def _stop(run: Interpreter, text: SourceText) -> Stop | None:
    """Return why the arguments of a script are not known, or not all of them; None if they are, or there are none."""
    if run.command_lines and run.is_tampered:
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


def _call_handler(run: Interpreter, frame: Frame, name: str) -> None:
    """Call a function, or the methods of a class, as the runtime does: with the job first."""
    found = frame.get(name)
    from smspec.script.readers.job import Job  # imported late: few scripts are handlers

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

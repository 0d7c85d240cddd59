"""Functions and classes that Fire calls: each parameter is an option, values are literals of Python or strings."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.script.call import Call
from smspec.script.classes import Class, Instance
from smspec.script.functions import Function
from smspec.script.interpreter import Handler, place_of
from smspec.script.program import Command, CommandLine, Option, Stop
from smspec.script.values import Value, constant


def _fire(call: Call) -> Value:
    component = call.argument(0, "component")
    extra = len(call.arguments) > 1 or call.keywords.keys() - {"component", "name"}
    line = None if extra or not call.is_whole else _command_line(call, component)
    if line is None:
        reason = "smspec only knows how `fire` calls plain functions, and classes with plain methods"
        call.run.stops.append(Stop(reason=reason, place=call.place))
    elif call.reads_arguments(""):
        call.run.command_lines.append(line)
    return call.unknown_result()


def _command_line(call: Call, component: Value | None) -> CommandLine | None:
    """Return what Fire accepts for a component; None if that is unknown."""
    if isinstance(component, Function):
        command = _command(call, component, own=False)
        return None if command is None else _line(call, command, ())
    kind = component.kind if isinstance(component, Instance) else component
    if not isinstance(kind, Class) or kind.bases or kind.decorators or kind.is_magic or kind.has_escaped:
        return None
    start = kind.function("__init__") if isinstance(component, Class) else None
    first = Command(name="", options=()) if start is None else _command(call, start, own=True)
    if first is None:
        return None
    return _line(call, first, tuple(_methods(call, kind)))


def _line(call: Call, first: Command, commands: tuple[Command, ...]) -> CommandLine:
    return CommandLine(
        library="fire",
        grammar="fire",
        options=first.options,
        place=call.place,
        is_complete=first.is_complete,
        commands=commands,
    )


def _methods(call: Call, kind: Class) -> Iterator[Command]:
    for name, value in kind.frame.names.items():
        if isinstance(value, Function) and not name.startswith("_"):
            command = _command(call, value, own=True)
            if command is not None:
                yield command


def _command(call: Call, function: Function, *, own: bool) -> Command | None:
    """Return the options of a function, or of a method without its ``own`` instance; None if they are unknown."""
    node = function.node.args
    if node.vararg is not None or node.posonlyargs or function.node.decorator_list or (own and not node.args):
        return None
    options = tuple(
        Option(
            names=(f"--{parameter.arg}",),
            label=parameter.arg,
            place=place_of(parameter, function.frame),
            kind="unknown",
            is_required=parameter.arg not in function.defaults,
            default=constant(function.defaults.get(parameter.arg)),
        )
        for parameter in (*node.args[own:], *node.kwonlyargs)
    )
    # What the function returns may get the remaining words: an object has methods.
    is_complete = node.kwarg is None and not call.run.codes.of(function.node).returns
    return Command(name=function.node.name, options=options, is_complete=is_complete)


HANDLERS: dict[str, Handler] = {"fire.Fire": _fire, "fire.core.Fire": _fire}

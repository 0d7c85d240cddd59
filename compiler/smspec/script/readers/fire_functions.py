"""Functions that Fire calls: each parameter is an option, values are literals of Python or strings."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.functions import Function
from smspec.script.interpreter import Handler, place_of
from smspec.script.program import CommandLine, Option, Stop
from smspec.script.values import Value


def _fire(call: Call) -> Value:
    function = call.argument(0, "component")
    extra = len(call.arguments) > 1 or call.keywords.keys() - {"component", "name"}
    if not isinstance(function, Function) or extra or not call.is_whole:
        reason = "smspec only knows how `fire` calls a plain function"
        call.run.stops.append(Stop(reason=reason, place=call.place))
        return call.unknown_result()
    node = function.node.args
    if node.vararg is not None or node.posonlyargs or function.node.decorator_list:
        call.run.stops.append(Stop(reason="the function has more than named parameters", place=call.place))
        return call.unknown_result()
    if call.reads_arguments(""):
        options = tuple(
            Option(
                names=(f"--{parameter.arg}",),
                label=parameter.arg,
                place=place_of(parameter, function.frame),
                kind="unknown",
                is_required=parameter.arg not in function.defaults,
            )
            for parameter in (*node.args, *node.kwonlyargs)
        )
        # What the function returns may get the remaining words: an object has methods.
        is_complete = node.kwarg is None and not call.run.codes.of(function.node).returns
        line = CommandLine(library="fire", grammar="fire", options=options, place=call.place, is_complete=is_complete)
        call.run.command_lines.append(line)
    return call.unknown_result()


HANDLERS: dict[str, Handler] = {"fire.Fire": _fire, "fire.core.Fire": _fire}

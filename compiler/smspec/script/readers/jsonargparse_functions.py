"""jsonargparse: options from the parameters of a function, based on argparse, with values parsed as YAML."""

from __future__ import annotations

import ast

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.evaluation import Evaluation
from smspec.script.external_names import Named
from smspec.script.functions import Function
from smspec.script.interpreter import Handler, place_of
from smspec.script.program import Kind, Option
from smspec.script.readers.annotation import annotation_of
from smspec.script.readers.argument_parser import Parser
from smspec.script.readers.config_action import loads_config
from smspec.script.readers.data_classes import fields_of
from smspec.script.values import UNKNOWN, Known, Value, constant
from smspec.source import Span
from smspec.source.frozen import replace

WORD = "jsonargparse"

_KINDS: dict[str, Kind] = {"int": "int literal", "float": "float literal"}
_ADDERS = ("add_class_arguments", "add_function_arguments", "add_method_arguments", "add_subclass_arguments")


class JsonParser(Parser):
    """``jsonargparse.ArgumentParser``: more types, and arguments from signatures, which are not followed."""

    library = "jsonargparse"

    def method(self, name: str, call: Call) -> Value:
        if name in (*_ADDERS, "add_dataclass_arguments"):
            self.is_complete = False
            return UNKNOWN
        if name == "set_defaults":
            self.escape()  # of what is required, too
            return call.unknown_result()
        if name in ("instantiate_classes", "instantiate", "dump", "save"):
            return UNKNOWN
        return super().method(name, call)

    def add(self, call: Call, exclusive: int | None) -> None:
        known = len(self.options)
        super().add(call, exclusive)
        kind = call.keywords.get("type")
        name = kind.name if isinstance(kind, Named) else ""
        # A word is YAML here, so only numbers are rejected as clearly as elsewhere.
        self.options[known:] = [
            replace(
                option,
                kind="unknown" if option.kind == "unknown" else _KINDS.get(name, "unknown"),
                choices=None,
                loads_config=option.loads_config or loads_config(call.keywords.get("action"), self.library),
            )
            for option in self.options[known:]
        ]


class FunctionParser(Parser):
    """The parser that ``jsonargparse.CLI(function)`` creates."""

    library = "jsonargparse"

    def __init__(self, call: Call) -> None:
        super().__init__(Call(call.run, call.node, (), {}, True))
        function = call.arguments[0] if len(call.arguments) == 1 else UNKNOWN
        positional = constant(call.keywords.get("as_positional", Known(True)))
        is_plain = call.is_whole and not call.keywords.keys() - {"as_positional", "description", "prog"}
        self.escaped = not is_plain or not isinstance(positional, bool) or not isinstance(function, Function)
        self.options.append(replace(_opaque("--config", call.place), loads_config=True))
        self.options += [_opaque(name, call.place) for name in ("--print_config", "--print_shtab")]
        if isinstance(function, Function):
            self._take(call, function, positional is True)

    def _take(self, call: Call, function: Function, positional: bool) -> None:
        node = function.node.args
        self.is_complete = node.kwarg is None and node.vararg is None
        for parameter in (*node.posonlyargs, *node.args, *node.kwonlyargs):
            if parameter.annotation is None:
                self.is_complete = False
            elif not parameter.arg.startswith("_"):
                self._add(call, function, parameter, positional)

    def _add(self, call: Call, function: Function, parameter: ast.arg, positional: bool) -> None:
        value = Evaluation(call.run, function.frame).value(parameter.annotation)
        place = place_of(parameter, function.frame)
        is_required = parameter.arg not in function.defaults
        if isinstance(value, Class):
            found = fields_of(call.run, value)
            # The values of a class can be passed in many ways: as one value, by its fields, or from a file.
            self.is_complete &= found is not None and found[1]
            for field in found[0] if found else ():
                self.options.append(_opaque(f"--{parameter.arg}.{field.name}", field.place))
            self.options.append(_opaque(f"--{parameter.arg}", place))
            return
        annotation = annotation_of(value)
        self.is_complete &= annotation.kind != "unknown"
        kind: Kind = "unknown"
        if not annotation.is_list and not annotation.may_be_none:
            kind = _KINDS.get(annotation.kind, "unknown")
        option = _opaque(f"--{parameter.arg}", place)
        is_positional = is_required and positional
        names = () if is_positional else option.names
        label = parameter.arg
        option = replace(option, names=names, label=label, words=1, kind=kind, is_required=is_required)
        self.options.append(replace(option, default=constant(function.defaults.get(label))))
        if annotation.is_list and not is_positional:
            self.options.append(_opaque(f"--{parameter.arg}+", place))


def _opaque(name: str, place: Span) -> Option:
    return Option(names=(name,), label=name, place=place, words="unknown", kind="unknown")


def _cli(call: Call) -> Value:
    parser = FunctionParser(call)
    parser.parse(Call(call.run, call.node, (), {}, True), is_complete=True)
    return call.unknown_result()


HANDLERS: dict[str, Handler] = {
    "jsonargparse.CLI": _cli,
    "jsonargparse.auto_cli": _cli,
    "jsonargparse.ArgumentParser": JsonParser,
}

"""Parsers based on argparse that turn signatures and fields into options: jsonargparse, tyro, and HfArgumentParser.

jsonargparse parses values as YAML.
"""

from __future__ import annotations

import ast

from smspec.script.follow.classes import Class
from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Call, Function
from smspec.script.follow.interpreter import place_of
from smspec.script.follow.values import UNKNOWN, Known, Named, Value, constant, items
from smspec.script.program import DeclaredOption, Kind, Words
from smspec.script.readers.argument_parser import Parser
from smspec.script.readers.data_classes import Annotation, Field, annotation_of, fields_of, is_none, loads_config
from smspec.script.record import Handler
from smspec.source import Span
from smspec.source.frozen import replace

_KINDS: dict[str, Kind] = {"int": "int literal", "float": "float literal"}
_ADDERS = ("add_class_arguments", "add_function_arguments", "add_method_arguments", "add_subclass_arguments")

_DEEPEST = 5
"""How deep dataclasses are nested in one another."""


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


def _opaque(name: str, place: Span) -> DeclaredOption:
    return DeclaredOption(names=(name,), label=name, place=place, words="unknown", kind="unknown")


def _jsonargparse(call: Call) -> Value:
    parser = FunctionParser(call)
    parser.parse(Call(call.run, call.node, (), {}, True), is_complete=True)
    return call.unknown_result()


class TyroParser(Parser):
    """The parser that ``tyro.cli`` creates; only numbers, strings, and truths are understood."""

    library = "tyro"

    def __init__(self, call: Call) -> None:
        super().__init__(Call(call.run, call.node, (), {}, True))
        self.abbreviates = False
        given = call.arguments[0] if len(call.arguments) == 1 else UNKNOWN
        self.escaped = not call.is_whole or bool(call.keywords.keys() - {"description", "prog"})
        self._add("--tyro-print-completion", Annotation(), call.place, is_required=False)
        self._add("--tyro-write-completion", Annotation(), call.place, is_required=False)
        if isinstance(given, Function):
            self._take_function(call, given)
        elif not isinstance(given, Class) or not self._take_fields(call, given, "--", has_default=False):
            self.escaped = True

    def _take_fields(self, call: Call, kind: Class, prefix: str, *, has_default: bool) -> bool:
        """Add the fields of a dataclass, and those of dataclasses in it; return whether it is one."""
        found = fields_of(call.run, kind) if prefix.count(".") < _DEEPEST else None
        if found is None:
            return False
        self.is_complete &= found[1]
        for field in found[0]:
            is_plain = field.is_plain and not field.annotation.extras
            annotation = field.annotation if is_plain else Annotation()
            name, is_set = f"{prefix}{field.name}", has_default or field.default is not None
            inner = annotation.structure
            if inner is None or not self._take_fields(call, inner, f"{name}.", has_default=is_set):
                default = ... if has_default else constant(field.default)  # the class around it may pass another value
                self._add(name, annotation, field.place, is_required=not is_set, default=default)
        return True

    def _take_function(self, call: Call, function: Function) -> None:
        node = function.node.args
        self.is_complete &= not (node.vararg or node.kwarg or node.posonlyargs)
        for parameter in (*node.args, *node.kwonlyargs):
            annotation = _annotation(call, function, parameter)
            is_required = parameter.arg not in function.defaults
            place = place_of(parameter, function.frame)
            default = constant(function.defaults.get(parameter.arg))
            self._add(f"--{parameter.arg}", annotation, place, is_required=is_required, default=default)

    def _add(self, name: str, annotation: Annotation, place: Span, *, is_required: bool, default: object = ...) -> None:
        """Add an option, with hyphens and with underscores; one of another type may be several, or none."""
        names = tuple(dict.fromkeys((name.replace("_", "-"), "--" + name[2:].replace("-", "_"))))
        is_known = annotation.kind != "unknown" and not annotation.is_list and not annotation.may_be_none
        if annotation.extras or (not is_known and not name.startswith("--tyro")):
            self.is_complete = False
            is_required = False
        label = name[2:]
        if is_known and annotation.is_bool and not is_required:
            no = tuple(f"{one[: one.rfind('.') + 1] or '--'}no-{one.rpartition('.')[2].lstrip('-')}" for one in names)
            no += tuple(one.replace("no-", "no_", 1) for one in no)
            self.options.append(DeclaredOption(names=(*names, *no), label=label, place=place, words=0, default=default))
            return
        is_plain = is_known and annotation.kind in ("int", "float", "text")
        self.options.append(
            DeclaredOption(
                names=names,
                label=label,
                place=place,
                words=1 if is_plain else "unknown",
                kind=annotation.kind if is_plain else "unknown",
                choices=annotation.choices if is_plain else None,
                is_required=is_required,
                default=default,
            )
        )


def _annotation(call: Call, function: Function, parameter: ast.arg) -> Annotation:
    if parameter.annotation is None:
        return Annotation()
    return annotation_of(Evaluation(call.run, function.frame).value(parameter.annotation))


def _tyro(call: Call) -> Value:
    parser = TyroParser(call)
    parser.parse(Call(call.run, call.node, (), {}, True), is_complete=True)
    return call.unknown_result()


class HfParser(Parser):
    library = "HfArgumentParser"

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        given = call.argument(0, "dataclass_types")
        self.escaped = not call.is_whole or bool(call.keywords.keys() - {"dataclass_types", "description", "prog"})
        for kind in items(given) or (given,):
            found = fields_of(call.run, kind) if isinstance(kind, Class) else None
            if found is None:
                self.is_complete = False  # a class of a library, such as TrainingArguments
            else:
                self.is_complete &= found[1]
                self._take(found[0])

    def method(self, name: str, call: Call) -> Value:
        if name == "parse_args_into_dataclasses":
            remaining = constant(call.keywords.get("return_remaining_strings", Known(False)))
            self.parse(call, is_complete=remaining is False and not call.arguments)
            return UNKNOWN
        if name in ("parse_json_file", "parse_yaml_file", "parse_dict"):
            return UNKNOWN
        return super().method(name, call)

    def _take(self, fields: list[Field]) -> None:
        for field in fields:
            self.options += _options(field)
            # Metadata are passed to argparse unchanged: more names, for example.
            self.escaped |= not field.is_plain


def _options(field: Field) -> list[DeclaredOption]:
    names = tuple(dict.fromkeys((f"--{field.name}", f"--{field.name.replace('_', '-')}")))
    annotation = field.annotation
    if annotation.is_bool:
        takes_none = not annotation.may_be_none or not (field.default is None or is_none(field.default))
        words: Words = "?" if takes_none else 1
        options = [
            DeclaredOption(
                names=names,
                label=field.name,
                place=field.place,
                words=words,
                kind="truth",
                default=constant(field.default),
            )
        ]
        if field.default is not None and constant(field.default) in (True, ...):
            no = tuple(dict.fromkeys((f"--no_{field.name}", f"--no-{field.name.replace('_', '-')}")))
            options.append(DeclaredOption(names=no, label=field.name, place=field.place, words=0))
        return options
    return [
        DeclaredOption(
            names=names,
            label=field.name,
            place=field.place,
            words="+" if annotation.is_list else 1,
            kind=annotation.kind,
            choices=annotation.choices,
            is_required=field.default is None,
            default=constant(field.default),
        )
    ]


HANDLERS: dict[str, Handler] = {
    "transformers.HfArgumentParser": HfParser,
    "transformers.hf_argparser.HfArgumentParser": HfParser,
    "jsonargparse.CLI": _jsonargparse,
    "jsonargparse.auto_cli": _jsonargparse,
    "jsonargparse.ArgumentParser": JsonParser,
    "tyro.cli": _tyro,
}

"""tyro: options from the parameters of a function, or from the fields of a dataclass."""

from __future__ import annotations

import ast

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.evaluation import Evaluation
from smspec.script.functions import Function
from smspec.script.interpreter import Handler, place_of
from smspec.script.program import Option
from smspec.script.readers.annotation import Annotation, annotation_of
from smspec.script.readers.argument_parser import Parser
from smspec.script.readers.data_classes import fields_of
from smspec.script.values import UNKNOWN, Value, constant
from smspec.source import Span

_DEEPEST = 5
"""How deep dataclasses are nested in one another."""


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
            self.options.append(Option(names=(*names, *no), label=label, place=place, words=0, default=default))
            return
        is_plain = is_known and annotation.kind in ("int", "float", "text")
        self.options.append(
            Option(
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


def _cli(call: Call) -> Value:
    parser = TyroParser(call)
    parser.parse(Call(call.run, call.node, (), {}, True), is_complete=True)
    return call.unknown_result()


HANDLERS: dict[str, Handler] = {"tyro.cli": _cli}

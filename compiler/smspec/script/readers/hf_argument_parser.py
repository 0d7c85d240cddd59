"""HfArgumentParser of transformers: options from the fields of dataclasses, based on argparse."""

from __future__ import annotations

from smspec.script.call import Call
from smspec.script.classes import Class
from smspec.script.program import Option, Words
from smspec.script.readers.argument_parser import Parser
from smspec.script.readers.data_classes import Field, fields_of, is_none
from smspec.script.sequences import items
from smspec.script.values import UNKNOWN, Known, Value, constant

WORD = "HfArgumentParser"


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


def _options(field: Field) -> list[Option]:
    names = tuple(dict.fromkeys((f"--{field.name}", f"--{field.name.replace('_', '-')}")))
    annotation = field.annotation
    if annotation.is_bool:
        takes_none = not annotation.may_be_none or not (field.default is None or is_none(field.default))
        words: Words = "?" if takes_none else 1
        options = [
            Option(
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
            options.append(Option(names=no, label=field.name, place=field.place, words=0))
        return options
    return [
        Option(
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


HANDLERS = {
    "transformers.HfArgumentParser": HfParser,
    "transformers.hf_argparser.HfArgumentParser": HfParser,
}

"""Flags of absl, which `app.run` parses from the command line."""

from __future__ import annotations

import sys
from functools import partial

from smspec.script.call import Call
from smspec.script.interpreter import Handler, Interpreter
from smspec.script.program import CommandLine, Kind, Option
from smspec.script.sequences import items
from smspec.script.values import UNKNOWN, Known, Value, constant, text
from smspec.source.frozen import replace

WORD = "absl"

_KINDS: dict[str, Kind] = {
    "string": "text",
    "integer": "int literal",
    "float": "float",
    "boolean": "truth",
    "bool": "truth",
    "enum": "text",
    "list": "text",
    "spaceseplist": "text",
    "multi_string": "text",
    "multi_integer": "int literal",
    "multi_float": "float",
}
_QUIET = frozenset(
    {"absl", "numpy", "tensorflow", "torch", "jax", "flax", "optax", "pandas", "sklearn", "scipy", "tqdm"}
)
"""Packages, besides the standard library, that define no flags when they are imported."""


class _Flags:
    """The flags of one script."""

    def __init__(self) -> None:
        self.options: dict[str, Option] = {}
        self.required: set[str] = set()
        self.is_complete = True


def _flags(run: Interpreter) -> _Flags:
    found = run.remembered.setdefault("absl", _Flags())
    assert isinstance(found, _Flags)
    return found


def _define(kind: str, call: Call) -> Value:
    flags = _flags(call.run)
    if "flag_values" in call.keywords:
        return call.unknown_result()  # they belong to a different command line
    name = text(call.argument(0, "name"))
    if name is None or not call.is_whole:
        flags.is_complete = False
        return call.unknown_result()
    names = [name, text(call.keywords.get("short_name"))]
    spelled = tuple(f"--{one}" for one in names if one)
    if kind in ("boolean", "bool"):
        spelled += tuple(f"--no{one}" for one in names if one)
    is_known = call.is_certain and kind in _KINDS
    choices = constant(call.argument(2, "enum_values")) if kind == "enum" else None
    flags.options[name] = Option(
        names=spelled,
        label=name,
        place=call.place,
        words=(0 if kind in ("boolean", "bool") else 1) if is_known else "unknown",
        kind=_kind(kind, call) if is_known else "unknown",
        choices=choices if isinstance(choices, tuple) and is_known else None,
        ignores_case="case_sensitive" in call.keywords,
        lowest=_bound(call, "lower_bound") if is_known else None,
        highest=_bound(call, "upper_bound") if is_known else None,
        default=constant(call.argument(1, "default")) if is_known else ...,
    )
    if constant(call.keywords.get("required", Known(False))) is True and call.is_certain:
        flags.required.add(name)
    return UNKNOWN


def _kind(kind: str, call: Call) -> Kind:
    choices = constant(call.argument(2, "enum_values"))
    return "unknown" if kind == "enum" and not isinstance(choices, tuple) else _KINDS[kind]


def _bound(call: Call, name: str) -> float | None:
    found = constant(call.keywords.get(name, Known(None)))
    return float(found) if isinstance(found, int | float) else None


def _set_default(call: Call) -> Value:
    """Record that a required flag may have a value now."""
    flags = _flags(call.run)
    flags.required.clear()
    flags.options = {name: replace(option, default=...) for name, option in flags.options.items()}
    return call.unknown_result()


def _define_by_parser(call: Call) -> Value:
    _flags(call.run).is_complete = False
    return call.unknown_result()


def _mark(call: Call) -> Value:
    if "flag_values" in call.keywords:
        return UNKNOWN
    given = call.argument(0, "flag_name") or call.argument(0, "flag_names") or UNKNOWN
    for value in items(given) or (given,):
        name = text(value)
        if name is not None and call.is_certain:
            _flags(call.run).required.add(name)
    return UNKNOWN


def _run(call: Call) -> Value:
    """``app.run(main)``: parses the command line, then calls a function with the remaining arguments."""
    run, flags = call.run, _flags(call.run)
    is_plain = len(call.arguments) == 1 and not call.keywords
    if not call.reads_arguments("" if is_plain else "`app.run` gets separate arguments"):
        return call.unknown_result()
    others = {name.partition(".")[0] for name in run.imported} - _QUIET - set(sys.stdlib_module_names)
    run.command_lines.append(
        CommandLine(
            library="absl",
            grammar="absl",
            options=tuple(
                replace(option, is_required=option.label in flags.required) for option in flags.options.values()
            ),
            place=call.place,
            # Any module may define flags; if all are known to define none, an unknown flag is a fault.
            is_complete=flags.is_complete and not others,
            abbreviates=False,
        )
    )
    return call.unknown_result()


def _gnu(call: Call) -> Value:
    call.run.is_tampered = True  # flags and other words may then be mixed, which is not followed
    return UNKNOWN


_DEFINITIONS = (*_KINDS, "multi_enum", "enum_class", "multi", "flag", "alias", "integer_list")

HANDLERS: dict[str, Handler] = {
    **{f"absl.flags.DEFINE_{kind}": partial(_define, kind) for kind in _DEFINITIONS},
    "absl.flags.DEFINE": _define_by_parser,
    "absl.flags.set_default": _set_default,
    "absl.flags.FLAGS.set_default": _set_default,
    "absl.flags.mark_flag_as_required": _mark,
    "absl.flags.mark_flags_as_required": _mark,
    "absl.flags.FLAGS.set_gnu_getopt": _gnu,
    "absl.app.run": _run,
}

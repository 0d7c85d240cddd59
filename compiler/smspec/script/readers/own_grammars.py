"""Libraries whose command line has a grammar of its own: Fire, Hydra, LightningCLI, OmegaConf, and absl.

Fire calls functions and classes: each parameter is an option, values are literals of Python or strings. Hydra reads
overrides, `key=value`, next to a few options. Of LightningCLI only the command is read: its options are those of
models, data, and trainers. OmegaConf reads pairs, and rejects no word. `app.run` of absl parses the flags of modules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

from smspec.script.follow.classes import Class, Instance
from smspec.script.follow.frames import Call, Function
from smspec.script.follow.interpreter import ProgramInterpreter, place_of
from smspec.script.follow.values import UNKNOWN, Known, Value, constant, items, text
from smspec.script.program import CommandLine, DeclaredOption, Kind, ReadCommand, Stop
from smspec.script.record import Handler, reads_arguments, record_of
from smspec.source.frozen import replace

_HYDRA_FLAGS = (
    *(("--hydra-help",), ("--version",), ("--resolve",), ("--run", "-r"), ("--multirun", "-m")),
    ("--shell-completion", "-sc"),
)
_HYDRA_OPTIONS = (
    *(("--cfg", "-c"), ("--package", "-p"), ("--config-path", "-cp"), ("--config-name", "-cn")),
    *(("--config-dir", "-cd"), ("--experimental-rerun",), ("--info", "-i"), ("--help", "-h")),
)

_LIGHTNING_COMMANDS = ("fit", "validate", "test", "predict")
_CHANGING_COMMANDS = frozenset({"args", "parser_class", "parser_kwargs", "run"})
"""Parameters of LightningCLI that change which words are commands."""

_MOST_BY_POSITION = 3

_ABSL_KINDS: dict[str, Kind] = {
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

_DEFINITIONS = (*_ABSL_KINDS, "multi_enum", "enum_class", "multi", "flag", "alias", "integer_list")


def _fire(call: Call) -> Value:
    component = call.argument(0, "component")
    extra = len(call.arguments) > 1 or call.keywords.keys() - {"component", "name"}
    line = None if extra or not call.is_whole else _fire_line(call, component)
    if line is None:
        reason = "smspec only knows how `fire` calls plain functions, and classes with plain methods"
        record_of(call.run).stops.append(Stop(reason=reason, place=call.place))
    elif reads_arguments(call, ""):
        record_of(call.run).command_lines.append(line)
    return call.unknown_result()


def _fire_line(call: Call, component: Value | None) -> CommandLine | None:
    """Return what Fire accepts for a component; None if that is unknown."""
    if isinstance(component, Function):
        command = _command(call, component, own=False)
        return None if command is None else _line(call, command, ())
    kind = component.kind if isinstance(component, Instance) else component
    if not isinstance(kind, Class) or kind.bases or kind.decorators or kind.is_magic or kind.has_escaped:
        return None
    start = kind.function("__init__") if isinstance(component, Class) else None
    first = ReadCommand(name="", options=()) if start is None else _command(call, start, own=True)
    if first is None:
        return None
    return _line(call, first, tuple(_methods(call, kind)))


def _line(call: Call, first: ReadCommand, commands: tuple[ReadCommand, ...]) -> CommandLine:
    return CommandLine(
        library="fire",
        grammar="fire",
        options=first.options,
        place=call.place,
        is_complete=first.is_complete,
        commands=commands,
    )


def _methods(call: Call, kind: Class) -> Iterator[ReadCommand]:
    for name, value in kind.frame.names.items():
        if isinstance(value, Function) and not name.startswith("_"):
            command = _command(call, value, own=True)
            if command is not None:
                yield command


def _command(call: Call, function: Function, *, own: bool) -> ReadCommand | None:
    """Return the options of a function, or of a method without its ``own`` instance; None if they are unknown."""
    node = function.node.args
    if node.vararg is not None or node.posonlyargs or function.node.decorator_list or (own and not node.args):
        return None
    options = tuple(
        DeclaredOption(
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
    return ReadCommand(name=function.node.name, options=options, is_complete=is_complete)


class HydraDecorator(Value):
    """``@hydra.main(…)``."""

    def decorate(self, value: Value, call: Call) -> Value:
        return HydraTask() if isinstance(value, Function) else call.unknown_result()


class HydraTask(Value):
    """A decorated function: its call parses the command line."""

    def call(self, call: Call) -> Value:
        if call.arguments or call.keywords or not call.is_whole:
            return call.unknown_result()  # with a config, Hydra reads nothing
        if reads_arguments(call, ""):
            options = [
                DeclaredOption(names=names, label="help", place=call.place, words="unknown") for names in _HYDRA_FLAGS
            ]
            options += [
                DeclaredOption(names=names, label=names[0], place=call.place, words="unknown", kind="unknown")
                for names in _HYDRA_OPTIONS
            ]
            overrides = DeclaredOption(names=(), label="overrides", place=call.place, words="*", kind="pair")
            record_of(call.run).command_lines.append(
                CommandLine(library="hydra", grammar="argparse", options=(*options, overrides), place=call.place)
            )
        call.run.ends()  # Hydra ends a run that prints its help, or its configuration
        return UNKNOWN


def _hydra(call: Call) -> Value:
    call.unknown_result()
    return HydraDecorator()


def _lightning(call: Call) -> Value:
    is_changed = bool(_CHANGING_COMMANDS & call.keywords.keys())
    is_plain = call.is_whole and len(call.arguments) <= _MOST_BY_POSITION and not is_changed
    if reads_arguments(call, "" if is_plain else "smspec does not know this use of `LightningCLI`"):
        record_of(call.run).command_lines.append(
            CommandLine(
                library="lightning",
                grammar="lightning",
                options=(DeclaredOption(names=(), label=_LIGHTNING_COMMANDS[0], place=call.place, is_required=True),),
                place=call.place,
                is_complete=False,
                commands=tuple(ReadCommand(name=name, options=()) for name in _LIGHTNING_COMMANDS),
            )
        )
        reason = "smspec does not know how `LightningCLI` reads the options of its commands"
        record_of(call.run).stops.append(Stop(reason=reason, place=call.place))
    return call.unknown_result()


def _from_cli(call: Call) -> Value:
    given = call.argument(0, "args_list")
    if call.is_whole and (given is None or constant(given) is None) and reads_arguments(call, ""):
        line = CommandLine(library="OmegaConf", grammar="pairs", options=(), place=call.place, is_complete=False)
        record_of(call.run).command_lines.append(line)
    return call.unknown_result()


class _Flags:
    """The flags of one script."""

    def __init__(self) -> None:
        self.options: dict[str, DeclaredOption] = {}
        self.required: set[str] = set()
        self.is_complete = True


def _flags_of(run: ProgramInterpreter) -> _Flags:
    found = record_of(run).remembered.setdefault("absl", _Flags())
    assert isinstance(found, _Flags)
    return found


def _define(kind: str, call: Call) -> Value:
    flags = _flags_of(call.run)
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
    is_known = call.is_certain and kind in _ABSL_KINDS
    choices = constant(call.argument(2, "enum_values")) if kind == "enum" else None
    flags.options[name] = DeclaredOption(
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
    return "unknown" if kind == "enum" and not isinstance(choices, tuple) else _ABSL_KINDS[kind]


def _bound(call: Call, name: str) -> float | None:
    found = constant(call.keywords.get(name, Known(None)))
    return float(found) if isinstance(found, int | float) else None


def _set_default(call: Call) -> Value:
    """Record that a required flag may have a value now."""
    flags = _flags_of(call.run)
    flags.required.clear()
    flags.options = {name: replace(option, default=...) for name, option in flags.options.items()}
    return call.unknown_result()


def _define_by_parser(call: Call) -> Value:
    _flags_of(call.run).is_complete = False
    return call.unknown_result()


def _mark(call: Call) -> Value:
    if "flag_values" in call.keywords:
        return UNKNOWN
    given = call.argument(0, "flag_name") or call.argument(0, "flag_names") or UNKNOWN
    for value in items(given) or (given,):
        name = text(value)
        if name is not None and call.is_certain:
            _flags_of(call.run).required.add(name)
    return UNKNOWN


def _run(call: Call) -> Value:
    """``app.run(main)``: parses the command line, then calls a function with the remaining arguments."""
    run, flags = call.run, _flags_of(call.run)
    is_plain = len(call.arguments) == 1 and not call.keywords
    if not reads_arguments(call, "" if is_plain else "`app.run` gets separate arguments"):
        return call.unknown_result()
    others = {name.partition(".")[0] for name in run.imported} - _QUIET - set(sys.stdlib_module_names)
    record_of(run).command_lines.append(
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


HANDLERS: dict[str, Handler] = {
    **{f"absl.flags.DEFINE_{kind}": partial(_define, kind) for kind in _DEFINITIONS},
    "absl.flags.DEFINE": _define_by_parser,
    "absl.flags.set_default": _set_default,
    "absl.flags.FLAGS.set_default": _set_default,
    "absl.flags.mark_flag_as_required": _mark,
    "absl.flags.mark_flags_as_required": _mark,
    "absl.flags.FLAGS.set_gnu_getopt": _gnu,
    "absl.app.run": _run,
    "fire.Fire": _fire,
    "fire.core.Fire": _fire,
    "hydra.main": _hydra,
    **dict.fromkeys(("lightning.pytorch.cli.LightningCLI", "pytorch_lightning.cli.LightningCLI"), _lightning),
    "omegaconf.OmegaConf.from_cli": _from_cli,
}

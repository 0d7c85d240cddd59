"""Functions that typer converts to commands: parameters without a default are positionals, the others options."""

from __future__ import annotations

import ast

from smspec.script.follow.evaluation import Evaluation
from smspec.script.follow.frames import Call, Function
from smspec.script.follow.interpreter import ProgramInterpreter, place_of
from smspec.script.follow.values import ELLIPSIS, UNKNOWN, Named, Value, constant, text
from smspec.script.program import DeclaredOption
from smspec.script.readers.click_commands import ClickCommand
from smspec.script.readers.data_classes import Annotation, annotation_of
from smspec.script.record import Handler
from smspec.source import Span
from smspec.source.frozen import replace

_OPTION = frozenset(
    {"default", "help", "show_default", "min", "max", "case_sensitive", "rich_help_panel", "hidden", "metavar"}
    | {"show_choices", "is_flag", "default_factory"}
)


class TyperCommand(ClickCommand):
    library = "typer"


class Info(Value):
    """``typer.Option(…)`` or ``typer.Argument(…)``."""

    def __init__(self, call: Call, is_option: bool) -> None:
        self.is_option = is_option
        self.call_site = call
        self.is_plain = call.is_whole and not call.keywords.keys() - _OPTION
        # In Annotated all arguments are names; as a default, the first is the default itself.
        self.words = [text(value) for value in call.arguments]
        self.default = call.argument(0, "default")


class App(Value):
    """``typer.Typer()``. With one command and no callback, it is that command."""

    def __init__(self, call: Call) -> None:
        self.commands: list[ClickCommand | None] = []
        self.is_plain = call.is_whole and not call.keywords.keys() - {
            "help",
            "name",
            "add_completion",
            "pretty_exceptions_enable",
            "pretty_exceptions_show_locals",
            "no_args_is_help",
            "rich_markup_mode",
        }

    def escape(self) -> None:
        self.is_plain = False

    def method(self, name: str, call: Call) -> Value:
        if name == "command" and call.is_whole and not call.keywords.keys() - {"name", "help", "short_help", "epilog"}:
            return _AppDecorator(self, call.run, call.is_certain)
        self.is_plain = False
        return call.unknown_result()

    def call(self, call: Call) -> Value:
        if self.is_plain and len(self.commands) == 1 and self.commands[0] is not None:
            return self.commands[0].call(call)
        return call.unknown_result()


class _AppDecorator(Value):
    def __init__(self, app: App, run: ProgramInterpreter, is_certain: bool) -> None:
        self._app = app
        self._run = run
        self._is_certain = is_certain

    def decorate(self, value: Value, call: Call) -> Value:
        command = _command(self._run, value, call.place) if isinstance(value, Function) else None
        self._app.commands.append(command)
        self._app.is_plain &= self._is_certain
        return value


def _run(call: Call) -> Value:
    function = call.arguments[0] if len(call.arguments) == 1 and not call.keywords else UNKNOWN
    command = _command(call.run, function, call.place) if isinstance(function, Function) else None
    if command is None:
        return call.unknown_result()
    return command.call(Call(call.run, call.node, (), {}, True))


def _command(run: ProgramInterpreter, function: Function, place: Span) -> ClickCommand | None:
    """Return the command for a function; None if it is not understood."""
    node = function.node.args
    if node.vararg or node.kwarg or node.posonlyargs:
        return None
    options: list[DeclaredOption] = []
    for parameter in (*node.args, *node.kwonlyargs):
        if _is_context(Evaluation(run, function.frame).value(parameter.annotation)):
            continue
        option = _option(run, function, parameter)
        if option is None:
            return None
        options.append(option)
    completion = tuple(
        DeclaredOption(names=(name,), label="help", place=place, words="unknown")
        for name in ("--install-completion", "--show-completion")
    )
    return TyperCommand([*options, *completion], place)


def _is_context(value: Value) -> bool:
    """Return whether a parameter is not part of the command line: typer passes its context."""
    return isinstance(value, Named) and value.name in ("typer.Context", "click.Context", "click.core.Context")


def _option(run: ProgramInterpreter, function: Function, parameter: ast.arg) -> DeclaredOption | None:
    name = parameter.arg
    evaluation = Evaluation(run, function.frame)
    annotation = annotation_of(evaluation.value(parameter.annotation)) if parameter.annotation else Annotation()
    default = function.defaults.get(name)
    info = next((extra for extra in annotation.extras if isinstance(extra, Info)), None)
    words = info.words if info is not None else []
    if isinstance(default, Info):
        # As a default itself: its first argument is the value, and without one there is none.
        info, words = default, default.words[1:]
        default = default.default
    return _declared(function, parameter, annotation, info, words, default)


def _declared(
    function: Function,
    parameter: ast.arg,
    annotation: Annotation,
    info: Info | None,
    words: list[str | None],
    default: Value | None,
) -> DeclaredOption | None:
    if info is not None and (not info.is_plain or None in words):
        return None
    place = place_of(parameter, function.frame)
    known = constant(default)
    has_factory = info is not None and "default_factory" in info.call_site.keywords
    is_required = (default is None or default is ELLIPSIS) and not has_factory
    is_option = info.is_option if info is not None else not is_required
    if not is_option:
        return DeclaredOption(
            names=(),
            label=parameter.arg.upper(),
            place=place,
            words="*" if annotation.is_list else 1,
            kind="unknown",
            is_required=is_required and not annotation.may_be_none,
            default=known,
        )
    spelled = tuple(part for word in words if word and word.startswith("-") for part in word.split("/"))
    names = spelled or (f"--{_hyphened(parameter.arg)}",)
    option = DeclaredOption(
        names=names, label=parameter.arg, place=place, kind=annotation.kind, choices=annotation.choices
    )
    option = replace(option, default=known)
    if annotation.is_bool:
        negated = () if spelled else (f"--no-{_hyphened(parameter.arg)}",)
        return replace(option, names=(*names, *negated), words=0)
    if parameter.annotation is None:
        option = replace(option, kind="unknown")
    ignores = info is not None and "case_sensitive" in info.call_site.keywords
    return replace(option, is_required=is_required, ignores_case=ignores)


def _hyphened(name: str) -> str:
    return name.lower().replace("_", "-")


HANDLERS: dict[str, Handler] = {
    "typer.run": _run,
    "typer.Typer": App,
    "typer.Option": lambda call: Info(call, True),
    "typer.Argument": lambda call: Info(call, False),
}

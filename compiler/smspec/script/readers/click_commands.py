"""Commands of click: a function with decorators that declare its options."""

from __future__ import annotations

from smspec.script.follow.effects import ENDING_METHODS, may_end
from smspec.script.follow.frames import Call, Function
from smspec.script.follow.values import UNKNOWN, Known, Named, Value, constant, text
from smspec.script.program import MOST_WORDS, CommandLine, DeclaredOption, Kind, Words
from smspec.script.record import reads_arguments, record_of
from smspec.source import Span
from smspec.source.frozen import replace

_PLAIN_COMMAND = frozenset({"name", "help", "short_help", "epilog", "hidden", "deprecated", "options_metavar"})
_PLAIN_CALL = frozenset({"standalone_mode", "prog_name", "obj"})
_OPTION = frozenset(
    {"help", "default", "type", "required", "is_flag", "multiple", "nargs", "show_default", "count", "flag_value"}
    | {"hidden", "metavar", "show_choices", "expose_value", "show_envvar", "callback", "is_eager"}
)
_KINDS: dict[str, Kind] = {
    "str": "text",
    "int": "int",
    "float": "float",
    "bool": "truth",
    "click.STRING": "text",
    "click.INT": "int",
    "click.FLOAT": "float",
    "click.BOOL": "truth",
}


class Pending(Value):
    """A function with the options declared so far; None if one of them is not understood."""

    def __init__(self, options: list[DeclaredOption] | None) -> None:
        self.options = options

    def escape(self) -> None:
        self.options = None


class Declaration(Value):
    """A decorator that adds an option, or an argument; None: not understood."""

    def __init__(self, option: DeclaredOption | None) -> None:
        self.option = option

    def call(self, call: Call) -> Value:
        return self.decorate(call.arguments[0], call) if len(call.arguments) == 1 else call.unknown_result()

    def decorate(self, value: Value, _: Call) -> Value:
        before = value.options if isinstance(value, Pending) else [] if isinstance(value, Function) else None
        if before is None or self.option is None:
            return Pending(None)
        return Pending([*before, self.option])


class CommandDecorator(Value):
    """``@click.command()``."""

    def __init__(self, call: Call) -> None:
        self.is_plain = call.is_whole and call.keywords.keys() <= _PLAIN_COMMAND

    def call(self, call: Call) -> Value:
        return self.decorate(call.arguments[0], call) if len(call.arguments) == 1 else call.unknown_result()

    def decorate(self, value: Value, call: Call) -> Value:
        options = value.options if isinstance(value, Pending) else [] if isinstance(value, Function) else None
        return ClickCommand(options, call.place) if options is not None and self.is_plain else UNKNOWN


class ClickCommand(Value):
    """A decorated function; calling it parses the command line."""

    library = "click"

    def __init__(self, options: list[DeclaredOption], place: Span) -> None:
        self.options = options
        self.place = place
        self.has_escaped = False

    def escape(self) -> None:
        self.has_escaped = True

    def method(self, _: str, call: Call) -> Value:
        self.escape()
        return call.unknown_result()

    def call(self, call: Call) -> Value:
        if call.arguments or not call.is_whole or call.keywords.keys() - _PLAIN_CALL:
            return call.unknown_result()
        if reads_arguments(call, "other code may have changed the command" if self.has_escaped else ""):
            help_option = DeclaredOption(names=("--help",), label="help", place=self.place, words="unknown")
            record_of(call.run).command_lines.append(
                CommandLine(
                    library=self.library,
                    grammar="click",
                    options=(*self.options, help_option),
                    place=call.place,
                    abbreviates=False,
                )
            )
        return UNKNOWN


def _declare_option(call: Call) -> Value:
    names = [text(value) for value in call.arguments]
    if not names or None in names or not call.is_whole:
        return Declaration(None)
    spelled = [part for name in names if name and name.startswith("-") for part in name.split("/")]
    option = option_of(tuple(part.strip() for part in spelled), call, any("/" in (name or "") for name in names))
    return Declaration(option)


def _declare_argument(call: Call) -> Value:
    name = text(call.arguments[0]) if call.arguments else None
    if name is None or not call.is_whole:
        return Declaration(None)
    words = _words(call)
    has_default = "default" in call.keywords or "envvar" in call.keywords
    required = constant(call.keywords.get("required", Known(not has_default and words != "*")))
    option = DeclaredOption(names=(), label=name.upper(), place=call.place, words=words, is_required=required is True)
    option = replace(option, default=constant(call.keywords.get("default")))
    return Declaration(replace(option, kind="unknown"))


def option_of(names: tuple[str, ...], call: Call, is_pair: bool) -> DeclaredOption | None:
    """Return a declared option; None if it is not understood."""
    keywords = call.keywords
    option = DeclaredOption(names=names, label=names[0].lstrip("-") if names else "", place=call.place)
    option = replace(option, default=constant(keywords.get("default", Known(None))))
    if not names:
        return None
    if keywords.keys() - _OPTION:
        # A prompt, a variable, or a custom class: its value may come from elsewhere.
        return replace(option, words="unknown", kind="unknown", default=...)
    is_flag = constant(keywords.get("is_flag", Known(None)))
    if is_flag is True and not is_pair and option.default is not False:
        # Without a default it is false; with one that is true, the bare option means true or false by the version.
        option = replace(option, default=False if "default" not in keywords else ...)
    if is_flag is True or constant(keywords.get("count", Known(False))) is True or is_pair:
        return replace(option, words=0)
    if is_flag not in (None, False) or "flag_value" in keywords or "count" in keywords:
        return replace(option, words="unknown", kind="unknown")
    words = _words(call)
    required = constant(keywords.get("required", Known(False)))
    option = replace(option, words=words, is_required=required is True and "default" not in keywords)
    if "callback" in keywords:
        ends = _callback_may_end(call, keywords["callback"])
        return replace(option, kind="unknown", words="unknown" if ends else words)
    return typed(option, keywords.get("type"), keywords.get("default"))


def _callback_may_end(call: Call, callback: Value) -> bool:
    """Return whether a callback may end the script before the rest is parsed."""
    if not isinstance(callback, Function):
        return True
    code = call.run.codes.of(callback.node)
    others = [callback.frame.get(name) for name in code.free]
    is_plain = all(other is None or isinstance(other, Named) for other in others)
    return not is_plain or any(map(may_end, code.names)) or bool(code.attributes & ENDING_METHODS)


def _words(call: Call) -> Words:
    number = constant(call.keywords.get("nargs", Known(1)))
    if isinstance(number, int):
        return "unknown" if number > MOST_WORDS else number if number >= 1 else "*"
    return "unknown"


def typed(option: DeclaredOption, kind: Value | None, default: Value | None) -> DeclaredOption:
    """Return an option with the kind of words that its type, or else its default, implies."""
    if isinstance(kind, Choice):
        return replace(option, choices=kind.choices, ignores_case=kind.ignores_case)
    if isinstance(kind, ClickRange):
        return replace(option, kind=kind.kind, lowest=kind.lowest, highest=kind.highest)
    if isinstance(kind, Named):
        return replace(option, kind=_KINDS.get(kind.name, "unknown"))
    if kind is None or constant(kind) is None:
        found = constant(default) if default is not None else None
        match found:
            case None | str():
                return option
            case bool():
                return replace(option, kind="truth")
            case int():
                return replace(option, kind="int")
            case float():
                return replace(option, kind="float")
    return replace(option, kind="unknown")


class Choice(Value):
    """``click.Choice([...])``; one that is not understood accepts everything."""

    def __init__(self, call: Call) -> None:
        found = constant(call.argument(0, "choices"))
        is_plain = isinstance(found, tuple) and all(isinstance(choice, str) for choice in found)
        sensitive = constant(call.argument(1, "case_sensitive") or Known(True))
        self.choices = found if isinstance(found, tuple) and is_plain and sensitive is not ... else None
        self.ignores_case = sensitive is not True


class ClickRange(Value):
    """``click.IntRange(…)``, ``click.FloatRange(…)``."""

    kind: Kind = "int"

    def __init__(self, call: Call) -> None:
        lowest, highest = (constant(call.argument(i, name) or Known(None)) for i, name in enumerate(("min", "max")))
        is_plain = call.is_whole and not call.keywords.keys() - {"min", "max"}
        self.lowest = float(lowest) if is_plain and isinstance(lowest, int | float) else None
        self.highest = float(highest) if is_plain and isinstance(highest, int | float) else None


class FloatRange(ClickRange):
    kind: Kind = "float"


def _version(call: Call) -> Value:
    return Declaration(DeclaredOption(names=("--version",), label="version", place=call.place, words="unknown"))


HANDLERS = {
    "click.command": CommandDecorator,
    "click.option": _declare_option,
    "click.argument": _declare_argument,
    "click.version_option": _version,
    "click.Choice": Choice,
    "click.IntRange": ClickRange,
    "click.FloatRange": FloatRange,
}

"""Parsers of argparse, followed from their creation to the parsing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from smspec.script.file_use import ChannelPath, Namespace
from smspec.script.follow.frames import Call
from smspec.script.follow.values import UNKNOWN, Bound, GivenWords, Items, Known, Named, Value, constant, items, text
from smspec.script.program import MOST_WORDS, CommandLine, DeclaredOption, Kind, RepeatedOption, Stop, Words
from smspec.script.record import RemainingArguments, own_type, reads_arguments, record_of
from smspec.source import Span
from smspec.source.frozen import replace

_HARMLESS = ("error", "exit", "print_help", "print_usage", "format_help", "format_usage", "get_default", "set_defaults")
_TEXTS = ("description", "epilog", "usage", "prog", "formatter_class")
_PLAIN = frozenset({*_TEXTS, "add_help", "aliases", "allow_abbrev", "conflict_handler", "help", "parents"})
_IRRELEVANT = ("help", "metavar", "default", "completer")
"""Parameters of an argument that do not affect what it accepts."""
_KINDS: dict[str, Kind] = {"str": "text", "int": "int", "float": "float", "bool": "bool()"}
_KINDS |= {"json.loads": "json", "ast.literal_eval": "literal"}
_FLAGS = ("store_true", "store_false", "store_const", "append_const", "count", "help", "version")
_KNOWN_WORDS = frozenset(
    {"action", "nargs", "const", "default", "type", "choices", "required", "help", "metavar", "dest", "version"}
)
_OF_COMMANDS = frozenset({"dest", "description", "help", "metavar", "prog", "required", "title"})
_MOST_CHOICES = 1_000


class Parser(Value):
    """One ArgumentParser. ``escaped``: other code has it too, and may do anything with it."""

    library = "argparse"

    def __init__(self, call: Call) -> None:
        self.options: list[DeclaredOption] = []
        self.choices: list[tuple[DeclaredOption, Value]] = []
        self.required_groups: list[int] = []
        self.children: list[Parser] = []
        self.groups = 0
        self.commands: Commands | None = None
        self.taken: dict[str, Span] = {}
        self.defaults: dict[str, ChannelPath] = {}
        self.is_complete = True
        self.defaults_are_known = True
        self.abbreviates = True
        self.escaped = not call.is_whole or bool(call.keywords.keys() - _PLAIN)
        handler = constant(call.keywords.get("conflict_handler", Known("error")))
        self.replaces = handler == "resolve"
        self.escaped |= handler not in ("error", "resolve")
        abbreviates = constant(call.keywords.get("allow_abbrev", Known(True)))
        if isinstance(abbreviates, bool):
            self.abbreviates = abbreviates
        else:
            self.is_complete = False
        if constant(call.keywords.get("add_help", Known(True))) is not False:
            self.options.append(DeclaredOption(names=("-h", "--help"), label="help", place=call.place, words="unknown"))
            self._take_names(call, {"-h": call.place, "--help": call.place})
        self._take_parents(call, call.keywords.get("parents", Items(())))

    def _take_names(self, call: Call, names: Mapping[str, Span]) -> None:
        """Record the names of declared options, and the first that a certain call declares for the second time."""
        again = next((name for name in names if name in self.taken), None)
        if again is not None and call.is_certain and not self.escaped and not self.replaces:
            places = (self.taken[again], names[again])
            record_of(call.run).repeated_options.append(RepeatedOption(name=again, places=places))
        if call.is_certain:
            self.taken |= names

    def _take_parents(self, call: Call, parents: Value) -> None:
        found = items(parents)
        for parent in (UNKNOWN,) if found is None else found:
            if isinstance(parent, Parser) and not parent.escaped:
                parent.children.append(self)
                self._take_names(call, parent.taken)
                self.options += [option for option in parent.options if option.label != "help"]
                self.choices += parent.choices
                self.defaults |= parent.defaults
                self.defaults_are_known &= parent.defaults_are_known
                self.is_complete &= parent.is_complete
                self.escaped |= bool(parent.groups or parent.commands)  # their numbers would have to change
            else:
                self.escaped = True

    def escape(self) -> None:
        if not self.escaped:
            self.escaped = True
            for child in self.children:
                child.escape()  # it shares the arguments

    def attribute(self, name: str) -> Value:
        if name == "_action_groups":
            return ActionGroups(self)
        if name.startswith("_"):
            self.escape()  # its arguments can be changed through its attributes
            return UNKNOWN
        return UNKNOWN if name in _TEXTS else Bound(self, name)

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        if name not in _TEXTS:
            self.escaped = True

    def method(self, name: str, call: Call) -> Value:
        if name == "add_argument":
            self.add(call, None)
            return Declared(self)
        if name in ("add_argument_group", "add_mutually_exclusive_group"):
            return self._group(name, call)
        if name == "add_subparsers" and self.commands is None and type(self) is Parser and call.is_certain:
            self.commands = Commands(self, call)
            return self.commands
        if name in ("parse_args", "parse_known_args"):
            self.parse(call, is_complete=name == "parse_args")
            namespace = Namespace({} if self.escaped or call.argument(1, "namespace") else self.defaults)
            if name == "parse_known_args":
                return Items((namespace, self.left_over(call)))
            return namespace
        if name == "exit":
            call.run.ends()
        elif name not in _HARMLESS:
            self.escape()
        else:
            self.forget_defaults()  # `set_defaults` may replace them
        return call.unknown_result()

    def _group(self, name: str, call: Call) -> Value:
        if name == "add_argument_group":
            self.replaces |= not call.is_whole or "conflict_handler" in call.keywords
            return Group(self, None)
        required = constant(call.keywords.get("required", Known(False)))
        if not call.is_certain or not isinstance(required, bool):
            self.escaped = True
        self.groups += 1
        if required is True:
            self.required_groups.append(self.groups)
        return Group(self, self.groups)

    def add(self, call: Call, exclusive: int | None) -> None:
        """Add a declared argument; if the declaration may not run, record that."""
        names = tuple(text(value) for value in call.arguments)
        if None in names or not call.is_whole or not names:
            self.is_complete = False
            return
        option = _option(call, tuple(name for name in names if name is not None))
        if option is None:
            self.escaped = True
            return
        if not call.is_certain:
            # It may not exist, so no word that is passed for it is a fault.
            self.is_complete &= bool(option.names)
            option = replace(option, words="unknown", kind="unknown", choices=None, is_required=False, default=...)
        elif option.words != "unknown":
            option = replace(option, function=own_type(call))
        self._take_names(call, dict.fromkeys(option.names, call.place))
        option = replace(option, exclusive=exclusive)
        self._keep_default(call, option)
        self.options.append(option)
        if option.choices is not None:
            self.choices.append((option, call.keywords["choices"]))

    def forget_defaults(self) -> None:
        """Record that the script may have replaced any default."""
        self.defaults.clear()
        self.defaults_are_known = False

    def _keep_default(self, call: Call, option: DeclaredOption) -> None:
        """Keep the default of an option that is the path of a channel; a later option may replace it."""
        default, label = call.keywords.get("default"), option.label.replace("-", "_")
        self.defaults.pop(label, None)
        kind = call.keywords.get("type")
        is_text = kind is None or (isinstance(kind, Named) and kind.name in ("str", "pathlib.Path"))
        if isinstance(default, ChannelPath) and option.names and is_text and call.is_certain:
            self.defaults[label] = default.as_default(option.names)

    def parse(self, call: Call, *, is_complete: bool) -> None:
        """Record that the command line is parsed, if it is the script's."""
        given = call.argument(0, "args")
        is_ours = given is None or constant(given) is None or (isinstance(given, GivenWords) and given.is_whole)
        if not is_ours or not call.is_whole:
            if given is not None:
                call.hands_over_words(given)
                if self.escaped or not self.is_complete:
                    given.escape()  # an option that is not known may use what another parser has left
            return  # the words are not those of the command line
        if reads_arguments(call, "other code may have changed the parser" if self.escaped else ""):
            record_of(call.run).command_lines.append(self.command_line(call, is_complete))
            if is_complete and not self.is_complete:
                reason = "the names of some arguments are not known"
                record_of(call.run).stops.append(Stop(reason=reason, place=call.place))

    def left_over(self, call: Call) -> Value:
        """Return the arguments that no option takes, and track them."""
        left_over = RemainingArguments()
        line = record_of(call.run).command_lines[-1] if record_of(call.run).command_lines else None
        is_whole = self.is_complete and all(option.names for option in self.options)
        if line is not None and line.place == call.place and is_whole:
            record_of(call.run).left_over[line] = left_over
        return left_over

    def command_line(self, call: Call, is_complete: bool) -> CommandLine:
        return CommandLine(
            library=self.library,
            options=tuple(self._options_now()),
            place=call.place,
            is_complete=is_complete and self.is_complete,
            abbreviates=self.abbreviates,
            required_groups=tuple(self.required_groups),
            not_for_one_word=call.run.goes_other_way_for_one_word,
            commands=() if self.commands is None else self.commands.command_lines(call, is_complete),
        )

    def _options_now(self) -> Iterator[DeclaredOption]:
        """Yield the arguments at the time of parsing: a list of choices may have changed since its declaration."""
        changed = {id(option) for option, given in self.choices if _choices(given) is None}
        for option in self.options:
            now = replace(option, kind="unknown", choices=None) if id(option) in changed else option
            if self.commands is not None and option is self.commands.option:
                now = replace(option, choices=tuple(self.commands.parsers), is_required=self.commands.is_required)
            yield now if self.defaults_are_known or now.default is ... else replace(now, default=...)


class Commands(Value):
    """The result of ``add_subparsers``; ``parsers``: those of the commands, by name."""

    def __init__(self, parser: Parser, call: Call) -> None:
        self.parsers: dict[str, Parser] = {}
        self._parser = parser
        self._run = call.run
        required = constant(call.keywords.get("required", Known(False)))
        self.is_required = required is True
        label = text(call.keywords.get("dest")) or "command"
        self.option = DeclaredOption(names=(), label=label, place=call.place, words="A...")
        parser.options.append(self.option)
        if not call.is_whole or not isinstance(required, bool) or call.keywords.keys() - _OF_COMMANDS:
            parser.escape()

    def escape(self) -> None:
        self._parser.escape()

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        required = constant(value)
        if name == "required" and isinstance(required, bool) and self._run.is_certain:
            self.is_required = required
        elif name not in _OF_COMMANDS:
            self.escape()

    def method(self, name: str, call: Call) -> Value:
        aliases = constant(call.keywords.get("aliases", Items(())))
        names = (text(call.argument(0, "name")), *(aliases if isinstance(aliases, tuple) else (...,)))
        known = [one for one in names if isinstance(one, str)]
        if name != "add_parser" or len(known) < len(names) or not call.is_certain or not call.is_whole:
            self.escape()
            return call.unknown_result()
        parser = Parser(call)
        self.parsers |= dict.fromkeys(known, parser)
        return parser

    def command_lines(self, call: Call, is_complete: bool) -> tuple[tuple[str, CommandLine | None], ...]:
        """Return the command line of each command."""
        parsers = self.parsers.items()
        return tuple((name, None if one.escaped else one.command_line(call, is_complete)) for name, one in parsers)


class _Part(Value):
    """A part of a parser, through which other code can change it."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser

    def escape(self) -> None:
        self._parser.escape()


class ActionGroups(_Part):
    """``parser._action_groups``, which some scripts reorder by removing and re-adding a group."""

    def item(self, _key: Value, _place: Span) -> Value:
        return Group(self._parser, None)

    def method(self, name: str, call: Call) -> Value:
        if name == "pop":
            return Group(self._parser, None)
        if name != "append" or not all(isinstance(value, Group) for value in call.arguments):
            self.escape()
            return call.unknown_result()
        return UNKNOWN


class Declared(_Part):
    """The result of ``add_argument``: the argument itself, which a script may still change."""

    def attribute(self, name: str) -> Value:
        if name in (*_IRRELEVANT, "dest"):
            return UNKNOWN
        return super().attribute(name)

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        if name == "default":
            self._parser.forget_defaults()
        elif name not in _IRRELEVANT:
            self._parser.escape()


class Group(Value):
    """A group of arguments; ``exclusive``: its number, if only one of them may be passed."""

    def __init__(self, parser: Parser, exclusive: int | None) -> None:
        self.parser = parser
        self.exclusive = exclusive

    def escape(self) -> None:
        self.parser.escape()

    def set_attribute(self, name: str, value: Value) -> None:
        value.escape()
        if name not in ("description", "title"):
            self.escape()

    def method(self, name: str, call: Call) -> Value:
        if name == "add_argument":
            self.parser.add(call, self.exclusive)
            return Declared(self.parser)
        if self.exclusive is None and name in ("add_argument_group", "add_mutually_exclusive_group"):
            return self.parser.method(name, call)
        self.escape()
        return call.unknown_result()


def _option(call: Call, names: tuple[str, ...]) -> DeclaredOption | None:
    """Return an argument as far as it is known; None for one that could be anything."""
    is_positional = not names[0].startswith("-")
    if is_positional and len(names) > 1:
        return None
    keywords = call.keywords
    option = DeclaredOption(
        names=() if is_positional else names,
        label=names[0] if is_positional else text(keywords.get("dest")) or names[0].lstrip("-"),
        place=call.place,
        help=text(keywords.get("help")) or "",
    )
    required = constant(keywords.get("required", Known(False)))
    if isinstance(required, bool):
        option = replace(option, is_required=required)
    option = replace(option, default=constant(keywords.get("default", Known(None))))
    if keywords.keys() - _KNOWN_WORDS:
        return replace(option, words="unknown", kind="unknown", is_required=False)
    action = keywords.get("action", Known("store"))
    match constant(action):
        case "store" | "append" | "extend" as name:
            return _with_words(replace(option, collects=name == "append"), keywords, is_positional)
        case "store_true":
            return replace(option, words=0, default=constant(keywords.get("default", Known(False))))
        case flag if flag in _FLAGS:
            return replace(option, words="unknown" if flag in ("help", "version") else 0, default=...)
    if isinstance(action, Named) and action.name == "argparse.BooleanOptionalAction":
        negated = tuple("--no-" + name[2:] for name in names if name.startswith("--"))
        return replace(option, names=(*names, *negated), words=0)
    # A custom action decides for itself whether it consumes words, and whether it is required.
    return replace(option, words="unknown", kind="unknown", is_required=False)


def _with_words(option: DeclaredOption, keywords: dict[str, Value], is_positional: bool) -> DeclaredOption:
    words: Words = "unknown"
    match constant(keywords.get("nargs", Known(None))):
        case None:
            words = 1
        case int(number) if 1 <= number <= MOST_WORDS:
            words = number
        case "?" | "*" | "+" as several:
            words = several
    if is_positional:
        option = replace(option, is_required=words not in ("?", "*", "unknown"))
    choices = _choices(keywords.get("choices"))
    is_open = words == "unknown" or (choices is None and "choices" in keywords)
    kind = kind_of(keywords.get("type"))
    return replace(
        option,
        words=words,
        kind="unknown" if is_open else kind,
        choices=None if is_open or kind == "unknown" else choices,
    )


def kind_of(value: Value | None) -> Kind:
    """Return the kind of words that a type accepts."""
    if value is None or constant(value) is None:
        return "text"
    return _KINDS.get(value.name, "unknown") if isinstance(value, Named) else "unknown"


def _choices(value: Value | None) -> tuple[object, ...] | None:
    found = items(value)
    constants = () if found is None else tuple(map(constant, found))
    return None if found is None or ... in constants or len(constants) > _MOST_CHOICES else constants


HANDLERS = {"argparse.ArgumentParser": Parser}

"""What is recorded while a script is followed, until it becomes a `Program`."""

from __future__ import annotations

from collections.abc import Callable

from smspec.script.follow.frames import Call, Function, Lambda
from smspec.script.follow.interpreter import ProgramInterpreter, Recorder
from smspec.script.follow.values import UNKNOWN, Named, Value, constant, items, text
from smspec.script.program import (
    LAUNCHERS,
    AwsUse,
    ChannelRead,
    ChannelUse,
    CommandLine,
    FileUse,
    HyperparameterRead,
    Installation,
    ProcessGroup,
    RepeatedOption,
    RepeatedUse,
    StartedLauncher,
    Stop,
    VariableRead,
)
from smspec.source import Span

Handler = Callable[[Call], Value]
Lookup = Callable[[ProgramInterpreter, Value, Span], Value]

STARTERS = frozenset(
    {f"subprocess.{name}" for name in ("call", "check_call", "check_output", "run")}
    | {"os.system", "pip.main", "pip._internal.main", "pip._internal.cli.main.main"}
)

PROGRAM_STARTERS = STARTERS | {"subprocess.Popen", "os.popen"}

_UNKNOWN_WORD = "…"
_PIPS = ("pip", "pip3")
_ENDS = ("&", "|", ";", ">", "1>", "2>")
"""What begins a word with which a shell ends the command, or its arguments."""

_CONDITIONS = ("||", "if", "[", "[[", "test")
"""Words of a shell before a command that some runs skip."""

_OWN_INDEX = ("-i", "-f", "--index-url", "--extra-index-url", "--no-index", "--find-links", "--proxy")
_WITH_A_VALUE = (
    *("-C", "-c", "-e", "-r", "-t", "--cache-dir", "--cert", "--config-settings", "--constraint", "--editable"),
    *(
        "--log",
        "--no-binary",
        "--only-binary",
        "--platform",
        "--prefix",
        "--progress-bar",
        "--python-version",
        "--report",
    ),
    *("--requirement", "--retries", "--root", "--root-user-action", "--src", "--target", "--timeout", "--trusted-host"),
    *("--upgrade-strategy", "--use-feature"),
)
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tar.bz2", ".tgz")


class RemainingArguments(Value):
    """The remaining arguments of `parse_known_args`; ``is_used``: some code may use them."""

    def __init__(self) -> None:
        self.is_used = False

    def escape(self) -> None:
        self.is_used = True

    def attribute(self, _: str) -> Value:
        self.is_used = True
        return UNKNOWN


class OwnType:
    """A function of the script that is the type of an argument."""

    def __init__(self, run: ProgramInterpreter, function: Function | Lambda) -> None:
        self.name = function.node.name if isinstance(function, Function) else "lambda"
        self._run = run
        self._function = function
        self._found: dict[str, bool] = {}

    def rejects(self, word: str) -> bool:
        if word not in self._found:
            from smspec.script.conversions import certainly_rejects  # imported late: few options have such a type

            raises = isinstance(self._function, Function) and self._run.fails_with(self._function, word)
            self._found[word] = raises or certainly_rejects(self._function.node, word, self._outer)
        return self._found[word]

    def _outer(self, name: str) -> object:
        found = self._function.frame.get(name)
        if found is None:
            return type
        return type if isinstance(found, Named) and found.name == name else constant(found)


def own_type(call: Call) -> OwnType | None:
    """Return the type of an argument, if it is a function of the script."""
    kind = call.keywords.get("type")
    return OwnType(call.run, kind) if isinstance(kind, Function | Lambda) else None


class Record(Recorder):
    """The record of a script."""

    def __init__(self) -> None:
        self.command_lines: list[CommandLine] = []
        self.left_over: dict[CommandLine, RemainingArguments] = {}
        self.repeated_options: list[RepeatedOption] = []
        self.stops: list[Stop] = []
        self.channels: list[ChannelRead] = []
        self.channel_uses: list[ChannelUse] = []
        self.hyperparameters: list[HyperparameterRead] = []
        self.variables: list[VariableRead] = []
        self.optional_variables: list[VariableRead] = []
        self.other_variables: list[VariableRead] = []
        self.file_uses: list[FileUse] = []
        self.searches: list[FileUse] = []
        self.repeated_uses: list[RepeatedUse] = []
        self.launches: list[StartedLauncher] = []
        self.has_started = False
        self.file_reads: list[FileUse] = []
        self.may_have_files = False
        self.process_groups: list[ProcessGroup] = []
        self.aws_uses: list[AwsUse] = []
        self.installations: list[Installation] = []
        self.changed_mappings: set[str] = set()

    def note_use(self, run: ProgramInterpreter, use: FileUse | ChannelUse) -> None:
        """Record a use that is certain, or certain in each pass of a loop."""
        if run.is_certain and isinstance(use, FileUse):
            self.file_uses.append(use)
        elif run.is_certain and isinstance(use, ChannelUse):
            self.channel_uses.append(use)
        elif run.repeats is not None:
            times, option = run.repeats
            self.repeated_uses.append(RepeatedUse(use=use, times=times, option=option))


def record_of(run: ProgramInterpreter) -> Record:
    """Return the record of a script that is being followed."""
    assert isinstance(run.recorder, Record)
    return run.recorder


def reads_arguments(call: Call, why_unknown: str) -> bool:
    """Return whether a call certainly reads the command line; record why it does not, or may not.

    ``why_unknown``: what the reader itself knows against it, as the end of a sentence, or empty.
    """
    if not why_unknown and call.run.is_blind:
        why_unknown = call.run.why_blind
    if not why_unknown and not call.is_certain:
        why_unknown = "smspec cannot be sure that every run of the script gets here"
    if why_unknown:
        record_of(call.run).stops.append(Stop(reason=why_unknown, place=call.place))
    return not why_unknown


def note_installation(name: str, call: Call) -> None:
    """Record a call that installs a package by its name, from the index that pip uses by default."""
    if not call.is_certain or not call.arguments or call.run.may_have_set("PIP_INDEX_URL"):
        return
    words = _words(call)
    if name.startswith("pip."):
        words = ["pip", *words]
    for at, word in enumerate(words[:-1]):
        if word in _CONDITIONS:
            return
        if word.rpartition("/")[2] in _PIPS and words[at + 1] == "install":
            names = _packages(words[at + 2 :])
            if names:
                record_of(call.run).installations.append(Installation(packages=names, place=call.place))
            return


def note_launch(call: Call) -> None:
    """Record a launcher that is the first program that every run starts: another one may install it."""
    record, words = record_of(call.run), _words(call) if call.arguments else []
    is_plain = not call.keywords.keys() & {"env", "executable"} and not call.run.may_have_set("PATH")
    if words[:1] and words[0] in LAUNCHERS and call.is_certain and is_plain and not record.has_started:
        record.launches.append(StartedLauncher(name=words[0], path=(), place=call.place))
    record.has_started = True


def _words(call: Call) -> list[str]:
    """Return the words of a command; an unknown one is `_UNKNOWN_WORD`."""
    line = text(call.arguments[0])
    if line is not None:
        return line.split()
    return [_UNKNOWN_WORD if (word := text(each)) is None else word for each in items(call.arguments[0]) or ()]


def _packages(words: list[str]) -> tuple[str, ...]:
    """Return the packages among the words after `pip install`; none if it does not use the default index."""
    found: list[str] = []
    is_value = False
    for word in words:
        if word.startswith(_ENDS):
            break
        if word.partition("=")[0] in _OWN_INDEX:
            return ()
        name = word.rstrip(";").strip("'\"")
        is_name = name[:1].isalnum() and "/" not in name and "$" not in name and not name.endswith(_ARCHIVES)
        if is_name and not is_value:
            found.append(name)
        if word.endswith(";"):
            break
        is_value = word in _WITH_A_VALUE
    return tuple(found)

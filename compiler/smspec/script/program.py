"""What the text of a script shows about its inputs, or why it was not read."""

from __future__ import annotations

import re
from typing import Literal, Protocol, Union

from smspec.source import Path, SourceText, Span
from smspec.source.frozen import dataclass, replace

Words = Union[int, Literal["?", "*", "+", "A...", "unknown"]]
"""How many words follow the name of an option, in the notation of argparse; after a sub-command, all others."""

Kind = Literal["text", "int", "float", "bool()", "truth", "json", "literal", "unknown"]
"""How a word is converted. ``bool()`` converts every word except the empty one to true; ``truth`` parses `true`, `no`,
`1` …; ``json`` and ``literal`` parse a whole word."""

MOST_WORDS = 1_000
"""The maximum number of values of one option, because as many are created for a trial."""

MOST_FOREIGN_BYTES = 1 << 16
"""A longer script that is not Python is not checked."""


class TypeFunction(Protocol):
    """A function of the script that converts a word."""

    name: str

    def rejects(self, word: str) -> bool:
        """Return whether it certainly raises an exception."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredOption:
    """``names`` with their dashes; empty for a positional. ``exclusive``: the group of which only one may be passed.

    ``function``: the script's own type. ``collects``: each use of it adds to a list.

    ``default``: its value without the option, `...` if that is unknown; for a switch (no words) with a known one, the
    bare option means true.
    """

    names: tuple[str, ...]
    label: str
    place: Span
    words: Words = 1
    kind: Kind = "text"
    choices: tuple[object, ...] | None = None
    is_required: bool = False
    exclusive: int | None = None
    default: object = ...
    help: str = ""
    function: TypeFunction | None = None
    collects: bool = False

    @property
    def takes_several(self) -> bool:
        """Whether its value is a list of words."""
        return self.words in ("*", "+") or (isinstance(self.words, int) and (self.words > 1 or self.collects))

    @property
    def called(self) -> str:
        """The name that the author knows it by."""
        return self.names[0] if self.names else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """One parser that reads the script's command line at startup.

    ``is_complete``: every other option is rejected. ``required_groups``: groups of which one option is required.
    ``not_for_one_word``: with a single word the script takes a different branch. ``drops``: all options are known, and
    unknown ones are ignored. ``commands``: the parser of each sub-command, None if it is unknown.
    """

    library: str
    options: tuple[DeclaredOption, ...]
    place: Span
    is_complete: bool = True
    abbreviates: bool = True
    required_groups: tuple[int, ...] = ()
    not_for_one_word: bool = False
    drops: bool = False
    commands: tuple[tuple[str, CommandLine | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedOption:
    """An option that a parser certainly declares twice, which it rejects; ``places`` are both declarations."""

    name: str
    places: tuple[Span, Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRead:
    """A channel that the script reads. ``name`` is in capitals where ``by`` is a variable.

    ``fails``: without the channel the script ends there.
    """

    name: str
    by: Literal["variable", "path", "job"]
    written: str
    fails: bool
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelUse:
    """The value of a channel's variable that certainly reaches ``operation``, with what follows it: ``rest``.

    ``name`` is in capitals. ``may_be_none``: it is None without the channel. ``options``: with one of these on the
    command line it is a different value.
    """

    name: str
    written: str
    operation: str
    rest: str | None
    may_be_none: bool
    options: tuple[str, ...]
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperparameterRead:
    """A hyperparameter that the script requires. ``name`` is in capitals where ``by`` is a variable."""

    name: str
    by: Literal["variable", "job"]
    written: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableRead:
    """A variable, not for a channel or hyperparameter, that the script reads."""

    written: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsUse:
    """A call of AWS that happens in every run."""

    written: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A call that installs packages with pip in every run."""

    packages: tuple[str, ...]
    place: Span


LAUNCHERS = {
    **dict.fromkeys(("mpirun", "mpiexec"), ""),
    "torchrun": "torch",
    "accelerate": "accelerate",
    "deepspeed": "deepspeed",
    "horovodrun": "horovod",
}
"""The programs that start others on several processors, and the module that is installed with each, if one is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedLauncher:
    """A launcher that every run starts by its name: ``path`` is where the spec says so, or names the script."""

    name: str
    path: Path
    place: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where arguments could not be followed further, and why: the end of a sentence."""

    reason: str
    place: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
    """A path, written literally, that certainly reaches a file ``operation``: of the container, or from its start.

    ``is_named``: a path of the source in the form in which messages name its files. ``section``: what is read of an
    INI file.
    """

    path: str
    operation: str
    place: Span
    is_named: bool = False
    section: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedUse:
    """A use of the same path in each pass of a loop: ``times``, or as often as the ``option`` says."""

    use: Union[FileUse, ChannelUse]
    times: int | None
    option: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGroup:
    """A PyTorch process group that is formed in every run from the environment.

    ``variables``: those without an argument.
    """

    variables: tuple[str, ...]
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """``texts``: the script's own, then those of the other modules of the source that were read.

    ``mentioned``: names in quotes in the source, where arguments may be dropped. ``stop``: why its arguments are not
    known, or not all of them. ``missing_handler``: the name of the function that gets the job, if the module does not
    have it; ``definitions``: the names that it has. ``variables`` are those ``SM_…`` that it requires,
    ``optional_variables`` those with a default, and ``other_variables`` all other ones that it requires. ``searches``
    are operations that find nothing below a path that does not exist. ``file_reads`` are files by relative paths that
    every run reads before it could create them, and ``missing_files`` those of them that the source does not have, or
    that do not have the section.
    """

    texts: tuple[SourceText, ...]
    command_lines: tuple[CommandLine, ...] = ()
    repeated_options: tuple[RepeatedOption, ...] = ()
    channels: tuple[ChannelRead, ...] = ()
    hyperparameters: tuple[HyperparameterRead, ...] = ()
    file_uses: tuple[FileUse, ...] = ()
    process_groups: tuple[ProcessGroup, ...] = ()
    missing_handler: str | None = None
    definitions: tuple[str, ...] = ()
    stop: Stop | None = None
    variables: tuple[VariableRead, ...] = ()
    optional_variables: tuple[VariableRead, ...] = ()
    other_variables: tuple[VariableRead, ...] = ()
    channel_uses: tuple[ChannelUse, ...] = ()
    aws_uses: tuple[AwsUse, ...] = ()
    installations: tuple[Installation, ...] = ()
    searches: tuple[FileUse, ...] = ()
    repeated_uses: tuple[RepeatedUse, ...] = ()
    launches: tuple[StartedLauncher, ...] = ()
    file_reads: tuple[FileUse, ...] = ()
    missing_files: tuple[FileUse, ...] = ()
    mentioned: frozenset[str] = frozenset()

    @property
    def shows_nothing(self) -> bool:
        """Whether there is nothing that a job could fail to match."""
        return not any(getattr(self, name) for name in self.__slots__ if name != "texts")


def bare(name: str) -> str:
    """Return a name in the form that options, attributes, and keys have in common."""
    return name.lstrip("-").replace("-", "_").lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadScript:
    """``name``: its name in the spec. ``reason`` ends a sentence; ``path`` is where the spec names the script."""

    name: str
    reason: str
    path: Path
    help: str = ""


_INTERPRETER = r"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?([^\s/]+)([^\n]*)"
_BOM = b"\xef\xbb\xbf"
_SHELLS: dict[str, Literal["bash", "sh"]] = {"bash": "bash", "sh": "sh", "dash": "sh"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignScript:
    """``name``: its path in the source, empty for a text in the spec, which is at ``path``; ``content``: its bytes.

    The content is empty if it is too long to check. ``shell``: what starts it, empty if its first line decides that;
    ``options``: those of the shell. ``called``: the scripts of the source that it starts, from ``line`` of a script.

    ``is_sourced``: the shell of its caller reads it. ``sets_mode`` and ``sets_content``: a script that runs before may
    make it executable, or tests whether it is, and may write it.
    """

    name: str
    file: str
    content: bytes = b""
    path: Path = ("entry_point", "script")
    shell: str = ""
    options: str = ""
    is_executable: bool = True
    line: int = 0
    is_sourced: bool = False
    sets_mode: bool = False
    sets_content: bool = False
    called: tuple[ForeignScript, ...] = ()

    @property
    def text(self) -> str:
        """Its text with the line ends of Linux."""
        return self.content.removeprefix(_BOM).decode("utf-8", "replace").replace("\r\n", "\n")

    @property
    def has_broken_interpreter(self) -> bool:
        """Whether its first line names an interpreter that ends with a carriage return, which no system has."""
        first, ending, _ = self.content.partition(b"\n")
        return not self.shell and bool(ending) and first.startswith(b"#!") and first.endswith(b"\r")

    @property
    def hides_interpreter(self) -> bool:
        """Whether a byte order mark is before its first line, which then names no interpreter."""
        return not self.shell and self.content.startswith(_BOM + b"#!")

    @property
    def interpreter(self) -> tuple[str, str]:
        """The name of the interpreter in its first line, and its options; `sh` starts a script without one."""
        if self.shell:
            return self.shell, self.options
        found = re.match(_INTERPRETER, self.text.partition("\n")[0])
        return (found[1], found[2]) if found else ("sh" if self.name.endswith(".sh") else "", "")

    @property
    def dialect(self) -> Literal["bash", "sh", ""]:
        """The shell that reads it; empty if it is none, or an unknown one."""
        return _SHELLS.get(self.interpreter[0], "")

    def called_in_line(self, line: int, *, is_sourced: bool, sets_mode: bool, sets_content: bool) -> ForeignScript:
        return replace(self, line=line, is_sourced=is_sourced, sets_mode=sets_mode, sets_content=sets_content)

    def with_called(self, called: tuple[ForeignScript, ...]) -> ForeignScript:
        return replace(self, called=called)

"""What the text of a program says about what it wants to be given."""

from __future__ import annotations

from typing import Literal, Union

from smspec.source import SourceText, Span
from smspec.source.frozen import dataclass

Words = Union[int, Literal["?", "*", "+", "unknown"]]
"""How many words follow the name of an option, in the spelling of argparse."""

Kind = Literal["text", "int", "int literal", "float", "float literal", "bool()", "truth", "unknown"]
"""What becomes of a word. ``bool()`` makes every word but the empty one true; ``truth`` reads `true`, `no`, `1` …;
literals are also those of Python and YAML, such as `0x10`."""

Grammar = Literal["argparse", "click", "absl"]


MOST_WORDS = 1_000
"""Of one option: as many values are made for a trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``names`` with their dashes; empty for a positional. ``exclusive``: the group of which only one may be given.

    ``lowest`` and ``highest`` bound a number.
    """

    names: tuple[str, ...]
    label: str
    place: Span
    words: Words = 1
    kind: Kind = "text"
    choices: tuple[object, ...] | None = None
    ignores_case: bool = False
    lowest: float | None = None
    highest: float | None = None
    is_required: bool = False
    exclusive: int | None = None

    @property
    def called(self) -> str:
        """What the author knows it by."""
        return self.names[0] if self.names else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """One parser that reads the program's command line when it starts.

    ``is_complete``: every other option is rejected. ``required_groups``: groups of which one option must be given.
    ``not_for_one_word``: with a single word the program goes another way. ``drops``: all options are known, others are
    left over, and nothing is done with them.
    """

    library: str
    grammar: Grammar
    options: tuple[Option, ...]
    place: Span
    is_complete: bool = True
    abbreviates: bool = True
    required_groups: tuple[int, ...] = ()
    not_for_one_word: bool = False
    drops: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRead:
    """A channel that the program reads. ``name`` is in capitals where ``by`` is a variable.

    ``fails``: without the channel the program ends there.
    """

    name: str
    by: Literal["variable", "path", "job"]
    written: str
    fails: bool
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperparameterRead:
    """A hyperparameter without which the program ends there. ``name`` is in capitals where ``by`` is a variable."""

    name: str
    by: Literal["variable", "job"]
    written: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableRead:
    """A variable ``SM_…``, of no channel or hyperparameter, without which the program ends there."""

    written: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Where arguments could not be followed any further, and why: the end of a sentence."""

    reason: str
    place: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
    """A path of the container, written literally, that certainly reaches a file ``operation``."""

    path: str
    operation: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGroup:
    """PyTorch's, formed in every run from the environment. ``variables``: those that no argument stands for."""

    variables: tuple[str, ...]
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """``texts``: the program's own, then those of the modules beside it that were read with it.

    ``mentioned``: names that the source has between quotes, where arguments may be dropped.
    ``stop``: why what its command line takes is not known, or not in full.

    ``missing_handler``: the name that is to be called with the job, where the module has no such name;
    ``definitions``: what it has instead.
    """

    texts: tuple[SourceText, ...]
    command_lines: tuple[CommandLine, ...] = ()
    channels: tuple[ChannelRead, ...] = ()
    hyperparameters: tuple[HyperparameterRead, ...] = ()
    file_uses: tuple[FileUse, ...] = ()
    process_groups: tuple[ProcessGroup, ...] = ()
    missing_handler: str | None = None
    definitions: tuple[str, ...] = ()
    stop: Stop | None = None
    variables: tuple[VariableRead, ...] = ()
    mentioned: frozenset[str] = frozenset()


def bare(name: str) -> str:
    """Return a name as options, attributes, and keys of one thing have in common."""
    return name.lstrip("-").replace("-", "_").lower()

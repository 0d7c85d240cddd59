"""A script together with what its job passes to it."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Note
from smspec.script.program import Program
from smspec.script.script_environment import Argument, ArgumentFault, FaultKind, ScriptEnvironment
from smspec.source import Path, Span
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptAndJob:
    """``faults``: what the parsers of the script would reject in its command line."""

    program: Program
    environment: ScriptEnvironment
    faults: tuple[ArgumentFault, ...]

    @property
    def name(self) -> str:
        """The name of the script in a message."""
        return self.program.texts[0].name.replace("\\", "/").rpartition("/")[2]

    def of_kind(self, *kinds: FaultKind) -> Iterator[ArgumentFault]:
        return (fault for fault in self.faults if fault.kind in kinds)

    def path_of(self, fault: ArgumentFault) -> Path:
        return fault.argument.path if fault.argument is not None else self.environment.hyperparameters_path


def passes(both: ScriptAndJob, options: tuple[str, ...]) -> bool:
    """Return whether the job may pass any of these options, also abbreviated; an unknown command line may."""
    if both.environment.arguments is None:
        return bool(options)
    words = [word.partition("=")[0] for word in both.environment.words if word.startswith("-")]
    return any(name == word or (len(word) > 2 and name.startswith(word)) for name in options for word in words)


def option_word(argument: Argument) -> str:
    """Return the first word of an argument: the option as the script receives it."""
    return argument.words[0] if argument.words else ""


def near_name(fault: ArgumentFault) -> str:
    """Return the label that suggests a similar name, in the form in which the author writes it."""
    if fault.near is None:
        return ""
    is_hyperparameter = fault.argument is not None and fault.argument.hyperparameter is not None
    return f"did you mean `{fault.near.lstrip('-') if is_hyperparameter else fault.near}`?"


def notes(fault: ArgumentFault) -> tuple[Note, ...]:
    """Return notes on where the option is declared, or where the command line is parsed."""
    if fault.option is not None:
        return (Note("the script declares it here", fault.option.place),)
    return (Note("the script reads its arguments here", fault.command_line.place),)


def read_at(place: Span) -> tuple[Note, ...]:
    return (Note("the script reads it here", place),)

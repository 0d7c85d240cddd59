"""What a job passes to its script, as far as the script can be checked against it."""

from __future__ import annotations

from smspec.source import Path
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Words on the command line that belong together; ``path`` is where the spec sets them.

    ``hyperparameter``: its name; None for words that are written as arguments. ``value``: their meaning.
    """

    words: tuple[str, ...]
    path: Path
    hyperparameter: str | None = None
    value: object = None

    @property
    def label(self) -> str:
        """Its name in a message."""
        return self.hyperparameter if self.hyperparameter is not None else " ".join(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptEnvironment:
    """``arguments`` None: the command line is unknown. ``variables`` are set in addition to those of SageMaker.

    ``piped``: the channels in Pipe mode. ``is_bare``: only the spec adds variables to those of an official image of
    Python. ``forms_groups``: a launcher, or an image that may have one, sets what PyTorch's process groups need.
    ``isolation_path``: the key that isolates the container, None without one. ``unrouted_path``: the key that puts it
    in a VPC without a package index. ``packages``: those that the spec adds to the image, None if they are unknown.
    ``hyperparameters_path`` and ``channels_path`` are where the spec has them, or could have; ``program_path`` is where
    it names the script.
    """

    arguments: tuple[Argument, ...] | None
    hyperparameters: tuple[str, ...]
    channels: tuple[str, ...]
    variables: frozenset[str]
    forms_groups: bool = True
    isolation_path: Path | None = None
    unrouted_path: Path | None = None
    packages: frozenset[str] | None = frozenset()
    piped: tuple[str, ...] = ()
    is_bare: bool = False
    hyperparameters_path: Path
    channels_path: Path
    program_path: Path

    @property
    def words(self) -> list[str]:
        """The command line after the script."""
        return [word for argument in self.arguments or () for word in argument.words]

"""The files that a job wrote to directories that SageMaker keeps."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from smspec.rehearsal.trial import Trial
from smspec.source.deep_directories import files_below
from smspec.source.frozen import dataclass

_NUMBER = re.compile(r"\d+")
_OUTPUT = ("opt", "ml", "output", "data")


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """``sizes``: name → bytes."""

    sizes: Mapping[str, int]

    @classmethod
    def of(cls, directory: str) -> WrittenFiles:
        """Return the files below a directory, links excluded."""
        return cls(
            {name: os.path.getsize(path) for name, path in files_below(directory).items() if not os.path.islink(path)}
        )

    def counterpart(self, name: str) -> str | None:
        """Return the file with this name, or the only one whose name differs in its numbers alone, such as a time."""
        if name in self.sizes:
            return name
        kind = _NUMBER.sub("#", name)
        similar = [other for other in self.sizes if _NUMBER.sub("#", other) == kind]
        return similar[0] if len(similar) == 1 else None

    def pages(self, page: int) -> int:
        """Return the room that they need in pages of memory."""
        return sum(-(-size // page) for size in self.sizes.values())


def written_by(trial: Trial, host: str) -> WrittenFiles:
    """Return the model, the output data, and the checkpoints of a host."""
    directories = [
        trial.model_directory(host),
        os.path.join(trial.root(host), *_OUTPUT),
        trial.checkpoint_directory(host),
    ]
    sizes: dict[str, int] = {}
    for directory in directories:
        if directory is not None and trial.is_real(directory):
            found = WrittenFiles.of(directory).sizes
            sizes |= {os.path.join(directory, name): size for name, size in found.items()}
    return WrittenFiles(sizes)


def written_model(trial: Trial, host: str) -> WrittenFiles:
    """Return the model of a host."""
    directory = trial.model_directory(host)
    return WrittenFiles.of(directory) if trial.is_real(directory) else WrittenFiles({})

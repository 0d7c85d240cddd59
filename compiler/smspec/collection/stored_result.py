"""What a job has left, wherever it is stored: archives or single files, of the model and of the output data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.source.frozen import dataclass

MODEL, OUTPUT = "model", "output"
KINDS = (MODEL, OUTPUT)
ARCHIVE = ".tar.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of ``size`` bytes. ``name``: model.tar.gz, or model/PATH. ``blocks`` reads and checks it."""

    name: str
    size: int
    blocks: Callable[[], Iterator[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """The result of a job; ``status`` as SageMaker calls it. ``hosts`` 0: unknown. ``place`` is for messages."""

    job: str
    status: str
    hosts: int
    place: str
    files: tuple[StoredFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

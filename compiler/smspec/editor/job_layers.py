"""The texts that a job consists of, as they are typed: its own and those of the base specs that it extends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from smspec.editor.tolerant_outline import Entry, TolerantOutline, Word
from smspec.pipeline.spec_files import MOST_BASES
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.yaml.text_limits import MAX_BYTES
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.spec_marker import is_meant_as_spec


@dataclass(frozen=True, slots=True)
class Layer:
    """One file; ``path`` is None for a document without a file."""

    path: str | None
    lines: tuple[str, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class JobLayers:
    """``layers``: the job's own file, then the base specs that it extends, the nearest first."""

    layers: tuple[Layer, ...]

    def find(self, path: Path) -> tuple[Layer, Entry] | None:
        """Return the entry at a path, in the first layer that has it."""
        for layer in self.layers:
            for entry in layer.entries:
                if entry.path == path:
                    return layer, entry
        return None

    def names(self, path: Path) -> list[str]:
        """Return the keys directly below a path, in all layers."""
        below = (entry.path[-1] for layer in self.layers for entry in layer.entries if entry.path[:-1] == path)
        return list(dict.fromkeys(name for name in below if isinstance(name, str)))

    def values(self, path: Path) -> list[str]:
        """Return the values at a path in all layers; ``*`` stands for any step."""
        return list(dict.fromkeys(word.text for word in self._words(path)))

    def value(self, path: Path) -> str | None:
        return next(iter(self.values(path)), None)

    def _words(self, path: Path) -> Iterator[Word]:
        for layer in self.layers:
            for entry in layer.entries:
                is_here = len(entry.path) == len(path) and all(
                    wanted in ("*", step) for wanted, step in zip(path, entry.path, strict=True)
                )
                if is_here and entry.value is not None:
                    yield entry.value


def job_layers(path: str | None, lines: tuple[str, ...], contents: Mapping[str, bytes]) -> JobLayers:
    """Return the layers of the spec at a real path with these lines. ``contents``: unsaved texts by real path.

    Only files of the repository are read, and of these only specs. What cannot be read is left out.
    """
    layers: list[Layer] = []
    if path is None:
        return JobLayers((Layer(None, lines, tuple(TolerantOutline(lines).entries)),))
    boundary = boundary_of(os.path.dirname(path))
    ahead: list[tuple[str, tuple[str, ...] | None]] = [(path, lines)]
    while ahead and len(layers) <= MOST_BASES:
        here, known = ahead.pop(0)
        if any(layer.path == here for layer in layers):
            continue
        text = known if known is not None else _read(here, boundary, contents)
        if text is None:
            continue
        layer = Layer(here, text, tuple(TolerantOutline(text).entries))
        layers.append(layer)
        bases = [e.value.text for e in layer.entries if e.path[:-1] == ("extends",) and e.value is not None]
        ahead += [(os.path.realpath(os.path.join(os.path.dirname(here), base)), None) for base in reversed(bases)]
    return JobLayers(tuple(layers))


def _read(path: str, boundary: Boundary, contents: Mapping[str, bytes]) -> tuple[str, ...] | None:
    try:
        content = contents[path] if path in contents else boundary.read(path, MAX_BYTES)
    except (FileNotRead, OSError, ValueError):
        return None
    if len(content) > MAX_BYTES or not is_meant_as_spec(content):
        return None
    return tuple(content.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n"))

"""What the word under the pointer means, as Markdown, and where what it mentions is written.

A job consists of several texts, as they are typed: its own and those of the base specs that it extends. A word may
mention a base spec, a variable, the script, a channel, a group, or a file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from smspec.diagnostics.explanation import explanation, explanation_place
from smspec.editor.editor_schema import instance_words, prices_for
from smspec.editor.tolerant_outline import OutlineEntry, TolerantOutline, Word
from smspec.pipeline.inputs import MOST_BASES
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass
from smspec.spec.schema.reference import explain_key
from smspec.spec.yaml.events import MAX_BYTES
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.spec_reading import is_meant_as_spec

_CODE = re.compile(r"\bSM\d{3}\b")
_VARIABLE = re.compile(r"\$\{\{\s*vars\.([A-Za-z0-9_-]+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Layer:
    """One file; ``path`` is None for a document without a file."""

    path: str | None
    lines: tuple[str, ...]
    entries: tuple[OutlineEntry, ...]


@dataclass(frozen=True, slots=True)
class JobLayers:
    """``layers``: the job's own file, then the base specs that it extends, the nearest first."""

    layers: tuple[Layer, ...]

    def find(self, path: Path) -> tuple[Layer, OutlineEntry] | None:
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


@dataclass(frozen=True, slots=True)
class Hover:
    """``text`` is about the code points from ``start`` to ``end`` of the line."""

    text: str
    start: int
    end: int


def hover_at(layers: JobLayers, line: int, column: int) -> Hover | None:
    """Return what is known about the key or value at a position of the first layer; None if there is nothing."""
    own = layers.layers[0]
    written = own.lines[line] if line < len(own.lines) else ""
    for match in _CODE.finditer(written):
        page = explanation(match[0])
        if page is not None and match.start() <= column <= match.end():
            return Hover(page, *match.span())
    for match in _VARIABLE.finditer(written):
        if match.start() <= column <= match.end():
            text = _variable(match[1], layers)
            return Hover(text, *match.span()) if text else None
    for entry in own.entries:
        for word in (entry.key, entry.value):
            if word is not None and word.has(line, column):
                text = _about(entry, word, layers)
                return Hover(text, word.start, word.end) if text else None
    return None


def variable_at(line: str, column: int) -> str | None:
    """Return the name of the variable at a position of a line."""
    return next((m[1] for m in _VARIABLE.finditer(line) if m.start() <= column <= m.end()), None)


def job_path(path: Path) -> Path:
    """Return a path without the overlay that it is in: an overlay is a partial job."""
    return path[2:] if path[:1] == ("overlays",) and len(path) > 2 else path


def _about(entry: OutlineEntry, word: Word, layers: JobLayers) -> str | None:
    path = job_path(entry.path)
    if path[-1:] == ("instance_type",) and word is entry.value:
        facts = instance_words(word.text, prices_for(layers.layers[0].path, layers.value(("region",))))
        return f"**{word.text}**\n\n{facts}" if facts else None
    if path[:1] == ("vars",) and len(path) == 2 and word is entry.key:
        return _variable(str(path[1]), layers)
    return explain_key(dotted(path)) if path else None


def _variable(name: str, layers: JobLayers) -> str | None:
    default = layers.value(("vars", name, "default"))
    choices = layers.values(("vars", name, "enum", "*"))
    description = layers.value(("vars", name, "description"))
    if name not in layers.names(("vars",)):
        return None
    lines = [f"**vars.{name}**"]
    lines += [description] if description else []
    lines.append(f"value: `{default}`" if default is not None else "no default: set it with `--set`")
    lines += [f"choices: {', '.join(f'`{choice}`' for choice in choices)}"] if choices else []
    return "\n\n".join(lines)


@dataclass(frozen=True, slots=True)
class HoverTarget:
    """A file, and the word in it; None: the beginning of a line, which counts from 0."""

    path: str
    word: Word | None = None
    line: int = 0


def definition_at(layers: JobLayers, line: int, column: int) -> HoverTarget | None:
    """Return what the word at a position of the first layer refers to; None if that is unknown or not on disk."""
    own = layers.layers[0]
    written = own.lines[line] if line < len(own.lines) else ""
    variable = variable_at(written, column)
    if variable is not None:
        return _entry(layers, ("vars", variable))
    for entry in own.entries:
        if entry.value is not None and entry.value.has(line, column):
            return _of_value(layers, job_path(entry.path), entry.value.text)
        if (
            entry.key is not None
            and entry.key.has(line, column)
            and job_path(entry.path)[:2] == ("entry_point", "read")
        ):
            return _entry(layers, ("channels", entry.key.text))
    return None


def _of_value(layers: JobLayers, path: Path, text: str) -> HoverTarget | None:
    if path[:2] == ("checks", "ignore") and path[-1:] == ("rule",):
        page = explanation_place(text)
        return None if page is None else HoverTarget(page[0], line=page[1] - 1)
    if path[:1] == ("channels",) and path[2:3] == ("instance_groups",):
        return _group(layers, text)
    if path in (("entry_point",), ("entry_point", "script")):
        source = layers.value(("source",)) or layers.value(("source", "dir")) or "."
        return _file(layers, os.path.join(source, text))
    if path[:1] == ("extends",) or path in (("source",), ("source", "dir"), ("image", "python_requirements")):
        return _file(layers, text)
    return _file(layers, text) if path[:1] == ("channels",) and path[2:] == ("local",) else None


def _entry(layers: JobLayers, path: Path) -> HoverTarget | None:
    found = layers.find(path)
    if found is None or found[0].path is None:
        return None
    return HoverTarget(found[0].path, found[1].key)


def _group(layers: JobLayers, name: str) -> HoverTarget | None:
    for layer in layers.layers:
        for entry in layer.entries:
            is_name = entry.path[:2] == ("hosts", "groups") and entry.path[-1:] == ("name",)
            if is_name and layer.path is not None and entry.value is not None and entry.value.text == name:
                return HoverTarget(layer.path, entry.value)
    return None


def _file(layers: JobLayers, written: str) -> HoverTarget | None:
    own = layers.layers[0].path
    if own is None or "${{" in written or "\0" in written:
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(own), written))
    return HoverTarget(path) if os.path.exists(path) else None

"""Where what a spec mentions is written: base specs, variables, the script, channels, groups, and files."""

from __future__ import annotations

import os

from smspec.diagnostics.explanation import explanation_place
from smspec.editor.hover import job_path, variable_at
from smspec.editor.job_layers import JobLayers
from smspec.editor.tolerant_outline import Word
from smspec.source import Path
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and the word in it; None: the beginning of a line, which counts from 0."""

    path: str
    word: Word | None = None
    line: int = 0


def definition_at(layers: JobLayers, line: int, column: int) -> Target | None:
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


def _of_value(layers: JobLayers, path: Path, text: str) -> Target | None:
    if path[:2] == ("checks", "ignore") and path[-1:] == ("rule",):
        page = explanation_place(text)
        return None if page is None else Target(page[0], line=page[1] - 1)
    if path[:1] == ("channels",) and path[2:3] == ("instance_groups",):
        return _group(layers, text)
    if path in (("entry_point",), ("entry_point", "script")):
        source = layers.value(("source",)) or layers.value(("source", "dir")) or "."
        return _file(layers, os.path.join(source, text))
    if path[:1] == ("extends",) or path in (("source",), ("source", "dir"), ("image", "python_requirements")):
        return _file(layers, text)
    return _file(layers, text) if path[:1] == ("channels",) and path[2:] == ("local",) else None


def _entry(layers: JobLayers, path: Path) -> Target | None:
    found = layers.find(path)
    if found is None or found[0].path is None:
        return None
    return Target(found[0].path, found[1].key)


def _group(layers: JobLayers, name: str) -> Target | None:
    for layer in layers.layers:
        for entry in layer.entries:
            is_name = entry.path[:2] == ("hosts", "groups") and entry.path[-1:] == ("name",)
            if is_name and layer.path is not None and entry.value is not None and entry.value.text == name:
                return Target(layer.path, entry.value)
    return None


def _file(layers: JobLayers, written: str) -> Target | None:
    own = layers.layers[0].path
    if own is None or "${{" in written or "\0" in written:
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(own), written))
    return Target(path) if os.path.exists(path) else None

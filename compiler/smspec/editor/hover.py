"""What an editor shows about the word under the pointer, as Markdown."""

from __future__ import annotations

import re

from smspec.diagnostics.explanation import explanation
from smspec.editor.instance_words import instance_words, prices_for
from smspec.editor.job_layers import JobLayers
from smspec.editor.tolerant_outline import Entry, Word
from smspec.source import Path, dotted
from smspec.source.frozen import dataclass
from smspec.spec.schema.reference import explain_key

_CODE = re.compile(r"\bSM\d{3}\b")
_VARIABLE = re.compile(r"\$\{\{\s*vars\.([A-Za-z0-9_-]+)\s*\}\}")


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


def _about(entry: Entry, word: Word, layers: JobLayers) -> str | None:
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

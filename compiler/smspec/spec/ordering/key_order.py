"""Order the keys of a spec as the reference lists them. Lines move; their text stays the same.

Names that an author chooses (channels, hyperparameters, variables) keep their order, because it can matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise

from smspec.diagnostics import InvalidInput
from smspec.source import Mapping, Node, Path, Scalar, Sequence, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.ordering.entry_lines import EntryLines, entry_lines
from smspec.spec.schema.keys import key_path, keys_in
from smspec.spec.yaml.yaml_reader import read

_MOST_TRIED = 40
"""Attempts to order a single mapping, where not all could be ordered together; each parses the text."""

Selection = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class Ordered:
    """``kept``: the lines of mappings whose keys are out of order and stay so; lines count from 1."""

    text: str
    kept: tuple[int, ...] = ()


def in_order(text: SourceText) -> Ordered:
    """Return a spec with its keys in the order of the reference. Raise `InvalidInput` if it cannot be parsed.

    The result has the same lines, values, and comments. A mapping stays as it is where moving its lines would change
    more than the order, for example because an alias would precede its anchor.
    """
    root = read(text).root
    wrong = _out_of_order(root)
    if not wrong:
        return Ordered(text.text)
    breaks = _line_break(text.text)
    if breaks is None:
        return Ordered(text.text, tuple(sorted(wrong)))
    plain = SourceText(text.name, text.text.replace(breaks, "\n"))
    start = read(plain).root
    together = _rewritten(plain, start, lambda _: True)
    if together is None and isinstance(start, Mapping):
        # Anchors mostly connect top-level keys, so the rest can still be ordered together.
        together = _rewritten(plain, start, start.entries[0][0].span.line.__ne__)
    ordered = _one_at_a_time(plain if together is None else SourceText(text.name, together))
    return Ordered(ordered.text.replace("\n", breaks), ordered.kept)


def _line_break(text: str) -> str | None:
    """Return what ends each line; None if lines end in different ways."""
    pairs = text.count("\r\n")
    return "\n" if not pairs else "\r\n" if pairs == text.count("\n") else None


def _one_at_a_time(text: SourceText) -> Ordered:
    """Order each mapping for which that succeeds, until it does for none."""
    current = text
    tried: set[tuple[str, int]] = set()
    while ahead := [line for line in sorted(_out_of_order(read(current).root)) if (current.text, line) not in tried]:
        if len(tried) == _MOST_TRIED:
            # A part of them would be ordered now, and more by the next run.
            return Ordered(text.text, tuple(sorted(_out_of_order(read(text).root))))
        tried.add((current.text, ahead[0]))
        better = _rewritten(current, read(current).root, ahead[0].__eq__)
        current = current if better is None else SourceText(text.name, better)
    return Ordered(current.text, tuple(sorted(_out_of_order(read(current).root))))


def _rewritten(text: SourceText, root: Node, selection: Selection) -> str | None:
    """Return the text with the selected mappings in order; None if it then differs in more than the order."""
    lines = text.text.split("\n")
    arranged = "\n".join(_arranged(lines, root, (), 0, len(lines), selection))
    try:
        after = read(SourceText(text.name, arranged)).root
    except InvalidInput:
        return None
    is_same = _content(after, ()) == _content(root, ()) and _lines(arranged) == _lines(text.text)
    return arranged if is_same else None


def _lines(text: str) -> Counter[str]:
    return Counter(re.sub(r"^\s*(?:-[ ]+)*", "", line).rstrip("\r") for line in text.split("\n"))


def _arranged(lines: list[str], node: Node, path: Path, start: int, end: int, selection: Selection) -> list[str]:
    """Return the lines from ``start`` to ``end``, which contain a node, with its mappings in order."""
    if isinstance(node, Scalar) or node.used_at is not None:
        return lines[start:end]
    entries = entry_lines(node, lines, start, end) if isinstance(node, Mapping) else None
    if entries is None or not isinstance(node, Mapping):
        return _inside(lines, node, path, start, end, selection)
    bounds = [*entries.starts, entries.end]
    chunks = []
    for number, (name, value) in enumerate(node.entries):
        first, key, last = bounds[number], entries.keys[number], bounds[number + 1]
        inner = _arranged(lines, value, (*path, name.text), key + 1, last, selection) if key + 1 < last else []
        chunks.append([*lines[first:key], lines[key], *inner])
    order = _order(node, path) if selection(node.entries[0][0].span.line) else list(range(len(chunks)))
    moved = _moved(chunks, entries, order, node.entries[0][0].span.column - 1)
    return [*lines[start : bounds[0]], *moved, *lines[entries.end : end]]


def _moved(chunks: list[list[str]], entries: EntryLines, order: list[int], column: int) -> list[str]:
    """Return the lines of the entries in a different order; those of an item of a list keep the dash in front."""
    is_item = bool(entries.prefix.strip(" "))
    front_has_comments = entries.keys[order[0]] > entries.starts[order[0]]
    if order == sorted(order) or (is_item and front_has_comments):
        return [line for chunk in chunks for line in chunk]
    if is_item:
        above = entries.keys[0] - entries.starts[0]
        comments, chunks[0] = chunks[0][:above], chunks[0][above:]
        chunks[0][0] = " " * column + chunks[0][0][column:]
        front = chunks[order[0]]
        front[0] = entries.prefix + front[0][column:]
        chunks[order[0]] = [*comments, *front]
    return [line for number in order for line in chunks[number]]


def _inside(lines: list[str], node: Node, path: Path, start: int, end: int, selection: Selection) -> list[str]:
    """Return the lines with the mappings inside a node in order, where each of its parts has lines of its own."""
    parts = list(_parts(node, path))
    firsts = [part.span.line - 1 for _, part in parts]
    if not parts or not isinstance(node, Sequence) or any(a >= b for a, b in pairwise(firsts)):
        return lines[start:end]
    if firsts[0] < start or firsts[-1] >= end or any(part.used_at for _, part in parts):
        return lines[start:end]
    result = lines[start : firsts[0]]
    for (below, part), first, last in zip(parts, firsts, [*firsts[1:], end], strict=True):
        result += _arranged(lines, part, below, first, last, selection)
    return result


def _parts(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    if isinstance(node, Sequence):
        yield from (((*path, index), item) for index, item in enumerate(node.items))
    elif isinstance(node, Mapping):
        yield from (((*path, key.text), value) for key, value in node.entries)


def _order(mapping: Mapping, path: Path) -> list[int]:
    """Return the positions of the entries in the order of the reference; unknown keys are last."""
    known = _known(path)
    ranks = [known.index(key.text) if key.text in known else len(known) for key, _ in mapping.entries]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def _known(path: Path) -> tuple[str, ...]:
    """Return the keys of the mapping at a path, in order; none where an author chooses the names."""
    while path[:1] == ("overlays",) and len(path) > 1:
        path = path[2:]  # an overlay is a partial job
    here = key_path(path)
    return () if here is None or here[:1] == ("api",) else keys_in(here)


def _out_of_order(root: Node, path: Path = ()) -> set[int]:
    """Return the first lines of the mappings in block style whose keys are out of order."""
    if isinstance(root, Scalar) or root.used_at is not None:
        return set()
    found: set[int] = set()
    if isinstance(root, Mapping) and root.entries:
        lines = [key.span.line for key, _ in root.entries]
        order = _order(root, path)
        if len({*lines}) == len(lines) and order != list(range(len(order))):
            found.add(lines[0])
    for below, part in _parts(root, path):
        found |= _out_of_order(part, below)
    return found


def _content(node: Node, path: Path) -> object:
    """Return what a tree says, without the order of the keys of the spec itself; types of values differ."""
    if isinstance(node, Mapping):
        entries = [(key.text, _content(value, (*path, key.text))) for key, value in node.entries]
        return "mapping", tuple(sorted(entries, key=lambda entry: entry[0]) if _known(path) else entries)
    if isinstance(node, Sequence):
        return "list", tuple(_content(item, (*path, index)) for index, item in enumerate(node.items))
    return type(node.value), repr(node.value), node.plain

"""Order the keys of a spec. Lines move; their text stays the same.

The keys of the job itself come in parts: `smspec`, whose job it is, what it does, and what other tools need. In a part,
authors disagree on the order, and theirs is kept. The keys of a mapping inside it follow the reference.

The lines of an entry of a mapping in block style include the comments around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Lines
from itertools import pairwise

from smspec.diagnostics import InvalidInput
from smspec.source import Mapping, Node, Path, Scalar, Sequence, SourceText
from smspec.source.frozen import dataclass
from smspec.spec.schema import key_path, keys_in
from smspec.spec.yaml import read

_MOST_TRIED = 40
"""Attempts to order a single mapping, where not all could be ordered together; each parses the text."""

Selection = Callable[[int], bool]

_HEAD = ("smspec",)
_IDENTITY = ("extends", "name", "description", "role", "region", "account")
_TAIL = ("overlays", "rehearsal", "checks")

_MODELINE = re.compile(r"#\s*(?:yaml-language-server:|-\*-|vim?:|[\w-]+\s*:\s*disable)|#!")
_DASHES = re.compile(r"\s*(?:-[ ]+)+")


@dataclass(frozen=True, slots=True)
class Ordered:
    """``kept``: the lines of mappings whose keys are out of order and stay so; lines count from 1."""

    text: str
    kept: tuple[int, ...] = ()


def in_order(text: SourceText) -> Ordered:
    """Return a spec with its keys in order. Raise `InvalidInput` if it cannot be parsed.

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
    """Return the positions of the entries in order; unknown keys of a mapping inside a job are last."""
    known = _known(path)
    if is_job(path):
        ranks = [part_of(key.text) for key, _ in mapping.entries]
    else:
        ranks = [known.index(key.text) if key.text in known else len(known) for key, _ in mapping.entries]
    return sorted(range(len(ranks)), key=ranks.__getitem__)


def part_of(key: str) -> int:
    """Return the number of the part of a job that a key belongs to; unknown keys may do something for the job."""
    return 0 if key in _HEAD else 1 if key in _IDENTITY else 3 if key in _TAIL else 2


def is_job(path: Path) -> bool:
    """Return whether the mapping at a path has the keys of a job: the spec, or an overlay."""
    return not path or (path[0] == "overlays" and len(path) == 2)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLines:
    """``starts`` are the first line of each entry, with the comments above it; ``keys``: the lines of the keys.

    ``end`` is the line after the last entry. ``prefix``: the text in front of the first key, spaces or dashes. Lines
    count from 0.
    """

    starts: tuple[int, ...]
    keys: tuple[int, ...]
    end: int
    prefix: str


def entry_lines(mapping: Mapping, lines: Lines[str], start: int, end: int) -> EntryLines | None:
    """Return the lines of the entries of a mapping in the lines from ``start`` to ``end``.

    None unless each key begins a line: in flow style, with a merge key, or with an explicit key (``? key``).
    """
    keys = tuple(key.span.line - 1 for key, _ in mapping.entries)
    columns = {key.span.column for key, _ in mapping.entries}
    if not keys or len(columns) > 1 or any(one >= other for one, other in pairwise(keys)):
        return None
    if keys[0] < start or keys[-1] >= end or any(key.used_at for key, _ in mapping.entries):
        return None
    column = columns.pop() - 1
    prefix = lines[keys[0]][:column]
    if prefix.strip(" ") and not _DASHES.fullmatch(prefix):
        return None
    if any(lines[key][:column].strip(" ") for key in keys[1:]):
        return None
    ends = [value.used_at or value.span for _, value in mapping.entries]
    contents = [max(key, last.end_line - 1) for key, last in zip(keys, ends, strict=True)]
    if any(last >= following for last, following in zip(contents, keys[1:], strict=False)):
        return None
    first = _first(lines, start, keys[0])
    between = [_split(lines, last + 1, key, column) for last, key in zip(contents, keys[1:], strict=False)]
    starts = (first, *between)
    return EntryLines(starts=starts, keys=keys, end=_below(lines, contents[-1] + 1, end, column), prefix=prefix)


def _first(lines: Lines[str], start: int, key: int) -> int:
    """Return where the first entry begins: comments up to an empty line, or for editors, are those of the file."""
    at = key
    while at > start and _is_comment(lines[at - 1]) and not _MODELINE.match(lines[at - 1].lstrip("\ufeff \t")):
        at -= 1
    return at


def _split(lines: Lines[str], start: int, key: int, column: int) -> int:
    """Return where the entry of the key begins, between the last line of the entry before it and the key.

    A comment belongs to the entry below it, unless it is indented deeper, or only an empty line separates the two and
    none is above it.
    """
    at = start
    while at < key and _is_comment(lines[at]) and _indentation(lines[at]) > column:
        at += 1
    block = at
    while block < key and _is_comment(lines[block]):
        block += 1
    if at < block < key:
        at = block
    deeper = [line + 1 for line in range(at, key) if _is_comment(lines[line]) and _indentation(lines[line]) > column]
    return max([at, *deeper])


def _below(lines: Lines[str], start: int, end: int, column: int) -> int:
    """Return the end of the last entry: comments that follow it without an empty line, and are indented deeper."""
    at = start
    while at < end and _is_comment(lines[at]) and _indentation(lines[at]) > column:
        at += 1
    return at


def _is_comment(line: str) -> bool:
    return line.lstrip("\ufeff \t").startswith("#")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))

"""Format a merged spec as YAML that parses to the same tree.

Block style, in the order of the document, without folded lines. A value keeps its spelling; a quoted value stays
quoted, or becomes a text block if it has several lines. A string that some YAML parser would not read as a string is
quoted, such as `on` and `<<`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from smspec.diagnostics.quoting import visible
from smspec.diagnostics.unseen import unseen_parts
from smspec.source import Document, Mapping, Node, Scalar, Sequence
from smspec.spec.yaml.events import is_text_everywhere, meaning

# A YAML parser stops searching for the `:` after 1,024 characters of a key.
_LONGEST_KEY = 1000
_BREAK = "\n"
_NOT_PLAIN_FIRST = frozenset(",[]{}#&*!|>'\"%@`")
_NEVER_PLAIN = re.compile(r": |:\t|:$|[ \t]#|[\x00-\x1f]")


Mark = Callable[[Node], str]
"""Returns what follows a value on its line."""


def spec_yaml(document: Document, *, origins: bool = False) -> str:
    """Return the document as YAML; with ``origins``, a comment after each value has its file and line."""
    root, mark = document.root, _origin if origins else _nothing
    return "".join(f"{line}\n" for line in _block(root, mark)) if _has_parts(root) else f"{_inline(root)}\n"


def _nothing(_: Node) -> str:
    return ""


def _origin(node: Node) -> str:
    return f"  # {visible(node.span.file)}:{node.span.line}"


def _block(node: Node, mark: Mark) -> Iterator[str]:
    """Yield the lines of a list or mapping with entries, not indented."""
    if isinstance(node, Sequence):
        for item in node.items:
            yield from _hung("-", item, mark)
    elif isinstance(node, Mapping):
        for key, value in node.entries:
            written = _key(key)
            if len(written) > _LONGEST_KEY:
                yield f"? {written}"
                yield from _hung(":", value, mark)
            elif _has_parts(value):
                yield f"{written}:"
                yield from (f"  {line}" for line in _block(value, mark))
            else:
                yield from _lines(f"{written}:", value, mark)


def _hung(sign: str, node: Node, mark: Mark) -> Iterator[str]:
    """Yield the lines of a value that starts on the line of its sign."""
    if not _has_parts(node):
        yield from _lines(sign, node, mark)
        return
    for number, line in enumerate(_block(node, mark)):
        yield f"  {line}" if number else f"{sign} {line}"


def _lines(before: str, node: Node, mark: Mark) -> Iterator[str]:
    """Yield the lines of a scalar, or an empty collection, after a key or a dash."""
    if isinstance(node, Scalar) and _is_text_block(node.text):
        yield f"{before} {'|' if node.text.endswith(_BREAK) else '|-'}{mark(node)}"
        yield from (f"  {line}" if line else "" for line in node.text.removesuffix("\n").split("\n"))
        return
    inline = _inline(node)
    yield f"{before} {inline}{mark(node)}" if inline else f"{before}{mark(node)}"


def _inline(node: Node) -> str:
    if isinstance(node, Scalar):
        return node.text if node.plain and _can_be_plain(node) else _quoted(node.text)
    return "[]" if isinstance(node, Sequence) else "{}"


def _key(key: Scalar) -> str:
    text = key.text
    plain = is_text_everywhere(text) and not text.startswith(("---", "...")) and _is_plain_text(text)
    return text if plain else _quoted(text)


def _can_be_plain(scalar: Scalar) -> bool:
    if isinstance(scalar.value, str):
        return is_text_everywhere(scalar.text) and _is_plain_text(scalar.text)
    value = meaning(scalar.text)
    return (type(value) is type(scalar.value) and repr(value) == repr(scalar.value)) and _is_plain_text(scalar.text)


def _is_plain_text(text: str) -> bool:
    """Return whether an unquoted string reads as itself in block style. An empty one does not: it is null."""
    return not text or (
        text[0] not in _NOT_PLAIN_FIRST
        and not (text[0] in "-?:" and text[1:2] in ("", " ", "\t"))
        and text.strip(" ") == text
        and not _NEVER_PLAIN.search(text)
        and not _has_unseen(text)
    )


def _is_text_block(text: str) -> bool:
    """Return whether lines can be written below ``|`` unchanged."""
    lines = text.removesuffix("\n").split("\n")
    return (
        "\n" in text
        and bool(lines[0])
        and bool(lines[-1])
        and not lines[0][0].isspace()
        and all(not line or (line.strip() and line.replace("\t", " ").isprintable()) for line in lines)
        and not _has_unseen(text)
    )


def _quoted(text: str) -> str:
    """Return a string in double quotes; YAML parses every escape that JSON writes."""
    quoted = json.dumps(text, ensure_ascii=False)
    for start, end in reversed([*unseen_parts(quoted)]) if _has_unseen(quoted) else ():
        escapes = (
            f"\\u{ord(each):04X}" if each < "\U00010000" else f"\\U{ord(each):08X}" for each in quoted[start:end]
        )
        quoted = f"{quoted[:start]}{''.join(escapes)}{quoted[end:]}"
    return quoted


def _has_unseen(text: str) -> bool:
    """Return whether a text has characters that JSON leaves unescaped, and YAML cannot print or smspec rejects."""
    return not (text.isascii() and "\x7f" not in text) and next(unseen_parts(text), None) is not None


def _has_parts(node: Node) -> bool:
    return bool(node.items if isinstance(node, Sequence) else isinstance(node, Mapping) and node.entries)

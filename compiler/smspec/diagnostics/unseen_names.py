"""Find what a reviewer cannot see in a text, and in the names, addresses, and paths of its tree.

Free text, such as a description, may be in any script. A name is one of the keys, or a value of any other key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import ParseErrors, Rule
from smspec.diagnostics.quoting import path_name
from smspec.source import Mapping, Node, Path, Scalar, Sequence, Span

INVISIBLE_CHARACTER = Rule("SM103", "invisible character")
LOOKALIKE = Rule("SM115", "look-alike character in a name")

ANY, REST = "*", "**"

_FREE = (
    ("description",),
    ("vars", ANY, "description"),
    ("tags", ANY),
    ("hyperparameters", REST),
    ("environment", ANY),
    ("image", "env", ANY),
    ("image", "labels", ANY),
    ("metrics", ANY, "name"),
    ("metrics", ANY, "regex"),
    ("checks", "ignore", ANY, "because"),
    # Of a rule of an organization.
    ("title",),
    ("why",),
    ("help",),
    (ANY, ANY, "matches"),
    # Of a request.
    ("HyperParameters", ANY),
    ("Environment", ANY),
    ("Tags", ANY, "Value"),
    ("AlgorithmSpecification", "MetricDefinitions", ANY, REST),
)
_COMMANDS = (
    ("image", "run", REST),
    ("entry_point", "args", REST),
    ("entry_point", "command", REST),
    ("AlgorithmSpecification", "ContainerArguments", ANY),
    ("AlgorithmSpecification", "ContainerEntrypoint", ANY),
)
"""Free text in which each word with letters of two scripts counts, too: a host, a file, or a program may be meant."""
_OF_PROGRAMS = (
    ("hyperparameters", REST),
    ("environment", ANY),
    ("image", "env", ANY),
    ("HyperParameters", ANY),
    ("Environment", ANY),
)
"""Free text that a program may split: each address in it counts."""
_INSTALLER = r"(?:PIP|UV|PIPENV|POETRY|CONDA)_\w+"
"""Variables whose words are hosts, addresses, and paths."""
_AROUND = (("overlays", ANY), ("defaults",), ("api",), ("cases", ANY, ANY))
"""What may be around the keys of a spec or a request."""

_BLANKS = r"[ \t\n]+"
_MOST_CHARACTERS = 10
_MOST_REPORTED = 20


def check_text(errors: ParseErrors) -> None:
    """Add an error for each part of a text, comments too, that has no place in any text."""
    from smspec.diagnostics.unseen import unseen_parts  # imported late: most texts are ASCII

    text = errors.text.text
    for number, (start, end) in enumerate(unseen_parts(text)):
        if number == _MOST_CHARACTERS:
            return
        errors.add(
            INVISIBLE_CHARACTER,
            errors.span(start, end),
            f"invisible character: {_called(text[start])}",
            help=_help(text[start]),
        )


def check_names(errors: ParseErrors, root: Node) -> None:
    """Add an error for each key, and each value that is a name, with something that a reviewer cannot see."""
    text = errors.text.text
    if text.isascii() and "\\" not in text:
        return
    for number, (path, span, rule, message, help) in enumerate(_faults(root)):
        if number == _MOST_REPORTED:
            return
        errors.add(rule, span, message, path=path, help=help)


def line_faults(text: str) -> Iterator[tuple[int, tuple[Rule, str, str]]]:
    """Yield each line of a text with something inside that a reviewer cannot see: its number, and as `name_fault`."""
    from smspec.diagnostics.unseen import unseen_parts  # imported late, as in `check_text`

    is_continued = False
    for number, line in enumerate(text.split("\n"), 1):
        inner = line.strip()
        # Around a line they do no harm, unless they decide whether the next line continues this one.
        continues = inner.endswith("\\")
        if continues or is_continued:
            inner = line.removesuffix("\r")
        is_continued = continues
        if not (inner.isascii() and inner.isprintable()):
            start = next((start for start, _ in unseen_parts(inner)), None)
            if start is not None:
                yield number, (INVISIBLE_CHARACTER, f"contains {_called(inner[start])}", "remove it")


def name_fault(text: str, *, is_free: bool = False) -> tuple[Rule, str, str] | None:
    """Return what a reviewer cannot see in a name: the rule, the character, and what to do; None for nothing.

    ``is_free``: in free text, only an address is a name.
    """
    if text.isascii() and text.isprintable():
        return None
    if is_free and _addresses(text) != [text]:
        return None
    return _fault_of_name(text)


def _command_fault(text: str) -> tuple[Rule, str, str] | None:
    """Return what a reviewer cannot see in a command: in an address, or in a word of two scripts.

    Words of two letters are ranges of a regular expression, such as `[a-zа-я]`.
    """
    if text.isascii():
        return None
    from smspec.diagnostics.unseen import mixed_letter  # imported late, as below

    mixed = (word for word in re.findall(r"[^\W\d_]{3,}", text) if mixed_letter(word))
    names = (*_addresses(text), *mixed)
    return next(filter(None, map(_fault_of_name, names)), None)


def _addresses(text: str) -> list[str]:
    """Return the words of a text that are addresses of any form, and what begins with `arn:` inside of a word."""
    found = []
    for word in re.split(_BLANKS, text):
        begin = 0 if "://" in word[1:] or ".amazonaws." in word[1:] else word.find("arn:")
        found += [word[begin:]] * (begin >= 0)
    return found


def _fault_of_name(text: str) -> tuple[Rule, str, str] | None:
    from smspec.diagnostics.unseen import called, lookalike, unseen_in_name  # imported late, as above

    unseen = unseen_in_name(text)
    if unseen:
        return INVISIBLE_CHARACTER, f"contains {_called(unseen)}", "remove it, or write an ordinary space"
    found = lookalike(text)
    if found is None:
        return None
    character, twin = found
    return (
        LOOKALIKE,
        f"contains {called(character)}",
        f"replace it with `{twin}`, which it looks like" if twin else "replace it",
    )


def fault_in_data(data: object) -> tuple[Path, str] | None:
    """Return what a reviewer cannot see in plain data, with its path, as a sentence; None for nothing."""
    ahead: list[tuple[Path, object]] = [((), data)]
    while ahead:
        path, value = ahead.pop()
        if isinstance(value, dict):
            ahead += [((*path, str(name)), member) for name, member in value.items()]
        elif isinstance(value, list):
            ahead += [((*path, index), item) for index, item in enumerate(value)]
        texts = [*map(str, value)] if isinstance(value, dict) else [value] if isinstance(value, str) else []
        for text in texts:
            fault = name_fault(text) if isinstance(value, dict) else _value_fault(text, path)
            if fault:
                here = (*path, text) if isinstance(value, dict) else path
                return here, f"{path_name(here)} {fault[1]}; {fault[2]}"
    return None


def _faults(root: Node) -> Iterator[tuple[Path, Span, Rule, str, str]]:
    ahead: list[tuple[Path, Node]] = [((), root)]
    seen: set[int] = set()
    while ahead:
        path, node = ahead.pop()
        if isinstance(node, Sequence):
            ahead += [((*path, index), item) for index, item in reversed([*enumerate(node.items)])]
        elif isinstance(node, Mapping):
            if id(node) in seen:  # an alias
                continue
            seen.add(id(node))
            for key, _ in node.entries:
                fault = name_fault(key.text)
                if fault:
                    here = (*path, key.text)
                    yield here, key.span, fault[0], f"the key {path_name(here)} {fault[1]}", fault[2]
            ahead += [((*path, key.text), value) for key, value in reversed(node.entries)]
        elif isinstance(node.value, str):
            fault = value_fault(node, path)
            if fault:
                yield path, node.span, fault[0], f"{path_name(path)} {fault[1]}", fault[2]


def value_fault(node: Scalar, path: Path) -> tuple[Rule, str, str] | None:
    """Return what a reviewer cannot see in the value at a path of a spec or a request, as `name_fault` does."""
    # The last line break of a block belongs to its form.
    return _value_fault(node.text.removesuffix("\n"), path)


def _value_fault(text: str, path: Path) -> tuple[Rule, str, str] | None:
    for around in _AROUND:
        if _fits(path[: len(around)], around):
            path = path[len(around) :]
    if any(_fits(path, pattern) for pattern in _COMMANDS):
        return _command_fault(text)
    if any(_fits(path, pattern) for pattern in _OF_PROGRAMS):
        return _words_fault(text, are_names=re.fullmatch(_INSTALLER, str(path[-1])) is not None)
    return name_fault(text, is_free=any(_fits(path, pattern) for pattern in _FREE))


def _words_fault(text: str, *, are_names: bool) -> tuple[Rule, str, str] | None:
    """Return what a reviewer cannot see in the addresses of a text, or in all of its words."""
    if text.isascii() or _addresses(text) == [text]:
        return name_fault(text, is_free=True)
    words = map(_without_punctuation, text.split())
    names = [*words] if are_names else [name for word in words for name in _addresses(word)]
    return next(filter(None, map(_fault_of_name, names)), None)


def _without_punctuation(word: str) -> str:
    """Return a word without the marks of other languages around it, such as `«` and `。`."""
    from unicodedata import category  # imported late: most texts are ASCII

    is_inner = [character.isascii() or not category(character).startswith("P") for character in word]
    begin = next((at for at, inner in enumerate(is_inner) if inner), len(word))
    end = len(word) - next((at for at, inner in enumerate(reversed(is_inner)) if inner), 0)
    return word[begin:end]


def _fits(path: Path, pattern: tuple[str, ...]) -> bool:
    if pattern[-1] == REST:
        pattern = (*pattern[:-1], *[ANY] * (len(path) - len(pattern) + 1))
    return len(path) == len(pattern) and all(wanted in (step, ANY) for step, wanted in zip(path, pattern, strict=True))


def _called(character: str) -> str:
    from smspec.diagnostics.unseen import called

    known = _NAMES.get(character, "")
    return f"{called(character)} ({known})" if known else called(character)


_NAMES = {
    "\0": "NUL",
    "\t": "a tab",
    "\n": "a line feed",
    "\r": "a carriage return without a line feed",
    "\x1b": "an escape character",
    "\x7f": "a delete character",
    "\x85": "a next-line character",
    "\ufeff": "a byte order mark",
}


def _help(character: str) -> str:
    if character == "\0":
        return "save the file as UTF-8; NUL characters are a sign of UTF-16 or of a file that is not text"
    if character == "\r":
        return "save the file with LF or CRLF line breaks"
    code = f"u{ord(character):04X}" if ord(character) < 0x10000 else f"U{ord(character):08X}"
    return f'remove it; if a value needs it, use "\\{code}" in double quotes'

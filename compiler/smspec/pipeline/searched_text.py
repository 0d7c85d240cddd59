"""What the text of a spec has that jobs are compared by: names, and addresses in S3.

`searched` finds all of it in the values of a text. `TextSearch` only decides, by a glance, whether a text may have what
some jobs have; too often rather than too rarely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smspec.source.frozen import dataclass

# It begins where a word does, and has no brace: otherwise a long text would take hours.
_VARIABLE = re.compile(r"(?<![^\s\"'\[\]{},])([^\s\"'\[\]{},]*)\$\{\{[^{}]*\}\}(?=(\S?))")
_AFTER_A_VALUE = frozenset(["", '"', "'", ",", "]", "}"])
_ADDRESS = re.compile(r"s3://[^\s\"',\[\]{}#$]*")

_ANY_VARIABLE = re.compile(rb"\$\{\{[^{}]*\}\}")
_BEFORE_A_VALUE = (b"", *(bytes([sign]) for sign in b" \n\"'[]{},"))
_AFTER_ANY_VALUE = (b"", *(bytes([sign]) for sign in b" \n\"',]}"))
_SPACE = (b"", b" ")
_ANY_ADDRESS = re.compile(rb"(s3://[^\s\"',\[\]{}#$]*)(.?)")
_OUTPUT = re.compile(rb"\noutput: +(s3://[^\s\"',\[\]{}#$]+)(?=\n|\Z)")
_WORDS = rb"[^\"'\[\]{}\n]*"
_GROUP = rb"(?:\[%b\]|\{%b\}|\$\{\{%b\}\})" % (_WORDS, _WORDS, _WORDS)
_WHOLE_LINES = re.compile(rb"(?:%b(?:%b%b)*\n)*" % (_WORDS, _GROUP, _WORDS))
"""No quotes or brackets that end in another line: a key at the beginning of the next line is one of the spec."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What the texts of a spec have that is compared. ``is_any``: it may have any name and any address.

    ``addresses``: each with whether it may go on. ``beginnings``: of texts that a variable completes. ``output``: the
    address that is surely no more than the output prefix; empty if there is none.
    """

    text: str
    addresses: tuple[tuple[str, bool], ...]
    beginnings: tuple[str, ...]
    output: str
    is_any: bool


def searched(text: str, output: str = "") -> Searched:
    """Return what a text has that specs are compared by. ``output``: what it sets as a prefix, if that is known."""
    is_any = False
    beginnings = []
    for match in _VARIABLE.finditer(text) if "${{" in text else ():
        before, after = match.groups()
        if before and "s3://" not in before:
            beginnings.append(before)
            is_any |= "s3://".startswith(before)
        is_any |= not before and after not in _AFTER_A_VALUE
    addresses = tuple((match[0], _goes_on(text, match)) for match in _ADDRESS.finditer(text))
    is_once = [one for one in addresses if one[0] == output] == [(output, False)]
    return Searched(
        text=text,
        addresses=addresses,
        beginnings=tuple(beginnings),
        output=output if is_once else "",
        is_any=is_any,
    )


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Return whether an address may be longer than what matches: it has a comma, or a variable is next."""
    start, end = match.span()
    after, quote = text[end : end + 1], text[start - 1 : start] if start else ""
    return not (after.isspace() or not after or (after in "\"'" and after == quote))


@dataclass(frozen=True, slots=True)
class ComparedAddress:
    """An address without the slash at its end. ``longer``: those that begin with it are of interest, too."""

    text: str
    longer: bool
    is_output: bool

    def may_meet(self, address: str, goes_on: bool) -> bool:
        """Return whether an address may be this one, or a prefix of it, or of interest because it is longer."""
        address = address.rstrip("/")
        if self.text.startswith(address):
            return True
        return (self.longer or goes_on) and address.startswith(self.text)


class TextSearch:
    """Looks for texts that may have the names, or meet the targets, of some jobs."""

    def __init__(self, targets: Iterable[ComparedAddress], names: Iterable[str]) -> None:
        targets = tuple(targets)
        self._key = frozenset(targets), frozenset(names)
        self._names = [name.encode() for name in self._key[1]]
        self._texts = tuple(target.text.encode() for target in targets)
        self._longer = tuple(target.text.encode() for target in targets if target.longer)
        self._around, self._around_longer = _beginnings(self._texts), _beginnings(self._longer)
        self._outputs = {target.text.encode() for target in targets if target.is_output}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TextSearch) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def of(self, content: bytes) -> str | None:
        """Return the output prefix of a text that is all it may share; empty for nothing, None for more."""
        if any(name in content for name in self._names):
            return None
        for match in _ANY_VARIABLE.finditer(content) if b"${{" in content else ():
            start, end = match.span()
            if content[start - 1 : start] not in _BEFORE_A_VALUE or content[end : end + 1] not in _AFTER_ANY_VALUE:
                return None
        addresses = _ANY_ADDRESS.findall(content)
        near = [address for address, after in addresses if self._is_near(address, after in _SPACE)]
        if not near:
            return ""
        # An output prefix is around nothing, and is compared with another one only.
        own = _output_of(content)
        bare = own.rstrip(b"/")
        is_once = near == [own] and [address for address, _ in addresses].count(own) == 1
        if not is_once or bare in self._around_longer or own.startswith(self._longer):
            return None
        return own.decode() if bare in self._outputs else ""

    def _is_near(self, address: bytes, ends: bool) -> bool:
        return address.rstrip(b"/") in self._around or address.startswith(self._longer if ends else self._texts)


def _output_of(content: bytes) -> bytes:
    """Return the output prefix that a text surely sets, or nothing."""
    output = _OUTPUT.search(content)
    is_own = output is not None and _WHOLE_LINES.fullmatch(content, 0, output.start() + 1) is not None
    return bytes(output[1]) if output is not None and is_own else b""


def _beginnings(texts: Iterable[bytes]) -> frozenset[bytes]:
    return frozenset(text[:end] for text in texts for end in range(len(text) + 1))

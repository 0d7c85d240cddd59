"""Apply the fixes that are certain to the specs of a command, as long as that leads to no new finding.

A state is the content of the changed files, by real path; nothing is written here. Each attempt is checked as a whole:
a fix of a base spec affects all jobs that extend it. The attempt counts only if every fix removed its finding and no
finding is new, so the result does not depend on how certain a suggestion was. A fix replaces a key or a scalar value in
the text; every other character stays.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.diagnostics.suggestions import Fix
from smspec.pipeline.compilation import MOST_REPORTED
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import ValidationResult
from smspec.source import Document, Node, Scalar, Sequence, SourceText, Span
from smspec.source import Mapping as Entries
from smspec.source.frozen import dataclass
from smspec.spec.layers.variables import OptionError
from smspec.spec.shape.repairs import MOST_FAULTS
from smspec.spec.yaml import read
from smspec.spec.yaml.events import meaning
from smspec.workspace.boundary import FileNotRead

MOST_CHECKS = 100
"""How often the specs are checked at most. What is then left is left for the next run."""

_MOST_ROUNDS = 8
"""A fix shows what it hid, which may be certain too; so often in one attempt."""

_SHAPE = "SM2"
_PLAIN_IN_QUOTES = re.compile(r"[^\\'\"]*")

Key = tuple[str, str, tuple[str | int, ...]]
Check = Callable[[Mapping[str, bytes]], tuple[ValidationResult, InputCache]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecChange:
    """A fix that was applied for a diagnostic, in a line that is the same before and after.

    ``was`` is the text that it replaced, with its quotes.
    """

    diagnostic: Diagnostic
    fix: Fix
    was: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairState:
    """The specs after some changes, and what is found in them.

    ``contents`` are those of changed files by real path, ``names`` their paths as the author writes them.
    """

    result: ValidationResult
    cache: InputCache
    contents: Mapping[str, bytes]
    names: Mapping[str, str]
    changes: tuple[SpecChange, ...] = ()

    def key(self, diagnostic: Diagnostic) -> Key:
        """Return what identifies a finding although lines change."""
        return diagnostic.code, self.cache.identity(diagnostic.span.file), diagnostic.path

    def keys(self) -> Counter[Key]:
        return Counter(map(self.key, self.result.diagnostics))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """``refused``: certain fixes that were not applied, because they would lead to the findings named with them."""

    before: RepairState
    after: RepairState
    refused: tuple[tuple[Diagnostic, str], ...]


class Repairing:
    """Repairs the specs that ``check`` checks, given the contents that replace those on disk.

    ``may_change`` decides by the path and the content of a file.
    """

    def __init__(self, check: Check, may_change: Callable[[str, bytes], bool]) -> None:
        self._check = check
        self._may_change = may_change
        self._checks = 0
        self._reasons: dict[Key, str] = {}

    def repaired(self) -> Repaired:
        """Return the specs with all fixes that can be applied. Raise as `validate_specs` does."""
        before = self._checked({}, {}, ())
        state = before
        while True:
            better = self._better(state, self._fixable(state))
            if better is state:
                break
            state = better
        left = tuple((d, self._reasons.get(state.key(d), "")) for d in self._fixable(state))
        return Repaired(before=before, after=state, refused=left)

    def _checked(
        self, contents: Mapping[str, bytes], names: Mapping[str, str], changes: tuple[SpecChange, ...]
    ) -> RepairState:
        self._checks += 1
        result, cache = self._check(contents)
        return RepairState(result=result, cache=cache, contents=contents, names=names, changes=changes)

    def _fixable(self, state: RepairState) -> list[Diagnostic]:
        """Return the diagnostics with a fix that can be written, in their order."""
        found: list[Diagnostic] = []
        for file in dict.fromkeys(d.span.file for d in state.result.diagnostics if d.fix):
            document = _document(file, state.cache)
            if document is None or not self._may_change(file, state.cache.content(file)):
                continue
            fixes: dict[Span, Fix | None] = {}
            for d in state.result.diagnostics:
                if d.fix and d.span.file == file:
                    # Two different fixes of one value: neither is certain.
                    fixes[d.span] = d.fix if fixes.get(d.span, d.fix) == d.fix else None
            usable = applicable(document, {span: fix for span, fix in fixes.items() if fix})
            found += [d for d in state.result.diagnostics if d.fix and usable.get(d.span) == d.fix]
        return found

    def _better(self, state: RepairState, fixable: list[Diagnostic]) -> RepairState:
        """Return the state after as many of the fixes as possible: all of them, else those of each half."""
        if not fixable or self._checks >= MOST_CHECKS:
            return state
        attempt, reason = self._attempt(state, fixable)
        if attempt is not None:
            return attempt
        if len(fixable) == 1:
            self._reasons[state.key(fixable[0])] = reason
            return state
        middle = len(fixable) // 2
        wanted = {state.key(d) for d in fixable[middle:]}
        state = self._better(state, fixable[:middle])
        return self._better(state, [d for d in self._fixable(state) if state.key(d) in wanted])

    def _attempt(self, start: RepairState, fixable: list[Diagnostic]) -> tuple[RepairState | None, str]:
        """Return the state after all of the fixes and those that they reveal; or None, and why not."""
        known = start.keys()
        done: list[Key] = []
        state, ahead = start, fixable
        for _ in range(_MOST_ROUNDS):
            if not ahead:
                break
            done += map(state.key, ahead)
            following = self._applied(state, ahead)
            if following is None:
                return None, "the rest of the file would change too"
            state = following
            ahead = [d for d in self._fixable(state) if state.key(d) not in known]
        found = state.keys()
        new = found - known
        changes = [(start.key(one.diagnostic), one.fix) for one in state.changes[len(start.changes) :]]
        if _is_cut_short(start.result) or any(fix.meant.startswith("[") for _, fix in changes):
            # Words that were no list hid what smspec reports about the command, and a note is no fault of a fix.
            notes = {state.key(d) for d in state.result.diagnostics if d.severity == "note"}
            new = Counter({key: count for key, count in new.items() if key not in notes})
            new = Counter({key: count for key, count in new.items() if _is_about(key, changes)})
        if new:
            return None, f"then the specs would have {', '.join(sorted({code for code, _, _ in new}))}"
        if any(found[key] >= known[key] > 0 for key in done):
            return None, "the finding would stay"
        return state, ""

    def _applied(self, state: RepairState, fixable: Iterable[Diagnostic]) -> RepairState | None:
        by_file: dict[str, dict[Span, Fix]] = {}
        for diagnostic in fixable:
            if diagnostic.fix:
                by_file.setdefault(diagnostic.span.file, {})[diagnostic.span] = diagnostic.fix
        contents, names = dict(state.contents), dict(state.names)
        was: dict[Span, str] = {}
        for file, fixes in by_file.items():
            document = _document(file, state.cache)
            text = None if document is None else edited(document, fixes)
            if text is None or document is None:
                return None
            was.update((span, written_at(document, span)) for span in fixes)
            identity = state.cache.identity(file)
            before = state.cache.content(file)
            mark = b"\xef\xbb\xbf" if before.startswith(b"\xef\xbb\xbf") else b""
            contents[identity] = mark + text.encode("utf-8")
            names.setdefault(identity, file)
        changes = tuple(SpecChange(diagnostic=d, fix=d.fix, was=was[d.span]) for d in fixable if d.fix)
        try:
            return self._checked(contents, names, (*state.changes, *changes))
        except OptionError:
            return None


def _is_cut_short(result: ValidationResult) -> bool:
    """Return whether a spec has so many errors, or so many in its shape, that not all of its findings are known."""
    return any(
        len(spec.diagnostics) >= MOST_REPORTED
        or sum(diagnostic.code.startswith(_SHAPE) for diagnostic in spec.diagnostics) > MOST_FAULTS
        for _, spec in result.checked
    )


def _is_about(key: Key, changes: Iterable[tuple[Key, Fix]]) -> bool:
    """Return whether a finding is about the key or value that a fix has written, or about what is in it.

    Only this is known of a spec that is `_is_cut_short`: other findings may have been there before.
    """
    _, file, path = key
    return any(file == changed and path[: len(at)] in (at, (*at[:-1], fix.meant)) for (_, changed, at), fix in changes)


def _document(file: str, cache: InputCache) -> Document | None:
    """Return the tree of a file of a spec; None for any other file, such as smspec.toml."""
    try:
        return cache.base(file, cache.boundary(os.path.dirname(file)))
    except (InvalidInput, FileNotRead, OSError):
        return None


def applicable(document: Document, fixes: Mapping[Span, Fix]) -> dict[Span, Fix]:
    """Return those fixes whose text is at their position, as one key or value on one line, without a variable."""
    written: dict[Span, set[str]] = {}
    for scalar in _scalars(document.root):
        written.setdefault(scalar.span, set()).add(scalar.text)
    return {
        span: fix
        for span, fix in fixes.items()
        if written.get(span) == {fix.written} and span.line == span.end_line and "${{" not in fix.written
    }


def written_at(document: Document, span: Span) -> str:
    """Return the text at a position on one line."""
    return document.texts[0].text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def edited(document: Document, fixes: Mapping[Span, Fix]) -> str | None:
    """Return the text of a file with `applicable` fixes; None if more than these keys and values would change."""
    text = document.texts[0]
    lines = text.text.split("\n")
    for span in sorted(fixes, reverse=True, key=lambda span: (span.line, span.column)):
        line = lines[span.line - 1]
        start, end = span.column - 1, span.end_column - 1
        lines[span.line - 1] = line[:start] + in_style_of(line[start:end], fixes[span].meant) + line[end:]
    result = "\n".join(lines)
    try:
        after = read(SourceText(text.name, result))
    except InvalidInput:
        return None
    return result if _is_same(document.root, after.root, fixes) else None


def in_style_of(written: str, meant: str) -> str:
    """Return YAML with the quotes that the author used, where they do not change its meaning."""
    quote = written[:1]
    is_text = isinstance(meaning(meant), str) and _PLAIN_IN_QUOTES.fullmatch(meant) and not meant.startswith("[")
    return f"{quote}{meant}{quote}" if quote in ("'", '"') and is_text else meant


def _scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _scalars(item)
    else:
        for key, value in node.entries:
            yield key
            yield from _scalars(value)


def _is_same(old: Node, new: Node, fixes: Mapping[Span, Fix]) -> bool:
    """Return whether two trees differ only in the keys and values at the positions of the fixes."""
    if old.span in fixes and isinstance(old, Scalar):
        return True
    if isinstance(old, Scalar) and isinstance(new, Scalar):
        return (old.text, old.value, old.plain) == (new.text, new.value, new.plain)
    if isinstance(old, Sequence) and isinstance(new, Sequence):
        return len(old.items) == len(new.items) and all(
            _is_same(one, other, fixes) for one, other in zip(old.items, new.items, strict=True)
        )
    if isinstance(old, Entries) and isinstance(new, Entries):
        return len(old.entries) == len(new.entries) and all(
            _is_same(key, other_key, fixes) and _is_same(value, other, fixes)
            for (key, value), (other_key, other) in zip(old.entries, new.entries, strict=True)
        )
    return False

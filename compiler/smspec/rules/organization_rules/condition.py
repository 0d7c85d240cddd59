"""A rule of an organization, and its conditions: a path of the merged spec, and what its value must be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Union

from smspec.diagnostics import Finding, Severity
from smspec.diagnostics.quoting import SECONDS_OF_UNITS, one_of, path_name, quoted
from smspec.rules.organization_rules.linear_pattern import LONGEST_TEXT, is_found
from smspec.source import Mapping, Node, Path, Scalar, Sequence
from smspec.source.frozen import dataclass
from smspec.spec.keys.row import size_in_bytes
from smspec.spec.layers.merging import is_null

if TYPE_CHECKING:
    from typing import TypeAlias

ANY = "*"
Plain: TypeAlias = Union[str, int, float, bool]

_AMOUNT = re.compile(r"([0-9]{1,15})([smhd]|kB|MB|GB|KiB|MiB|GiB)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """``path`` has ``*`` for each item of a mapping or a list. None, or empty: no such requirement.

    ``present`` False: the value must be absent. ``is_optional``: a value that is absent fulfills the condition.
    """

    path: tuple[str, ...]
    present: bool = True
    is_optional: bool = False
    among: tuple[Plain, ...] = ()
    not_among: tuple[Plain, ...] = ()
    matches: str = ""
    least: Plain | None = None
    most: Plain | None = None

    def values(self, root: Node) -> Iterator[tuple[Path, Node | None]]:
        """Yield the values that the condition is about; None for one that is absent.

        The items of a list are values of their own. A `*` stands for nothing if there is no item.
        """
        return _values(root, self.path, ())

    def objection(self, value: Node | None) -> str:
        """Return why a value does not fulfill the condition; empty if it does."""
        if value is None:
            return "is not set" if self.present and not self.is_optional else ""
        if not self.present:
            return "is set"
        if not isinstance(value, Scalar):
            is_any = not (self.among or self.not_among or self.matches or self._is_bounded)
            return "" if is_any else "is not a single value"
        fault = self._fault(value)
        return "" if fault is None else f"is {quoted(value.text)}{fault}"

    def may_hold(self, value: Node | None) -> bool:
        """Return whether a value fulfills the condition, or is too long for smspec to know."""
        is_unknown = bool(self.matches) and isinstance(value, Scalar) and len(value.text) > LONGEST_TEXT
        return is_unknown or not self.objection(value)

    @property
    def _is_bounded(self) -> bool:
        return self.least is not None or self.most is not None

    def _fault(self, value: Scalar) -> str | None:
        """Return what is wrong with a value, which is shown before it; None if nothing is."""
        if self.among and not any(_equal(value, one) for one in self.among):
            return f", not {one_of([str(one) for one in self.among])}"
        if any(_equal(value, one) for one in self.not_among):
            return ""
        if self.matches and len(value.text) > LONGEST_TEXT:
            return f", which is too long for `matches`: the maximum is {LONGEST_TEXT:,} characters"
        if self.matches and not is_found(self.matches, value.text):
            return f", which does not match `{self.matches}`"
        return self._out_of_bounds(value) if self._is_bounded else None

    def _out_of_bounds(self, value: Scalar) -> str | None:
        here = amount(value.value)
        for bound, words, sign in ((self.least, "below the minimum", 1), (self.most, "above the maximum", -1)):
            limit = amount(bound)
            if limit is None:
                continue
            if here is None or ("size" in (here[0], limit[0]) and here[0] != limit[0]):
                return f", which cannot be compared with `{bound}`"
            if (here[1] - limit[1]) * sign < 0:
                return f", {words} `{bound}`"
        return None


def amount(value: object) -> tuple[str, float] | None:
    """Return a number with its kind: `8h` in seconds, `30GB` in bytes, a bare number as it is; or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if not isinstance(value, str):
        return "number", value
    found = _AMOUNT.fullmatch(value)
    if found is None:
        return None
    if found[2] in SECONDS_OF_UNITS:
        return "duration", int(found[1]) * SECONDS_OF_UNITS[found[2]]
    return ("size", size_in_bytes(value)) if found[2] else ("number", int(value))


def _values(node: Node | None, steps: tuple[str, ...], path: Path) -> Iterator[tuple[Path, Node | None]]:
    if node is not None and is_null(node):
        node = None
    if not steps:
        if isinstance(node, Sequence) and node.items:
            for index, item in enumerate(node.items):
                yield (*path, index), (None if is_null(item) else item)
        else:
            yield path, (None if isinstance(node, Sequence) else node)
    elif steps[0] == ANY:
        for step, item in _items(node):
            yield from _values(item, steps[1:], (*path, step))
    else:
        child = node.get(steps[0]) if isinstance(node, Mapping) else None
        if child is not None:
            yield from _values(child, steps[1:], (*path, steps[0]))
        elif ANY not in steps:
            yield (*path, *steps), None


def _items(node: Node | None) -> Iterator[tuple[str | int, Node]]:
    if isinstance(node, Mapping):
        yield from ((key.text, value) for key, value in node.entries)
    elif isinstance(node, Sequence):
        yield from enumerate(node.items)


def _equal(value: Scalar, wanted: Plain) -> bool:
    if isinstance(wanted, str):
        return value.text == wanted
    return isinstance(value.value, bool) == isinstance(wanted, bool) and value.value == wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationRule:
    """If all conditions of ``when`` hold for a merged spec, all of ``require`` must. ``file``: where it is written."""

    code: str
    title: str
    why: str
    help: str
    severity: Severity
    is_ignorable: bool
    when: tuple[Condition, ...]
    require: tuple[Condition, ...]
    file: str

    def check(self, root: Node) -> Iterator[Finding]:
        """Yield a finding for each value that violates the rule, at the value, or where it is missing."""
        if not all(any(one.may_hold(value) for _, value in one.values(root)) for one in self.when):
            return
        for condition in self.require:
            for path, value in condition.values(root):
                objection = condition.objection(value)
                if objection:
                    yield Finding(
                        code=self.code,
                        severity=self.severity,
                        path=path,
                        message=f"{path_name(path)} {objection}: {self.title}",
                        help=self.help,
                        page=self.page,
                        is_ignorable=self.is_ignorable,
                    )

    @property
    def page(self) -> str:
        """The explanation of the rule, as Markdown."""
        ignore = (
            f"Add `{self.code}` to `checks.ignore` with the reason." if self.is_ignorable else "It cannot be ignored."
        )
        remedy = f"## Use instead\n\n{self.help}\n\n" if self.help else ""
        return (
            f"# {self.code}: {self.title}\n\n{self.why}\n\n{remedy}"
            f"## Ignore this rule\n\n{ignore}\n\n## References\n\n{self.file}\n"
        )

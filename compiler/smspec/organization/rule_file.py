"""Read a file with a rule of an organization, and check its form. Errors are at their lines."""

from __future__ import annotations

import re
from typing import cast

from smspec.diagnostics import ParseErrors, Rule, Severity
from smspec.diagnostics.quoting import one_of, quoted, visible
from smspec.diagnostics.suggestions import did_you_mean
from smspec.rules.organization_rules.condition import Condition, OrganizationRule, Plain, amount
from smspec.rules.organization_rules.linear_pattern import PatternsUnavailable, UnusablePattern, compiled
from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence, dotted, to_data

MALFORMED_RULE = Rule("SM755", "malformed rule file")

_TEXTS = ("code", "title", "why")
_KEYS = (*_TEXTS, "severity", "help", "when", "require", "ignorable", "cases")
_OPERATORS = ("present", "optional", "matches", "min", "max", "in", "not_in")
_SEVERITIES = ("error", "warning", "note")
_CODE = re.compile(r"(?!SM)[A-Z][A-Z0-9]{1,14}[0-9]")
_STEP = re.compile(r'\.?([^.\[\]"]+)|\["([^"]+)"\]')
_MOST_CONDITIONS = 50
_MOST_CASES = 100
_MOST_STEPS = 8
_NO_FINDING = Condition(path=("smspec",))


def read_rule(document: Document) -> OrganizationRule:
    """Return the rule in a file. Raise `InvalidInput` with all errors in its form."""
    return _Reader(document).rule()


class _Reader:
    """Reads the keys one by one and collects their errors."""

    def __init__(self, document: Document) -> None:
        assert isinstance(document.root, Mapping)
        self._document = document
        self._root = document.root
        self._errors = ParseErrors(document.texts[0])

    def rule(self) -> OrganizationRule:
        for key, _ in self._root.entries:
            if key.text not in _KEYS:
                self._unknown((key.text,), _KEYS)
        code, title, why = (self._text(key) for key in _TEXTS)
        if code and not _CODE.fullmatch(code):
            help = "use capital letters and a number, such as `ORG101`; `SM` is the prefix of smspec"
            self._error(("code",), f"`code`: {quoted(code)} is not a code", help)
        rule = OrganizationRule(
            code=code,
            title=title,
            why=why,
            help=self._text("help", default=""),
            severity=cast(Severity, self._severity()),
            is_ignorable=self._truth(("ignorable",), default=True),
            when=self._conditions("when"),
            require=self._conditions("require"),
            file=self._document.texts[0].name,
        )
        if not rule.require:
            self._error(("require",), "`require` has no condition", "add a path with the value that it must have")
        self._check_cases()
        if self._errors:
            raise self._errors.rejected()
        return rule

    def _error(self, path: Path, message: str, help: str) -> None:
        self._errors.add(MALFORMED_RULE, self._document.span_of_value(path), message, path=path, help=help)

    def _unknown(self, path: Path, known: tuple[str, ...]) -> None:
        help = did_you_mean(str(path[-1]), known) or f"use {one_of(known)}"
        span = self._document.span_of_key(path)
        self._errors.add(MALFORMED_RULE, span, f"unknown key {quoted(dotted(path))}", path=path, help=help)

    def _text(self, key: str, default: str | None = None) -> str:
        node = self._root.get(key)
        if node is None and default is not None:
            return default
        if isinstance(node, Scalar) and isinstance(node.value, str) and node.value.strip():
            return visible(" ".join(node.value.split()))
        fault = f"`{key}` is not set" if node is None else f"`{key}` must be a string"
        self._error((key,), fault, f"add `{key}: …` with a text")
        return ""

    def _severity(self) -> str:
        severity = self._text("severity", default="error")
        if severity not in _SEVERITIES:
            self._error(
                ("severity",), f"`severity`: {quoted(severity)} is not a severity", f"use {one_of(_SEVERITIES)}"
            )
        return severity

    def _truth(self, path: Path, *, default: bool) -> bool:
        node = self._document.node(path)
        if node is None:
            return default
        if not isinstance(node, Scalar) or not isinstance(node.value, bool):
            self._error(path, f"`{dotted(path)}` must be true or false", "use `true` or `false`")
        return isinstance(node, Scalar) and node.value is True

    def _conditions(self, key: str) -> tuple[Condition, ...]:
        node = self._root.get(key)
        if node is None:
            return ()
        if not isinstance(node, Mapping):
            self._error((key,), f"`{key}` is not a mapping", "write paths with their conditions")
            return ()
        if len(node.entries) > _MOST_CONDITIONS:
            self._error((key,), f"`{key}` has more than {_MOST_CONDITIONS} conditions", "write several rules")
        entries = node.entries[:_MOST_CONDITIONS]
        return tuple(self._condition((key, name.text), value) for name, value in entries)

    def _condition(self, at: Path, value: Node) -> Condition:
        written = str(at[-1])
        steps = tuple(plain or inside for plain, inside in _STEP.findall(written))
        is_whole = "".join(match[0] for match in _STEP.finditer(written)) == written
        if not is_whole or not 1 <= len(steps) <= _MOST_STEPS:
            self._error(at, f"`{dotted(at)}` is not a path", "write keys with dots between them: `hosts.count`")
            return _NO_FINDING
        if isinstance(value, Scalar | Sequence):
            return Condition(path=steps, among=self._among(at, value))
        for name, _ in value.entries:
            if name.text not in _OPERATORS:
                self._unknown((*at, name.text), _OPERATORS)
        if not value.entries:
            self._error(at, f"{quoted(written)} has no condition", f"use {one_of(_OPERATORS)}")
        listed = {name: value.get(name) for name in ("in", "not_in")}
        among, not_among = (self._among((*at, name), node) if node else () for name, node in listed.items())
        return Condition(
            path=steps,
            present=self._truth((*at, "present"), default=True),
            is_optional=self._truth((*at, "optional"), default=False),
            among=among,
            not_among=not_among,
            matches=self._pattern((*at, "matches"), value.get("matches")),
            least=self._bound((*at, "min"), value.get("min")),
            most=self._bound((*at, "max"), value.get("max")),
        )

    def _among(self, at: Path, node: Node) -> tuple[Plain, ...]:
        values = tuple(to_data(item) for item in (node.items if isinstance(node, Sequence) else (node,)))
        if not values or not all(isinstance(value, str | int | float) for value in values):
            self._error(
                at, f"`{dotted(at)}` must be a value, or a list of values", "write strings, numbers, or booleans"
            )
        return tuple(value for value in values if isinstance(value, str | int | float))

    def _pattern(self, at: Path, node: Node | None) -> str:
        if node is None:
            return ""
        if not isinstance(node, Scalar) or not isinstance(node.value, str) or not node.value:
            self._error(at, f"`{dotted(at)}` must be a regular expression", "write it in single quotes")
            return ""
        try:
            compiled(node.value)
        except UnusablePattern as fault:
            message = f"`{dotted(at)}` is not usable: {fault}"
            self._error(at, message, "use the syntax of RE2, which has no lookarounds and no backreferences")
            return ""
        except PatternsUnavailable:
            message = f"`{dotted(at)}` cannot be checked: google-re2 is not installed"
            help = "run `pip install google-re2` with the Python that runs smspec"
            self._error(at, message, help)
            return ""
        return node.value

    def _bound(self, at: Path, node: Node | None) -> Plain | None:
        if node is None:
            return None
        value = to_data(node)
        if amount(value) is None:
            help = "write a number, a duration such as `8h`, or a size such as `30GB`"
            self._error(at, f"`{dotted(at)}` is not an amount", help)
            return None
        return cast(Plain, value)

    def _check_cases(self) -> None:
        cases = self._root.get("cases")
        if isinstance(cases, Mapping):
            for key, _ in cases.entries:
                if key.text not in ("right", "wrong"):
                    self._unknown(("cases", key.text), ("right", "wrong"))
        for kind in ("right", "wrong"):
            listed = self._document.node(("cases", kind))
            at: Path = ("cases", kind)
            if not isinstance(listed, Sequence) or not listed.items:
                self._error(at, f"`cases.{kind}` has no case", f"add a part of a spec to the list `{kind}`")
                continue
            if len(listed.items) > _MOST_CASES:
                self._error(at, f"`cases.{kind}` has more than {_MOST_CASES} cases", "keep the most different ones")
            for index, case in enumerate(listed.items):
                if not isinstance(case, Mapping):
                    here = (*at, index)
                    self._error(
                        here, f"`{dotted(here)}` is not a mapping", "write keys of a spec: `{hosts: {count: 2}}`"
                    )

"""Replace ``${{ vars.NAME }}`` in the values of a spec by the values of the variables."""

from __future__ import annotations

from collections.abc import Container
from collections.abc import Mapping as Values
from itertools import islice

from smspec.diagnostics import MOST, Diagnostic, Rule, placed_at
from smspec.diagnostics.quoting import path_name, quoted
from smspec.diagnostics.suggestions import nearest
from smspec.source import Document, Node, Path, Scalar, Sequence, Span, dotted
from smspec.source.frozen import replace
from smspec.spec.layers.merging import is_null
from smspec.spec.layers.variables import is_name
from smspec.spec.yaml.events import BEYOND_THE_LIMITS, MAX_BYTES, meaning

UNKNOWN_VARIABLE = Rule("SM125", "unknown variable")
NO_VALUE = Rule("SM126", "variable without a value")
MALFORMED_EXPRESSION = Rule("SM127", "malformed expression")

_OPEN, _CLOSE = "${{", "}}"
_SUBJECT = "vars."
# Names come from the author: comparing thousands of them, or one of a megabyte, would take minutes.
_MOST_COMPARED = 100
_LONGEST_COMPARED = 100


class Substitution:
    """Replaces variables by ``values`` in a tree. ``declared`` are all variables, also those without a value.

    A value of None had an error where it was declared: what uses it becomes unknown without another diagnostic. So does
    any other variable unless ``others_are_known``. ``unknown`` are the paths that could not be determined; in the tree
    they are null. ``settable``: path → text of each value with a variable that is not ``fixed`` by an option.
    """

    def __init__(
        self,
        document: Document,
        declared: Values[str, object],
        values: Values[str, Scalar | None],
        *,
        others_are_known: bool = True,
        fixed: Container[str] = (),
    ) -> None:
        self._fixed = fixed
        self._others_are_known = others_are_known
        self._document = document
        self._declared = declared
        self._known = [name for name in islice(declared, _MOST_COMPARED) if len(name) < _LONGEST_COMPARED]
        self._values = values
        self._characters = 0
        self._lines: dict[str, list[str]] = {}
        self._reported: set[tuple[Span, str]] = set()
        self.diagnostics: list[Diagnostic] = []
        self.unknown: dict[Path, None] = {}
        self.settable: dict[Path, str] = {}

    def apply(self, node: Node, path: Path = ()) -> Node:
        """Return ``node``, at ``path``, with its variables replaced; record the errors."""
        if isinstance(node, Scalar):
            return self._scalar(node, path) if isinstance(node.value, str) and _OPEN in node.value else node
        changed = False
        if isinstance(node, Sequence):
            items: list[Node] = []
            for index, item in enumerate(node.items):
                new = self.apply(item, (*path, index))
                changed = changed or new is not item
                items.append(new)
            return replace(node, items=tuple(items)) if changed else node
        entries: list[tuple[Scalar, Node]] = []
        for key, value in node.entries:
            if _OPEN not in key.text and (
                _OPEN not in value.text if isinstance(value, Scalar) else not path and not _has_variable(value)
            ):
                entries.append((key, value))  # the usual case needs no path
                continue
            here = (*path, key.text)
            new = self.apply(value, here)
            changed = changed or new is not value
            if _OPEN in key.text:
                message = f"the key {quoted(key.text)} contains a variable; only values can"
                self._report(MALFORMED_EXPRESSION, key, here, key.text, message, help="use a plain key")
                # A key is identified by its name: it is unknown which key of the mapping this one was meant to be.
                self.unknown[path or here] = None
            # A variable may be null, and null removes the key as it does when written out.
            if new is value or not is_null(new) or here in self.unknown:
                entries.append((key, new))
        return replace(node, entries=tuple(entries)) if changed else node

    def _scalar(self, node: Scalar, path: Path) -> Scalar:
        text = node.text
        pieces: list[str] = []
        done = 0
        start = text.find(_OPEN)
        while start >= 0:
            end = text.find(_CLOSE, start)
            expression = text[start : end + len(_CLOSE)] if end >= 0 else _OPEN
            value = self._value(node, path, expression)
            if _name(expression) not in self._fixed:
                self.settable[path] = text
            if value is None:
                self.unknown[path] = None
                if end < 0:
                    return _nothing_known(node)
            elif expression == text:
                self._check_seen(node, path, value)
                return replace(node, text=value.text, value=value.value, plain=value.plain)
            pieces += [text[done:start], value.text if value else ""]
            self._characters += len(pieces[-1])
            if self._characters > MAX_BYTES:
                self._report(
                    BEYOND_THE_LIMITS,
                    node,
                    path,
                    expression,
                    "the spec is larger than 1 MiB after variables are replaced",
                )
                self.unknown[path] = None
                return _nothing_known(node)
            done = end + len(_CLOSE)
            start = text.find(_OPEN, done)
        if path in self.unknown:
            return _nothing_known(node)
        whole = "".join((*pieces, text[done:]))
        # `${{ vars.a }}${{ vars.b }}` with 1 and 2 is the string 12, which would be a number without quotes.
        made = replace(node, text=whole, value=whole, plain=node.plain and meaning(whole) == whole)
        self._check_seen(node, path, made)
        return made

    def _check_seen(self, node: Scalar, path: Path, made: Scalar) -> None:
        """Report a name that is made of parts which can be read one by one, but not together."""
        # Imported late: most specs have no such value.
        from smspec.diagnostics.unseen_names import value_fault

        fault = value_fault(made, path)
        if fault:
            rule, message, help = fault
            start = node.text.find(_OPEN)
            expression = node.text[start : node.text.find(_CLOSE, start) + len(_CLOSE)]
            self._report(rule, node, path, expression, f"{path_name(path)} {message}", help=help)

    def _value(self, node: Scalar, path: Path, expression: str) -> Scalar | None:
        if expression == _OPEN:
            message = f"`{dotted(path)}`: `${{{{` is not closed"
            self._report(MALFORMED_EXPRESSION, node, path, expression, message, help="add `}}`")
            return None
        inner, name = _inner(expression), _name(expression)
        if not inner.startswith(_SUBJECT) or not is_name(name):
            message = f"`{dotted(path)}`: `${{{{ … }}}}` contains something other than a variable"
            help = "use `${{ vars.name }}`, and declare `name` in `vars`"
            self._report(MALFORMED_EXPRESSION, node, path, expression, message, help=help)
        elif name in self._values or not self._others_are_known:
            return self._values.get(name)
        elif name in self._declared:
            help = f"add a `default`, or pass `--set vars.{name}=…`"
            self._report(NO_VALUE, node, path, expression, f"variable {quoted(f'vars.{name}')} has no value", help=help)
        else:
            near = nearest(name, self._known) if len(name) < _LONGEST_COMPARED else None
            label = f"did you mean `{near}`?" if near else ""
            help = "" if near else "add it to `vars`"
            message = f"unknown variable {quoted(f'vars.{name}')}"
            self._report(UNKNOWN_VARIABLE, node, path, expression, message, label=label, help=help)
        return None

    def _report(
        self, rule: Rule, node: Scalar, path: Path, expression: str, message: str, *, help: str = "", label: str = ""
    ) -> None:
        # Report it once per value, and stop after a few.
        if (node.span, expression) in self._reported or len(self.diagnostics) >= MOST:
            return
        self._reported.add((node.span, expression))
        finding = rule.at(path, message, help=help, label=label)
        self.diagnostics.append(placed_at(self._span(node.span, expression), finding, used_at=node.used_at))

    def _span(self, span: Span, expression: str) -> Span:
        """Return the position of ``expression`` within ``span``; all of it where escapes or line breaks hide it."""
        if span.file not in self._lines:
            text = self._document.text(span.file)
            self._lines[span.file] = text.text.split("\n") if text else []
        lines = self._lines[span.file][span.line - 1 : span.end_line]
        for number, line in enumerate(lines, span.line):
            first = span.column - 1 if number == span.line else 0
            last = span.end_column - 1 if number == span.end_line else len(line)
            column = line.find(expression, first, last)
            if column >= 0:
                return Span(span.file, number, column + 1, number, column + 1 + len(expression))
        return span


def _inner(expression: str) -> str:
    return expression[len(_OPEN) : -len(_CLOSE)].strip()


def _name(expression: str) -> str:
    return _inner(expression).removeprefix(_SUBJECT)


def _has_variable(node: Node) -> bool:
    """Return whether anything in a tree may be a variable, or is meant as one."""
    if isinstance(node, Scalar):
        return _OPEN in node.text
    if isinstance(node, Sequence):
        return any(map(_has_variable, node.items))
    for key, value in node.entries:
        if _OPEN in key.text or (_OPEN in value.text if isinstance(value, Scalar) else _has_variable(value)):
            return True
    return False


def _nothing_known(node: Scalar) -> Scalar:
    """Return a placeholder for a string whose variables have no values: nothing that a check could use."""
    return replace(node, text="", value=None, plain=True)

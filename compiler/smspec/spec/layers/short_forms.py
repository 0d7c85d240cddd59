"""What a file is before it is merged: without short forms, and with the errors that a merged spec no longer has.

In a file, paths are relative to it. What is neither form is left to the check of the shape.

The errors are about `extends`, `overlays`, the version, and the size, which has a limit because a spec with overlays is
checked again, as a whole, with each of them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from smspec.diagnostics import Diagnostic, Finding, Rule, placed
from smspec.diagnostics.quoting import quoted
from smspec.source import Document, Mapping, Node, Scalar, Sequence
from smspec.source.frozen import replace
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import ChoiceForm, NamedForm, StructureForm
from smspec.spec.layers.merging import is_null
from smspec.spec.yaml.events import BEYOND_THE_LIMITS

_ANY = "*"
_PATHS = (
    ("source", "dir"),
    ("image", "python_requirements"),
    ("image", "secrets", _ANY, "file"),
    ("channels", _ANY, "local"),
)


def expanded(spec: Mapping) -> Mapping:
    """Return a spec, or a part of one such as an overlay, with every short form in its long form.

    A string for ``image`` is not a short form: it is an existing image, a different kind than a mapping.
    """
    return _with(spec, _EXPANSIONS)


def _with(mapping: Mapping, expansions: dict[str, Callable[[Node], Node]]) -> Mapping:
    changed = {}
    for key, value in mapping.entries:
        expand = expansions.get(key.text)
        if expand is not None and (long := expand(value)) is not value:
            changed[key.text] = long
    if not changed:
        return mapping
    entries = tuple((key, changed.get(key.text, value)) for key, value in mapping.entries)
    return Mapping(entries, mapping.span, mapping.used_at)


def _under(name: str) -> Callable[[Node], Node]:
    """Return the expansion of a string to ``{name: string}``."""

    def expand(value: Node) -> Node:
        if not isinstance(value, Scalar) or not isinstance(value.value, str):
            return value
        # No one wrote this key: its position is that of its value.
        key = Scalar(name, name, True, value.span, value.used_at)
        return Mapping(((key, value),), value.span, value.used_at)

    return expand


def _distribution(value: Node) -> Node:
    # While it still contains a variable its name is unknown; variables are replaced before the last expansion.
    if not isinstance(value, Scalar) or not isinstance(value.value, str) or "${{" in value.value:
        return value
    return Mapping(((value, Mapping((), value.span, value.used_at)),), value.span, value.used_at)


def _each(expand: Callable[[Node], Node]) -> Callable[[Node], Node]:
    """Return the expansion of every value of a mapping."""

    def expand_each(value: Node) -> Node:
        if not isinstance(value, Mapping):
            return value
        entries = tuple((key, expand(item)) for key, item in value.entries)
        if all(new is old for (_, new), (_, old) in zip(entries, value.entries, strict=True)):
            return value
        return Mapping(entries, value.span, value.used_at)

    return expand_each


_EXPANSIONS: dict[str, Callable[[Node], Node]] = {
    "distribution": _distribution,
    **{
        row.path: _each(_under(row.form.short)) if isinstance(row.form, NamedForm) else _under(row.form.short)
        for row in rows_below("")
        if isinstance(row.form, StructureForm | NamedForm | ChoiceForm) and row.form.short
    },
}


def rehomed(spec: Mapping, home: str) -> Mapping:
    """Return ``spec`` with every relative path rewritten to start at the directory of the file ``home``."""
    root: Node = spec
    for path in _PATHS:
        root = _at(root, path, posixpath.dirname(home))
    assert isinstance(root, Mapping)
    return root


def _at(node: Node, path: tuple[str, ...], home: str) -> Node:
    if not path:
        return _moved(node, home)
    if not isinstance(node, Mapping):
        return node
    step, rest = path[0], path[1:]
    if step != _ANY:
        value = node.get(step)
        if value is None or _at(value, rest, home) is value:
            return node  # the usual case needs no new entries
    entries = [(k, _at(value, rest, home) if k.text == step or step == _ANY else value) for k, value in node.entries]
    is_same = all(new is old for (_, new), (_, old) in zip(entries, node.entries, strict=True))
    return node if is_same else replace(node, entries=tuple(entries))


def _moved(node: Node, home: str) -> Node:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return node
    origin = posixpath.dirname(node.span.file)
    if origin == home:
        return node
    moved = relocated(node.value, origin, home)
    return node if moved == node.value else replace(node, text=moved, value=moved)


def relocated(path: str, origin: str, home: str) -> str:
    """Return the path from the directory ``home`` to what ``path`` is in the directory ``origin``.

    Compare only names and never read the disk, so the result is the same on every machine.
    """
    origin, home = posixpath.normpath(origin), posixpath.normpath(home)
    if origin == home or not path or posixpath.isabs(path) or "://" in path or path.startswith("~/"):
        return path
    target = posixpath.normpath(posixpath.join(origin, path))
    if posixpath.isabs(target) == posixpath.isabs(home):
        there, here = _steps(target), _steps(home)
        shared = 0
        while shared < min(len(there), len(here)) and there[shared] == here[shared]:
            shared += 1
        if ".." not in here[shared:]:
            target = "/".join([".."] * (len(here) - shared) + there[shared:]) or "."
        else:
            # Above the current directory: only the disk has the names for the way back.
            target = posixpath.relpath(target, home)
    return f"{target}/" if path.endswith("/") else target


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step not in ("", ".")]


MALFORMED_EXTENDS = Rule("SM121", "malformed extends")

NO_VERSION = Rule("SM122", "missing spec version")

MALFORMED_OVERLAY = Rule("SM124", "malformed overlay")

VERSION = "v1"

NOT_IN_AN_OVERLAY = ("extends", "overlays")

MOST_PARTS = 50_000
"""Takes about half a second to check: 50 overlays of a spec of 1,000 parts, or 500 of one of 100."""

_TEXT_OF_A_PART = 100
"""Characters that count as one more part: long strings are read again too."""


def own_mapping(document: Document) -> Mapping:
    """Return the keys of one file; none where it is not a mapping, which the check of the shape reports."""
    root = document.root
    return root if isinstance(root, Mapping) else Mapping((), root.span)


def layer_faults(layer: Document, *, alone: bool) -> tuple[Diagnostic, ...]:
    """Return the errors in the parts of a layer that the merged spec no longer has."""
    findings = extends_faults(layer) + _overlay_faults(layer)
    if not alone:
        # Without layers, a job's file is checked as a job, which needs its version anyway.
        findings += _version_faults(layer)
    return placed(findings, layer)


def extends_faults(document: Document) -> list[Finding]:
    """Return the errors in the base specs that a file names."""
    node = own_mapping(document).get("extends")
    if node is None or is_null(node):
        return []
    help = "use a list of paths relative to this file: `extends: [../org/base.yaml]`"
    if not isinstance(node, Sequence):
        return [MALFORMED_EXTENDS.at(("extends",), "`extends` is not a list of paths", help=help)]
    findings: list[Finding] = []
    for index, item in enumerate(node.items):
        if not isinstance(item, Scalar) or not isinstance(item.value, str) or not item.text.isprintable():
            fault, advice = "is not a path", help
        elif not item.text:
            fault, advice = "is empty", help
        elif "${{" in item.text:
            fault, advice = "contains a variable", "remove the variable, or use an overlay for what differs"
        else:
            continue
        findings.append(MALFORMED_EXTENDS.at(("extends", index), f"`extends[{index}]` {fault}", help=advice))
    return findings


def _overlay_faults(document: Document) -> list[Finding]:
    node = own_mapping(document).get("overlays")
    if node is None or is_null(node):
        return []
    help = "use a mapping, such as `overlays: {dev: {hosts: {count: 1}}}`"
    if not isinstance(node, Mapping):
        return [MALFORMED_OVERLAY.at(("overlays",), "`overlays` is not a mapping", help=help)]
    findings: list[Finding] = []
    for key, value in node.entries:
        if isinstance(value, Mapping):
            for word in NOT_IN_AN_OVERLAY:
                if value.get(word) is not None:
                    message = f"an overlay cannot have `{word}`"
                    path = ("overlays", key.text, word)
                    advice = "move it to the top level of the file"
                    findings.append(MALFORMED_OVERLAY.at(path, message, help=advice, on="key"))
        elif not is_null(value):
            message = f"the overlay {quoted(key.text)} is not a mapping"
            findings.append(MALFORMED_OVERLAY.at(("overlays", key.text), message, help=help))
    return findings


def _version_faults(document: Document) -> list[Finding]:
    version = own_mapping(document).get("smspec")
    help = "add `smspec: v1` at the start of the file"
    if version is None:
        return [NO_VERSION.at(("smspec",), "`smspec` is not set", help=help)]
    if not isinstance(version, Scalar) or version.value != VERSION:
        return [NO_VERSION.at(("smspec",), "`smspec` is not a version that this release supports", help=help)]
    return []


def extent_findings(spec: Mapping, overlays: int, checks: int) -> list[Finding]:
    """Return the errors in the number of overlays, given the spec that they apply to.

    ``checks``: how often the spec is checked with them; once for each alternative of `hosts.any_of`.
    """
    if overlays and checks * (size := parts(spec)) > MOST_PARTS:
        message = (
            f"`overlays` is too large: {overlays:,} overlays of a spec with {size:,} parts; the maximum "
            f"is {MOST_PARTS:,}"
        )
        help = "move overlays to several specs that extend the same base spec"
        return [BEYOND_THE_LIMITS.at(("overlays",), message, help=help, on="key")]
    return []


def parts(node: Node) -> int:
    """Return the size of a node: one for every key and value, two for every list and mapping, more for long strings."""
    if isinstance(node, Scalar):
        return 1 + len(node.text) // _TEXT_OF_A_PART
    if isinstance(node, Sequence):
        return 2 + sum(map(parts, node.items))
    return 2 + sum(parts(key) + parts(value) for key, value in node.entries)

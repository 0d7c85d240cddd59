"""Errors in the keys of one file that the merged spec no longer has: `extends`, `overlays`, its version, its size.

The size has a limit because a spec with overlays is checked again, as a whole, with each of them.
"""

from __future__ import annotations

from smspec.diagnostics import Diagnostic, Finding, Rule, placed
from smspec.diagnostics.quoting import quoted
from smspec.source import Document, Mapping, Node, Scalar, Sequence
from smspec.spec.layers.merging import is_null
from smspec.spec.yaml.text_limits import BEYOND_THE_LIMITS

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
            findings.append(MALFORMED_EXTENDS.at(("extends", index), f"`extends[{index}]` is not a path", help=help))
        elif not item.text:
            findings.append(MALFORMED_EXTENDS.at(("extends", index), f"`extends[{index}]` is empty", help=help))
        elif "${{" in item.text:
            message = f"`extends[{index}]` contains a variable"
            findings.append(
                MALFORMED_EXTENDS.at(
                    ("extends", index), message, help="remove the variable, or use an overlay for what differs"
                )
            )
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

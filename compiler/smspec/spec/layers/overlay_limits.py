"""Limits on the size of a spec with overlays: it is checked again, as a whole, with each of them."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.source import Mapping, Node, Scalar, Sequence
from smspec.spec.yaml.text_limits import BEYOND_THE_LIMITS

MOST_PARTS = 50_000
"""Takes about half a second to check: 50 overlays of a spec of 1,000 parts, or 500 of one of 100."""

_TEXT_OF_A_PART = 100
"""Characters that count as one more part: long strings are read again too."""


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

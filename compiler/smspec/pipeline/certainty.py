"""Select the findings of a partly known document that do not depend on its unknown parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from smspec.diagnostics import Finding
from smspec.rules.suppressions import UNUSED, can_be_ignored
from smspec.source import Document, Path, Scalar, Sequence
from smspec.spec.layers.merging import is_null

_IGNORE: Path = ("checks", "ignore")

_OF_FILES = ("SM143", "SM144", "SM145")
"""The file in a key does not exist. Other findings about files depend on more keys, such as `source.ignore`."""


def certain(findings: Iterable[Finding], document: Document) -> list[Finding]:
    """Return the findings that cannot depend on the unknown parts of ``document``."""
    if not document.is_partly_known:
        return [*findings]
    rules = set(_doubtful_rules(document))
    return [
        finding
        for finding in findings
        if not (can_be_ignored(finding) and ("" in rules or finding.code in rules))
        # An entry of `checks.ignore` may be meant for an unknown part.
        and not (finding.code == UNUSED.code and len(finding.path) == len(_IGNORE) + 1)
        and not (document.is_partial and _may_depend_on_a_base(finding, document))
    ]


def is_written(path: Path, document: Document) -> bool:
    """Return whether a document has a value at ``path``, or is in a list there, which no base spec extends."""
    node = document.node(path)
    in_list = any(isinstance(step, int) and document.node(path[: at + 1]) for at, step in enumerate(path))
    return in_list or (bool(path) and node is not None and not is_null(node))


def _may_depend_on_a_base(finding: Finding, document: Document) -> bool:
    if not is_written(finding.path, document) or finding.needs_every_layer:
        return True
    if finding.page:
        return True  # a rule of an organization may be about what a base spec sets
    if finding.code.startswith("SM1") and finding.code not in _OF_FILES:
        return True
    # A base spec may ignore a warning, unless the job has its own list.
    return finding.severity != "error" and not isinstance(document.node(_IGNORE), Sequence)


def _doubtful_rules(document: Document) -> Iterator[str]:
    """Yield the rules of entries of `checks.ignore` that are partly unknown; empty: any rule."""
    for path in document.unknown:
        if path[: len(_IGNORE)] != _IGNORE[: len(path)]:
            continue
        rule = document.node((*path[:3], "rule")) if path[3:] and path[3] != "rule" else None
        yield rule.text if isinstance(rule, Scalar) else ""

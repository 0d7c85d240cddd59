"""Files of the command line that are rules of an organization, not specs."""

from __future__ import annotations

import os
from collections.abc import Iterable

from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.source import SourceText
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRuleFiles:
    """``paths``: those that are files with rules. ``diagnostics`` are about all rules that apply next to them."""

    paths: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]


def named_rule_files(paths: Iterable[str], cache: InputCache) -> NamedRuleFiles:
    """Return those of some paths that the policy of their directory names, after their cases have run."""
    found: list[str] = []
    diagnostics: dict[Diagnostic, None] = {}
    texts: dict[SourceText, None] = {}
    for path in paths:
        rejected: InvalidInput | None = None
        try:
            files = [rule.file for rule in cache.organization_rules(os.path.dirname(path))]
        except InvalidInput as fault:
            rejected, files = fault, [text.name for text in fault.texts]
        if cache.identity(path) not in map(cache.identity, files):
            continue
        found.append(path)
        if rejected is not None:
            diagnostics.update(dict.fromkeys(rejected.diagnostics))
            texts.update(dict.fromkeys(rejected.texts))
    return NamedRuleFiles(paths=tuple(found), diagnostics=tuple(diagnostics), texts=tuple(texts))

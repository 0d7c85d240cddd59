"""A regular expression that differs from the printed line in its case or its separators matches nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.source.source_and_job import SourceAndJob, file_name
from smspec.script.printed_lines import PrintedLine, printed_lines
from smspec.service.metric_literal import letters, literal_before_value, most_steps
from smspec.source import SourceText
from smspec.source.by_identity import ByIdentity

RULE = Rule("SM524", "metric that nearly matches", "warning")

_FOUND: ByIdentity[tuple[str, PrintedLine, str] | None] = ByIdentity()  # many jobs can share a source
_SHORTEST, _LONGEST = 3, 500
_MOST_STEPS = 1e8
"""Of the search for one metric: half a second at worst."""
_ENDS = re.compile(r"[^\n\t,;|()\[\]{}<>]*\Z")
_PRINTING_LIBRARIES = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?:autogluon|catboost|deepspeed|detectron2|fairseq|fastai|gluonnlp|gluonts|keras"
    r"|lightgbm|lightning|mmcv|mmengine|mxnet|paddle|pytorch_lightning|ray|sentence_transformers|setfit|smart_sifting"
    r"|spacy|tensorflow|transformers|trl|ultralytics|xgboost)\b",
    re.MULTILINE,
)
"""They print metrics themselves, under names in lower case without spaces."""


def check(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about a metric whose text before the value the script prints in a different form."""
    for index, metric in enumerate(both.job.metrics):
        found = _found(metric.regex, both)
        if found is None:
            continue
        written, line, printed = found
        yield RULE.at(
            ("metrics", index, "regex"),
            f"`metrics[{index}].regex` searches for {quoted(written)}, but `{file_name(line.place.file)}`"
            f" prints {quoted(printed)}",
            help=f"change the text before the group to {quoted(printed)}, or change the line in the script",
            notes=(Note("the script prints it here", line.place),),
        )


def _found(pattern: str, both: SourceAndJob) -> tuple[str, PrintedLine, str] | None:
    return _FOUND.of(pattern, both.texts, lambda: _near_miss(pattern, both.modules))


def _near_miss(pattern: str, modules: tuple[SourceText, ...]) -> tuple[str, PrintedLine, str] | None:
    literal = literal_before_value(pattern) if len(pattern) <= _LONGEST else None
    key = letters(literal or "")
    if literal is None or len(key) < _SHORTEST or not re.search("[a-z]", key):
        return None
    if not any(key in _letters(text.text) for text in modules):
        return None
    try:
        search = re.compile(pattern).search
    except (re.error, OverflowError, RecursionError):
        return None
    is_of_a_library = literal.strip().islower() and " " not in literal.strip()
    if is_of_a_library and any(_PRINTING_LIBRARIES.search(text.text) for text in modules):
        return None
    near: tuple[str, PrintedLine, str] | None = None
    steps = 0.0
    for text in modules:
        found = _lines(text)
        if found is None:
            return None  # it may print what the metric means
        lines, strings = found
        if any(literal.strip() and literal in string for string in strings):
            return None
        for line in lines:
            for rendered in line.renderings(re.sub(r"[\W_]+\Z", "", literal).strip()):
                steps += most_steps(pattern, len(rendered))
                if steps > _MOST_STEPS or search(rendered):
                    return None
            printed = next((tail for before in line.before_values() if (tail := _tail(before, key, literal))), None)
            if near is None and line.is_printed and printed:
                near = literal, line, printed
    return near


@lru_cache(maxsize=1024)
def _letters(text: str) -> str:
    """Return the letters of a module; many jobs can share it."""
    return letters(text)


@lru_cache(maxsize=64)
def _lines(text: SourceText) -> tuple[list[PrintedLine], list[str]] | None:
    return printed_lines(text)


def _tail(before: str, key: str, literal: str) -> str:
    """Return the end of a printed text that has the letters of the literal, as a whole; empty if it has others."""
    last = _ENDS.search(before)
    piece = last[0].lstrip() if last is not None else ""
    if letters(piece) == key:
        return piece
    if len(re.findall(r"[^\W_]+", literal)) < 2 or not letters(before).endswith(key):
        return ""
    count = 0
    for start in range(len(before) - 1, -1, -1):
        count += before[start].isalnum()
        if count == len(key):
            return before[start:] if not before[start - 1 : start].isalnum() else ""
    return ""

"""The metrics that a script certainly prints: a known name, then a formatted number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from smspec.script.printed_lines import Gap, printed_lines
from smspec.source import SourceText

_NUMBER = re.compile(r"[-+ ]?\d*(\.\d+)?[eEfFgG]")
_NAMED = re.compile(
    r"(?:^|[\s,;|(\[])((?:[A-Za-z]+[_ ])?(?:loss|acc|accuracy|auc|f1|mae|mse|rmse|perplexity)(?: ?[:=] ?))\Z",
    re.IGNORECASE,
)
_MOST = 40
"""Metrics of one job, as SageMaker limits them."""


def printed_metrics(texts: Iterable[SourceText]) -> Iterator[tuple[str, str]]:
    """Yield (name, regular expression) of the metrics whose text precedes one printed value only."""
    places: Counter[str] = Counter()
    numeric: dict[str, None] = {}
    for text in texts:
        found = printed_lines(text)
        for line in found[0] if found else ():
            gaps = [part for part in line.parts if isinstance(part, Gap)]
            for before, gap in zip(line.before_values(), gaps, strict=False):
                named = _NAMED.search(before)
                if named and line.is_printed:
                    places[named[1]] += 1
                    if _NUMBER.fullmatch(gap.format):
                        numeric[named[1]] = None
    for before in list(numeric)[:_MOST]:
        # `loss: ` is also the end of `val loss: `, and two lines of one name may be two metrics.
        if sum(count for other, count in places.items() if other.endswith(before)) == 1:
            name = re.sub(r"[^A-Za-z0-9]+", "_", before).strip("_").lower()
            yield name, f"{re.escape(before).replace(chr(92) + ' ', ' ')}([0-9.eE+-]+)"

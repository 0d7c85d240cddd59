"""A progress bar does not end its line: a message may stand behind it."""

import re

_TIMES = r"\[\d+:[\d:]+[<,](?:[^][]|\[[^][]*\])*\]"
_BAR = re.compile(  # tqdm's
    rf"(?:.{{0,200}}?\d{{1,3}}%\|.{{0,400}}?\| *[\d.]+\w*/[\d.?]+\w* |.{{0,200}}?\d\w* ){_TIMES} *(?=\S)"
)


def bar_end(text: str) -> int:
    """Where a message begins behind a progress bar, or 0."""
    found = _BAR.match(text) if " [" in text else None
    return found.end() if found else 0

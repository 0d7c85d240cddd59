"""The colors of verdicts and counts on a terminal: green for what is well, red for what is not, yellow between."""

from __future__ import annotations

import re

_GREEN, _RED, _YELLOW = "32", "31", "33"

_STYLES = {
    r"no problems found|no differences|Completed|kept": _GREEN,
    r"[1-9][0-9]* errors?|Failed|broken": _RED,
    r"[1-9][0-9]* warnings?|Stopped|not rehearsed": _YELLOW,
}

# Not inside a name: jobs may be called `exp-Failed`.
_VERDICT = re.compile(
    r"(?<![\w./`-])(?:" + "|".join(f"(?P<s{style}>{words})" for words, style in _STYLES.items()) + r")(?![\w./`-])"
)


def coloured_verdicts(text: str) -> str:
    """Return a text, the values of which are visible already, with its verdicts and counts in color."""
    return _VERDICT.sub(lambda verdict: f"\x1b[{(verdict.lastgroup or '')[1:]}m{verdict[0]}\x1b[0m", text)

"""User text in Markdown: code spans, which contain no markup, no HTML, no links, and no mentions.

A bar would end a table cell even there, so it is written between two spans as a character reference.
"""

from __future__ import annotations

import re

from smspec.diagnostics.visible import visible

_BAR = "<code>&#124;</code>"


def marked(words: str) -> str:
    """Return a message with the user text in backticks as code."""
    parts = words.split("`")
    return "".join(code(part) if number % 2 else part for number, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as a code span that no part of it can end."""
    return "".join(_bars(part) if part[0] == "|" else _span(part) for part in re.split(r"(\|+)", visible(text)) if part)


def _bars(bars: str) -> str:
    return _BAR.replace("&#124;", "&#124;" * len(bars))


def _span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # Markdown removes a space at both ends, which separates the fence from backticks; text of only spaces is kept.
    padded = f" {text} " if text.strip(" ") and (text[0] in "` " or text[-1] in "` ") else text
    return f"{fence}{padded}{fence}"

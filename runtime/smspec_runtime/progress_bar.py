"""A progress bar does not end its line: a message may stand behind it."""

import re

from .lean_typing import List

# Without limits, the time grows with the cube of the length of a number.
_NUMBER = r"[\d.?]{1,24}\w{0,9}"
_COUNT = rf".{{0,200}}?\d{{1,3}}%\|.{{0,400}}?\| *{_NUMBER}/{_NUMBER} |.{{0,200}}?\d\w{{0,9}} "
_TIMES = r"\[\d+:[\d:]+[<,](?:[^][]|\[[^][]*\]){0,999}\]"
_CLOCK = r"(?:\d{1,9}d )?(?:[-\d]{1,3}:)?[-\d]{1,2}:[-\d]{2}"
_VALUE = r"[-\d.,]{1,24}(?:e[-+]\d\d)?"
_UNIT = r"(?:%| ?(?:[kKMGTP]i?)?[Bb](?:/s)?|[KMGT]|[mun]?s(?:/[a-z]{1,9})?|[hdm])(?![a-z\d])"
_STATE = rf" {{1,99}}(?:[-•] )?(?:{_CLOCK}|{_VALUE}(?:{_UNIT}|/{_VALUE}(?:{_UNIT})?))"
_NAMED = rf" {{1,99}}(?:- [\w/]{{1,60}}:|eta|in) (?:{_CLOCK}|{_VALUE}(?:{_UNIT})?|nan|inf)"
_FILLED = r"(?:[━╸╺]{5,200}|\[[=>.#-][=>.# -]{4,200}\])"
_BAR = re.compile(rf"(?:{_COUNT}){_TIMES} *")  # tqdm's
_OTHER_BAR = re.compile(rf".{{0,200}}?{_FILLED}(?:{_STATE}|{_NAMED})+ *")  # Of Rich, pip, Keras, click, wget.


def split_bar(text: str) -> List[str]:
    """A progress bar and the message behind it, or one text."""
    found = (_BAR.match(text) if " [" in text else None) or _OTHER_BAR.match(text)
    end = found.end() if found else 0
    return [text[:end], text[end:]] if text[end:] and end else [text]

"""A progress bar does not end its line: a message may stand behind it."""

import re

from .lean_typing import List

# Without limits, the time grows with the cube of a number's length.
_NUMBER = r"[\d.?]{1,24}\w{0,9}"
_COUNT = rf".{{0,200}}?\d%\|.{{0,400}}?\| *{_NUMBER}/{_NUMBER} |.{{0,200}}?\d\w{{0,9}} "
_CLOCK = r"(?:\d{1,9}d )?(?:[-\d]{1,3}:)?[-\d]{1,2}:[-\d]{2}"
_VALUE = r"[-\d.,]{1,24}(?:e[-+]\d\d)?"
_UNIT = r"(?:%|(?: ?(?:[kKMGTP]i?)?[Bb](?:/s)?|[KMGT]|(?:[mun]?s|it)(?:/[a-z]{1,9})?|[hdm])(?![a-z]))"
_NAME = r"(?:- [\w/]{1,60}:|\w{0,9} ?Time:|ETA:?|eta|in) {1,9}"
_RATE = r"[([](?:\d+%|~?[\d.]+/?s|\d+/\d+ [\d:]+<)[^][()]{0,99}[])]"
_STATE = (
    rf" {{1,99}}(?:(?:{_NAME}|[-•] )?(?:{_CLOCK}|{_VALUE}(?:{_UNIT}|/{_VALUE}(?:{_UNIT})?))"
    rf"|{_NAME}(?:{_VALUE}|nan|inf)|{_RATE}|Complete)"
)
_FILL = r"(?:[━╸╺]{5,200}|\| +\|(?= E)|[|[](?! )[─-⣿#=>.*+~ -]{5,200}[]|](?: [▀-⣿]{1,9})?)"
_BAR = re.compile(rf"(?:{_COUNT})\[\d+:[\d:]+[<,](?:[^][]|\[[^][]*\]){{0,999}}\] *")  # tqdm's
_OTHER = re.compile(
    rf".{{0,200}}?(?=[━╸╺[|\d])(?:{_FILL}{_STATE}|\d%(?: \(.{{1,40}}\))? {{0,9}}{_FILL})(?:{_STATE})* *"
)


def split_bar(text: str) -> List[str]:
    """A progress bar and the message behind it, or one text."""
    found = (" [" in text and _BAR.match(text)) or _OTHER.match(text)
    end = found.end() if found else 0
    return [text[:end], text[end:]] if 0 < end < len(text) else [text]

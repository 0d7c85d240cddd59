"""A progress bar does not end its line: a message may stand behind it."""

import re

from .lean_typing import List

# Without limits, the time grows with the cube of the length of a number.
_NUMBER = r"[\d.?]{1,24}\w{0,9}"
_COUNT = rf".{{0,200}}?\d{{1,3}}%\|.{{0,400}}?\| *{_NUMBER}/{_NUMBER} |.{{0,200}}?\d\w{{0,9}} "
_TIMES = r"\[\d+:[\d:]+[<,](?:[^][]|\[[^][]*\]){0,999}\]"
_BAR = re.compile(rf"(?:{_COUNT}){_TIMES} *(?=\S)")  # tqdm's


def split_bar(text: str) -> List[str]:
    """A progress bar and the message behind it, or one text."""
    found = _BAR.match(text) if " [" in text else None
    return [text[: found.end()], text[found.end() :]] if found else [text]

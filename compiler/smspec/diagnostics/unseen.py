"""What a reviewer cannot see in a text: characters without a width, and letters that look like those of another script.

Honest text has some of them: emoji are joined with U+200D, Persian words contain U+200C, and Chinese characters have
variants. They are accepted where they change what a reader sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

# Ranges of ``Default_Ignorable_Code_Point``, the marks that reorder text, blanks that Unicode calls letters or symbols
# (Hangul, Braille, the filler of Khitan, a note without a head), and what is not printable in YAML or JSON. The allowed
# characters extend beyond U+FFFF, and a class of them takes 5 ms to compile.
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff"
_INVISIBLE = (
    "\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffc\U00013430-\U0001343f\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_SOFT_HYPHEN = "\xad"

_UNSEEN = f"[{_CONTROLS}{_INVISIBLE}]+|\r(?!\n)"
# Rules about each name report control characters of ASCII, which only an escape can write, with what they break.
_OTHER_CONTROLS = "\x80-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff"
# What a font shows for private use is unknown, and a stroke through a letter is hard to see.
_PRIVATE, _STROKES = "\ue000-\uf8ff", "\u0334-\u0338"
_UNSEEN_IN_A_NAME = f"[{_OTHER_CONTROLS}{_INVISIBLE}{_SPACES}{_SOFT_HYPHEN}{_PRIVATE}{_STROKES}]+"

_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")

# Letters that look like Latin ones in common fonts (Unicode's confusables.txt has more of them, for rarer letters).
_TWINS = dict(
    zip(
        "аеорсухіјѕһԁԛԝӏɡɑɩгѵкАВЕКМНОРСТХІЈЅУԌԚԜҮӀοαρνυικγχτωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺոսօցհքԼՍՕꓮꓐꓑꓗꓣꓢᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃⲟⲣⲥ",
        "aeopcyxijshdqwlgaigvkABEKMHOPCTXIJSYGQWYIoapvuikyxtwcjABEZHIKMNOPTYXCMnuoghfLUOABPKRSABCDEGHJKLMPRSTVWZopc",
        strict=True,
    )
)
_TWINS |= dict(zip("⁄∕⧸․꞉˸∶։‐‑‒–−﹣˗∗⁎ǀ∣一ー丨ㅣㅡ", "///.::::------***||--||-", strict=True))
_TWINS |= dict(zip("ꓐꓒꓓꓔꓖꓙꓚꓜꓝꓟꓠꓡꓦꓧꓪꓫꓬꓰꓲꓳꓴѡҽ", "BdDTGJCZFMNLVHWXYEIOUwe", strict=True))
_DEAD: tuple[str, ...] = (
    "COPTIC",
    "DESERET",
    "OLD ",
    "CARIAN",
    "LYCIAN",
    "LYDIAN",
    "GOTHIC",
    "OSAGE",
    "RUNIC",
    "ELBASAN",
    "GLAGOLITIC",
)
_DEAD += ("OGHAM", "VITHKUQI", "CAUCASIAN ALBANIAN", "WARANG CITI", "PHOENICIAN", "LINEAR ", "CYPRIOT")
"""How names of letters begin that no language of today needs, and many of which look like Latin ones."""
_WITHOUT_SPACES = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"))
"""Thai, Lao, Burmese, and Khmer: U+200B is where a line may break."""
_FAMILIAR: tuple[str, ...] = (
    "CYRILLIC",
    "GREEK",
    "ARABIC",
    "HEBREW",
    "ARMENIAN",
    "GEORGIAN",
    "DEVANAGARI",
    "BENGALI",
    "TAMIL",
    "THAI",
)
_FAMILIAR += ("MICRO SIGN", "OHM SIGN", "ANGSTROM SIGN")
_RAISED = ("SUPERSCRIPT", "SUBSCRIPT", "LATIN SUBSCRIPT", "MODIFIER LETTER", "FEMININE ORDINAL", "MASCULINE ORDINAL")
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC")


def unseen_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each run of characters that have no place in a text, comments too."""
    for run in re.compile(_UNSEEN).finditer(text):
        for at in range(*run.span()):
            if not _is_honest(text, at):
                yield at, run.end()
                break


def unseen_in_name(text: str) -> str:
    """Return the first character of a name, an address, or a path that cannot be seen; empty without one."""
    for run in re.compile(_UNSEEN_IN_A_NAME).finditer(text):
        for at in range(*run.span()):
            if not _is_honest(text, at):
                return text[at]
    return ""


def lookalike(text: str) -> tuple[str, str] | None:
    """Return the first character of a name that looks like one of ASCII, and that one, if known; None without one.

    A name that is written in another script is accepted, unless all of its letters look like Latin ones.
    """
    if text.isascii():
        return None
    for word in _WORD.findall(text):
        found = mixed_letter(word)
        if found:
            return found, twin(found)
    from unicodedata import category, name  # imported late: most texts are ASCII

    foreign = {character for character in text if character.isalpha() and not _is_of_latin(character)}
    is_foreign = any(character not in _TWINS for character in foreign)
    has_east_asian = any(_is_east_asian(character) for character in foreign)
    has_latin = _LATIN.search(text) is not None
    for character in dict.fromkeys(text):
        if character.isascii() or (has_east_asian and not character.isalpha()):
            continue
        is_twin = character in _TWINS and (not is_foreign or not character.isalpha())
        is_twin |= has_latin and name(character, "").startswith(_DEAD)
        is_digit = category(character) == "Nd" and has_latin and not is_foreign
        if is_twin or is_digit or (_compatible(character) and not has_east_asian):
            return character, twin(character)
    return None


@lru_cache(maxsize=1024)
def mixed_letter(word: str) -> str:
    """Return the first letter of another script in a word with Latin letters; empty if both can be told apart.

    In `модельV2` they can: the word begins in one script, ends in the other, and has a letter that Latin lacks.
    """
    if word.isascii() or not _LATIN.search(word):
        return ""
    is_latin = [_is_of_latin(character) for character in word]
    foreign = [character for character, latin in zip(word, is_latin, strict=True) if not latin]
    if not foreign:
        return ""
    from unicodedata import name

    is_like_latin = all(character in _TWINS for character in foreign)
    changes = sum(one != other for one, other in pairwise(is_latin))
    is_apart = changes == 1 and all(name(character, "").startswith(_FAMILIAR) for character in foreign)
    if not is_like_latin and (is_apart or all(map(_is_east_asian, foreign))):
        return ""
    return foreign[0]


def twin(character: str) -> str:
    """Return the character of ASCII that another one looks like; empty if unknown."""
    return _TWINS.get(character, "") or _compatible(character)


def look(text: str) -> str:
    """Return one text for all that look like a text: other forms of its letters, and their twins."""
    from unicodedata import normalize

    return normalize("NFKC", "".join(twin(character) or character for character in normalize("NFC", text)))


def called(character: str) -> str:
    """Return the code point of a character and its name: ``U+0430 CYRILLIC SMALL LETTER A``."""
    from unicodedata import name

    return f"U+{ord(character):04X} {name(character, '')}".rstrip()


def _compatible(character: str) -> str:
    """Return the ASCII form of a variant, such as a full-width letter or a mathematical one."""
    from unicodedata import name, normalize

    form = normalize("NFKC", character)
    if form != character and form.isascii() and form.strip():
        return "" if name(character, "").startswith(_RAISED) else form
    is_small_capital = name(character, "").startswith("LATIN LETTER SMALL CAPITAL ")
    return name(character)[-1].lower() if is_small_capital and name(character)[-2] == " " else ""


def _is_of_latin(character: str) -> bool:
    if character.isascii():
        return True
    if character in _TWINS or _compatible(character):
        return False
    from unicodedata import name

    return name(character, "").startswith(("LATIN", "COMBINING", *_RAISED))


def _is_east_asian(character: str) -> bool:
    from unicodedata import name

    return name(character, "").startswith(_EAST_ASIAN)


def _is_honest(text: str, at: int) -> bool:
    """Return whether an invisible character changes what a reader sees, where it is."""
    character, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    code = ord(character)
    if character in "\u200c\u200d":
        return (_is_emoji(before) and _is_emoji(after)) or (_joins(before) and _joins(after))
    if character in "\ufe0e\ufe0f":
        return _is_emoji(before) or (before != "" and before in "0123456789#*" and after == "\u20e3")
    if 0xFE00 <= code <= 0xFE0D or 0xE0100 <= code <= 0xE01EF:
        return "\u3400" <= before <= "\U0003ffff" and before.isalpha()
    if 0x180B <= code <= 0x180F and code != 0x180E:
        return "\u1820" <= before <= "\u18aa"
    if 0xE0020 <= code <= 0xE007F:
        # The flags of England, Scotland, and Wales.
        flag = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f")
        return any(match.start() < at < match.end() for match in flag.finditer(text, max(0, at - 8), at + 8))
    if character == "\u200b":
        return any(first <= each <= last for each in (before, after) for first, last in _WITHOUT_SPACES)
    if character == "\u2800":
        return any("\u2801" <= each <= "\u28ff" for each in (before, after))
    return character == "\u3000" and _joins_east_asian(before) and _joins_east_asian(after)


def _joins_east_asian(character: str) -> bool:
    return "\u3001" <= character <= "\U0003ffff" and character not in "\u3164\uffa0"


def _joins(character: str) -> bool:
    """Return whether a letter, or a mark of one, is of a script with joiners, such as those of Persian and Hindi."""
    from unicodedata import category

    return "\u0600" <= character <= "\u1cff" and category(character)[0] in "LM"


def _is_emoji(character: str) -> bool:
    if not character or character.isascii():
        return False
    if character == "\ufe0f":
        return True
    from unicodedata import category

    return category(character) in ("So", "Sk", "Sm", "Pd", "Po") or "\U0001f1e6" <= character <= "\U0001faff"

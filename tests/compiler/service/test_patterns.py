"""Translated API patterns match like Java, compared with the `regex` package."""

import re
import warnings

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.service.patterns import LINE_TERMINATORS, UnsupportedPattern, matches, translated
from smspec.service.shapes import pinned_model
from support.examples import at_most

PINNED = sorted({shape.pattern for shape in pinned_model().shapes.values() if shape.pattern})
MORE = [
    r"\p{Lu}\p{Ll}*",
    r"[^\p{L}]*",
    r"\P{N}+",
    r"[\P{Z}]*",
    r"[\p{Digit}\-x-z]{2,3}",
    r"a.c",
    r"[.]+",
    r"\.?",
    r"(?!no)\w+",
    r"[\w\s]*",
    r"[\x41-\x43\u00e9]+",
    r"[+*?^$|#~&-]*",
    r"[^\n]*",
    r"\d+?\D*",
]
POSIX = {"Alnum": "0-9A-Za-z", "Digit": "0-9"}


def second_opinion(pattern, value):
    """Java's pattern in the words of `regex`: properties are its own, POSIX classes and `.` are spelled out."""
    spelled = re.sub(r"\\p\{(Alnum|Digit)\}", lambda found: POSIX[found[1]], pattern)
    outside = re.sub(
        r"\\.|\[(?:\\.|[^\]\\])*\]|\.",
        lambda found: f"[^{LINE_TERMINATORS}]" if found[0] == "." else found[0],
        spelled,
    )
    classes = regex.ASCII if re.search(r"\\[dDwWsS]", pattern) else regex.UNICODE
    return bool(regex.compile(outside, regex.VERSION0 | classes).fullmatch(value))


CHARACTERS = st.one_of(
    st.sampled_from("abzAZ09_-+=:/.@, \t\n\r\x85\u2028\u2029\xa0éßΩ中٣Ⅷ½²\u3000\u200b😀&~^$#[]\\"),
    st.characters(exclude_categories=["Cs", "Co", "Cn"]),
)


@pytest.mark.parametrize("pattern", PINNED + MORE)
@settings(max_examples=at_most(100))
@given(value=st.text(CHARACTERS, max_size=12))
def test_translation_agrees_with_a_second_engine(pattern, value):
    assert matches(pattern, value) == second_opinion(pattern, value)


@pytest.mark.parametrize("pattern", PINNED)
@settings(max_examples=at_most(100))
@given(data=st.data())
def test_translation_agrees_on_values_that_almost_match(pattern, data):
    if r"\p{L}" in pattern:
        value = data.draw(st.text(CHARACTERS, max_size=20))
    else:
        value = data.draw(st.from_regex(re.compile(translated(pattern), re.ASCII), fullmatch=True))[:200]
        assert len(value) == 200 or matches(pattern, value)
    slip = data.draw(st.integers(0, max(0, len(value))))
    value = value[:slip] + data.draw(st.text(CHARACTERS, max_size=1)) + value[slip:]
    assert matches(pattern, value) == second_opinion(pattern, value)


@pytest.mark.parametrize("terminator", LINE_TERMINATORS)
def test_dot_stops_at_every_line_terminator_of_java(terminator):
    assert not matches(".*", f"a{terminator}b")
    assert not matches(".+", f"a{terminator}")
    assert matches(r"[\S\s]*", f"a{terminator}b")
    assert matches(".*", "a\x0b\x0c\x1c\x1d\x1eb")


@pytest.mark.parametrize(
    ("pattern", "value", "expected"),
    [
        (r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", "ctr-linear-0123456789", True),
        (r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", "ctr_linear", False),
        (r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", "ctr-\n", False),
        (r"\d{12}", "٣٣٣٣٣٣٣٣٣٣٣٣", False),
        (r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)", "größe ½ Ⅷ 中", True),
        (r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)", "größe!", False),
        (r"arn:[\p{Alnum}\-]+:.*", "arn:aws-cn:x", True),
        (r"arn:[\p{Alnum}\-]+:.*", "arn:ä:x", False),
    ],
)
def test_patterns_of_the_api_are_translated(pattern, value, expected):
    assert matches(pattern, value) is expected


def test_every_pinned_pattern_is_translated():
    for pattern in PINNED:
        re.compile(translated(pattern, "é中"), re.ASCII)


@pytest.mark.parametrize(
    "pattern",
    [
        "a++",
        "a{2}+",
        "(?i)a",
        "(?<name>a)",
        "[a[b]]",
        "[a&&b]",
        r"\Qa\E",
        r"\R",
        "[]a]",
        "[a",
        r"\p{IsGreek}",
        r"[a-\d]",
    ],
)
def test_untranslatable_pattern_is_rejected(pattern):
    with pytest.raises(UnsupportedPattern):
        translated(pattern)


def test_translation_causes_no_python_warning():
    """Python warns of ambiguous sets; translated sets are escaped."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pattern in [*PINNED, *MORE, r"[\[\]~\|&--]", r"[\[\[a&\&~~\|\|]"]:
            re.compile(translated(pattern, "[&"), re.ASCII)

"""Patterns of an organization's rules: what RE2 finds, what it rejects, and what a hostile pattern costs."""

import re
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rules.organization_rules.linear_pattern import (
    LONGEST_TEXT,
    PatternsUnavailable,
    UnusablePattern,
    compiled,
    is_found,
)

PARTS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "^", r"\bb", "1", r"\z"])
PATTERNS = st.recursive(
    PARTS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{2,}", "*?"])).map(
            lambda two: f"({two[0]}){two[1]}"
        ),
    ),
    max_leaves=6,
)


@given(pattern=PATTERNS, text=st.text("ab1.é\n", max_size=8))
def test_finds_what_python_finds(pattern, text):
    expected = re.search(pattern.replace(r"\z", r"\Z"), text, re.ASCII)
    assert is_found(pattern, text) == (expected is not None)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b", "abc", True),
        ("^b", "abc", False),
        ("^abc$", "abc", True),
        ("^abc$", "abc\n", False),
        ("^b$", "a\nb\nc", False),
        ("(?m)^b$", "a\nb\nc", True),
        ("a.c", "a\nc", False),
        ("^.$", "é", True),
        ("^.$", "😀", True),
        (r"^\pL+$", "größe", True),
        ("(?i)^GROSS$", "gross", True),
        (r"^\d$", "٣", False),
        (r"^\w+$", "größe", False),
        (r"^\p{Cyrillic}$", "а", True),
        ("^[a-z]+$", "аdmin", False),
        ("^a$", "a\ud800", False),
    ],
    ids=range(16),
)
def test_searches_whole_texts_of_any_language(pattern, text, found):
    assert is_found(pattern, text) is found


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(((){999}){999}){999}", "invalid repetition size: {999}"),
        ("((a{100}){100}){100}", "invalid repetition size: {100}"),
        ("a{1001}", "invalid repetition size: {1001}"),
        (r"(a)\1", r"invalid escape sequence: \1"),
        (r"a\Z", r"invalid escape sequence: \Z"),
        ("(?=a)", "invalid perl operator: (?="),
        ("(?<!a)", "invalid perl operator: (?<!"),
        ("(?>a)", "invalid perl operator: (?>"),
        ("(", "missing ): ("),
        (")", "unexpected ): )"),
        ("[a", "missing ]: [a"),
        ("a**", "bad repetition operator: **"),
        ("*a", "no argument for repetition operator: *"),
        ("a{3,1}", "invalid repetition size: {3,1}"),
        ("[b-a]", "invalid character class range: b-a"),
        ("\\", "trailing \\"),
        (r"\pL{1000}", "pattern too large - compile failed"),
        (r"[^x]{900}", "it is too large: it repeats too much, or classes with too many characters"),
        ("a" * 201, "it has more than 200 characters"),
        ("\ud800", "it has half of a surrogate pair"),
    ],
    ids=range(20),
)
def test_unusable_pattern(pattern, reason):
    with pytest.raises(UnusablePattern, match=re.escape(reason)):
        compiled(pattern)


HOSTILE = [
    "(a+)+$",
    "(a|a)*b",
    "(a|a?)+$|((a*)*)*b",
    "(.*)(.*)(.*)(.*)(.*)x",
    ".{999}b",
    "(?:a?){99}a{99}",
    "(?i)a{999}",
]
HOSTILE += ["(" * 100 + ")" * 100, "(?:" * 60 + "|" * 20, r"(\pL{3}|\pN{4})", r"(?:\pL{5}){99}", "[^x]{499}", "|" * 200]


def test_hostile_pattern_is_bounded_in_time_and_memory():
    """A process of its own, with limits of 2 seconds of processor time for each pattern and 200 MB for all."""
    program = f"""
        import time
        from smspec.rules.organization_rules.linear_pattern import UnusablePattern, is_found
        for pattern in {HOSTILE!r} + ["(((){{999}}){{999}}){{999}}"]:
            for text in ("a" * {LONGEST_TEXT}, "é" * {LONGEST_TEXT}, "ab1." * {LONGEST_TEXT // 4}):
                start = time.process_time()
                try:
                    is_found(pattern, text)
                except UnusablePattern:
                    pass
                assert time.process_time() - start < 2, pattern
        # The kernel begins ru_maxrss of a new program with that of the process that started it.
        peak = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
        assert int(peak[0]) * 1024 < 200e6, peak
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


@pytest.mark.parametrize("module", ["raise ImportError", "compile = search = None"], ids=["missing", "another"])
def test_package_that_is_not_google_re2(tmp_path, monkeypatch, module):
    (tmp_path / "re2.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "re2", None)  # what was there before is put back, even if it was nothing
    del sys.modules["re2"]
    with pytest.raises(PatternsUnavailable):
        compiled.__wrapped__("a")

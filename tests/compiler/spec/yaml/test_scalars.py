"""Scalars: numbers, words of the core schema, and text, compared with PyYAML (1.1) and ruamel.yaml (1.2 and 1.1)."""

import math
import warnings

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from smspec.diagnostics import InvalidInput
from smspec.source import SourceText, to_data
from smspec.spec.yaml import read, read_scalar
from smspec.spec.yaml.events import is_text_everywhere, meaning, read_elsewhere_as
from support.examples import at_most


def document(text):
    return read(SourceText("job.yaml", text))


def data(text):
    return to_data(document(text).root)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("+5", 5), ("1.10", 1.1), ("1e-3", 0.001), ("1E5", 1e5),
        ("-2.5e+3", -2500.0), (".5", 0.5), ("-.5", -0.5), ("5.", 5.0), ("1e3", 1000.0), (".inf", math.inf),
        ("+.inf", math.inf), ("-.inf", -math.inf), ("true", True), ("false", False), ("null", None), ("", None),
        ("True", True), ("TRUE", True), ("False", False), ("FALSE", False), ("Null", None), ("NULL", None), ("~", None),
    ],
)  # fmt: skip
def test_plain_scalar_follows_the_core_schema(written, value):
    node = document(f"a: {written}\n").root.get("a")
    assert (node.value, type(node.value), node.text, node.plain) == (value, type(value), written, True)


def test_nan_is_a_number():
    assert math.isnan(data("a: .nan")["a"])


@pytest.mark.parametrize(
    "written",
    [
        "no",
        "yes",
        "on",
        "Off",
        "y",
        "tRUE",
        "nULL",
        "012",
        "010",
        "0o10",
        "0x1F",
        "0b1",
        "1_000",
        "12:30",
        "1:30:00",
        "2026-01-01",
        "2026-01-01T00:00:00Z",
        "1.2.3",
        "1e",
        "e5",
        "+",
        ".",
        "..",
        "1.e",
        "--1",
        "+-1",
        ".Inf",
        ".INF",
        ".NaN",
        "+.nan",
        "inf",
        "nan",
        "Infinity",
        "NaN",
        "012345670123",
        "=",
        "١٢",
        "１２",
        "5GB",
        "7b",
        "00",
        "-01",
        "1,000",
        "695e0514",
        "1e999",
        "-1e400",
    ],
)
def test_other_plain_scalars_are_text(written):
    node = document(f"a: {written}\n").root.get("a")
    assert (node.value, node.text) == (written, written)


def test_number_beyond_float_range_is_text():
    digits = "9" * 5000
    assert data(f"a: {digits}\n") == {"a": digits}


@pytest.mark.parametrize("written", ['"5"', "'5'", "|-\n  5", ">-\n  5"])
def test_quoted_scalars_are_text(written):
    node = document(f"a: {written}\n").root.get("a")
    assert (node.value, node.plain) == ("5", False)


def test_keys_are_text():
    assert list(data("on: 1\n5: 2\ntrue: 3\nnull: 4\n1.0: 5\n")) == ["on", "5", "true", "null", "1.0"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("'5'", "5"),
        ('"a\\tb"', "a\tb"),
        ("a: b #c", "a: b #c"),
        ("#f00", "#f00"),
        ("  x ", "x"),
        ("", None),
        ("no", "no"),
    ],
)
def test_option_value_is_one_scalar(text, value):
    assert read_scalar(SourceText("--set", text)).value == value


@pytest.mark.parametrize("text", ["[1]", "{a: 1}", "*a", "'a", '"a" b', "!t a", "a\0", "@x"])
def test_option_value_must_be_one_scalar(text):
    with pytest.raises(InvalidInput):
        read_scalar(SourceText("--set", text))


pytestmark = pytest.mark.slow

# The specification of 1.1 has these; PyYAML and ruamel.yaml leave them out.
ONLY_IN_THE_SPECIFICATION = frozenset("yYnN")


def seen_by_pyyaml(text):
    try:
        return yaml.safe_load(f"- {text}")[0]
    except ValueError:
        return None  # a day that no calendar has, still read as a date


def seen_by_ruamel(text, version):
    reader = YAML(typ="safe", pure=True)
    reader.version = version
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return reader.load(f"- {text}")[0]
        except ValueError:
            return None


def values(text):
    """Return what the readers make of a text; a text that is not one plain scalar is none."""
    try:
        return [seen_by_pyyaml(text), seen_by_ruamel(text, (1, 2)), seen_by_ruamel(text, (1, 1))]
    except yaml.YAMLError:
        return []
    except Exception as error:
        if "ruamel" not in type(error).__module__:
            raise
        return []


WORDS = st.sampled_from(
    [w for word in ("yes", "no", "on", "off") for w in (word, word.title(), word.upper(), f"{word}e")]
)
NUMBERS = st.text("-+._:0123456789xobeETZaF", max_size=10)
DATES = st.from_regex(
    r"20[0-9]{2}-[01]?[0-9]-[0-3]?[0-9]([Tt ][0-9]{1,2}:[0-5][0-9]:[0-5][0-9](\.[0-9])?Z?)?", fullmatch=True
)


@settings(max_examples=at_most(1500))
@given(WORDS | NUMBERS | DATES | st.sampled_from(sorted(ONLY_IN_THE_SPECIFICATION)))
@example("12:30")
@example("20:80")
@example("695e0514")
@example("10.0.0.1")
def test_ambiguous_plain_text_is_a_value_elsewhere(text):
    kind = read_elsewhere_as(text)
    if not kind:
        return
    assert meaning(text) == text
    assert not is_text_everywhere(text)
    assert text in ONLY_IN_THE_SPECIFICATION or any(not isinstance(value, str) for value in values(text)), kind


@settings(max_examples=at_most(1500))
@given(WORDS | st.text("0123456789", min_size=1, max_size=6) | st.text("-+.:0123456789xobeE", max_size=8) | DATES)
@example("0o17")
@example("0b11")
@example("1_000")
def test_values_of_pyyaml_are_ambiguous(text):
    if meaning(text) == text and (seen := values(text)) and not isinstance(seen[0], str | dict | list):
        assert read_elsewhere_as(text)

"""Ambiguous unquoted text, compared with PyYAML (1.1) and ruamel.yaml (1.2 and 1.1)."""

import warnings

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from smspec.spec.yaml.scalars import is_text_everywhere, meaning, read_elsewhere_as
from support.examples import at_most

pytestmark = pytest.mark.slow

# The specification of 1.1 has these; PyYAML and ruamel.yaml leave them out.
ONLY_IN_THE_SPECIFICATION = frozenset("yYnN")


def seen_by_pyyaml(text):
    try:
        return yaml.safe_load(f"- {text}")[0]
    except ValueError:
        return None  # a day that no calendar has, read as a date all the same


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

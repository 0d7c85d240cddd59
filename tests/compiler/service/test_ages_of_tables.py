"""The note on the age of the table that a finding rests on: in whole years, and only from one year on."""

import pytest

from smspec.diagnostics import Finding
from smspec.service.policy import with_ages
from smspec.service.shapes import pinned_model

PINNED = pinned_model().date


def notes(message, today=""):
    finding = Finding(code="SM999", severity="warning", path=("image",), message=message)
    (found,) = with_ages([finding], today)
    return [note.message for note in found.notes]


@pytest.mark.parametrize("date", [PINNED, "2999-01-01", f"{int(PINNED[:4]) - 1}-12-31", f"{PINNED[:4]}-01-01"])
def test_younger_tables_have_no_note(date):
    assert notes(f"it is not listed as of {date}") == []


@pytest.mark.parametrize(("years", "text"), [(1, "over 1 year ago"), (3, "over 3 years ago")])
def test_older_tables_have_a_note(years, text):
    date = f"{int(PINNED[:4]) - years}{PINNED[4:]}"
    assert notes(f"it is not listed as of {date}") == [f"{date} was {text}; AWS may have changed this"]


def test_age_is_that_on_the_date_of_the_repository():
    assert notes(f"as of {PINNED}", f"{int(PINNED[:4]) + 2}{PINNED[4:]}") == [
        f"{PINNED} was over 2 years ago; AWS may have changed this"
    ]


def test_words_of_the_author_have_no_age():
    assert notes("`as of 2011-01-01` is no tag") == []

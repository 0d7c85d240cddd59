"""Descriptions of differences between two requests: by the meaning of the member, or by the name that a user chose."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.review.change import Change
from smspec.review.members import words
from smspec.review.user_text import quoted
from smspec.review.version_pair import Pair


def by_member(pair: Pair, kind: str) -> Iterator[Change]:
    """Yield each difference of a kind with the name of its member, without its unit where it is a subject."""
    for leaf in pair.leaves_of(kind):
        what = words(leaf.at)
        yield pair.at_leaf(kind, leaf, what, brief=what.partition(",")[0])


def by_name(pair: Pair, kind: str, noun: str) -> Iterator[Change]:
    """Yield each difference of a kind with its own name, which a user chose."""
    for leaf in pair.leaves_of(kind):
        name = quoted(str(leaf.at[-1]))
        how = "is new" if leaf.old is None else "is gone" if leaf.new is None else "changed"
        yield pair.at_leaf(kind, leaf, f"{noun} {name} {how}", brief=name)

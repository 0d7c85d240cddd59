"""Moments drawn over a run: from each part of it that matters, the same for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.rehearsal.moments import Moments, checkpoints_of
from support.rehearsal.trials import timeline

RUN = timeline(
    *(
        f"{epoch + place:.3f} {event}"
        for epoch in range(1, 7)
        for place, event in (
            (0.2, "line"),
            (0.5, "line"),
            (0.7, "write a.part"),
            (0.71, "rename a a.part"),
            (0.9, "line"),
        )
    ),
    ended_at=8.0,
)


def test_changes_close_together_are_one_checkpoint():
    assert [(one.first, one.last) for one in checkpoints_of(RUN)] == [(n, n + 1) for n in range(1, 13, 2)]


def test_single_changes_are_checkpoints():
    run = timeline(*(f"{second} write a" for second in (1, 2, 3)))
    assert [(one.first, one.last) for one in checkpoints_of(run)] == [(1, 1), (2, 2), (3, 3)]


@given(st.integers())
def test_each_moment_is_in_its_part(seed):
    moments = Moments(RUN, seed)
    first = moments.before_the_first()
    assert (first.after, first.delay) == ("line", 0)
    assert first.count in (1, 2)
    after = moments.right_after()
    assert (after.after, after.count % 2, after.delay) == ("checkpoint", 0, 0)
    assert moments.between().after == "line"
    pause = moments.between(1)
    assert pause.after == "checkpoint" or pause.delay > 0
    last = moments.after_the_last()
    assert last.count in (18, 12)
    assert moments.between() == Moments(RUN, seed).between()
    late = moments.late(2)
    assert (late.after, late.delay) == ("line", 0)
    assert late.count >= 12, "that of the line after the fourth of six checkpoints"


def test_seeds_draw_different_moments():
    assert len({Moments(RUN, seed).between() for seed in range(20)}) > 3


@pytest.mark.parametrize("events", [(), ("5 line",), ("1 write a",)])
def test_short_runs_have_moments(events):
    moments = Moments(timeline(*events), 1)
    for moment in (
        moments.before_the_first(),
        moments.right_after(),
        moments.between(),
        moments.late(),
        moments.after_the_last(),
    ):
        assert moment.delay >= 0
    assert 0 <= moments.at(0.5).delay <= 10


def test_renamed_file_belongs_to_its_checkpoint():
    run = timeline("9 write a.part", "9.001 rename a a.part")
    assert [(one.first, one.last) for one in checkpoints_of(run)] == [(1, 2)]


@given(st.integers())
def test_turns_draw_different_checkpoints(seed):
    moments = Moments(RUN, seed)
    assert len({moments.right_after(turn).count for turn in range(5)}) == 5
    assert len({moments.between(turn) for turn in range(4)}) == 4


def test_checkpoints_after_a_long_import_are_separate():
    """Of the whole time, they take less than one checkpoint that is written at the end may take."""
    events = [f"{30 + n / 5:.3f} {event}" for n in range(6) for event in ("line", "write a")]
    run = timeline(*events, ended_at=32.0)
    assert [(one.first, one.last) for one in checkpoints_of(run)] == [(n, n) for n in range(1, 7)]

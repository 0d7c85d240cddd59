"""Signals are deferred and delivered later."""

from __future__ import annotations

import signal

import pytest

from smspec.output.deferred_signals import signals_deferred


def test_deferred_signal_is_not_lost():
    steps = []
    with pytest.raises(KeyboardInterrupt):
        with signals_deferred():
            signal.raise_signal(signal.SIGINT)  # to this thread: the test runner may have others
            steps.append("done")
        steps.append("never")
    assert steps == ["done"]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()

"""Signals are deferred and delivered later."""

from __future__ import annotations

import signal

import pytest

from smspec.workspace.deferred_signals import signals_deferred


def test_deferred_signal_is_not_lost():
    steps = []
    with pytest.raises(KeyboardInterrupt):
        with signals_deferred():
            signal.raise_signal(signal.SIGINT)  # to this thread: the test runner may have others
            steps.append("done")
        steps.append("never")
    assert steps == ["done"]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_signal_that_came_before_is_deferred_too(monkeypatch):
    """CPython raises its exception in the call that blocks signals, after they are blocked."""
    change = signal.pthread_sigmask

    def changed(how, numbers):
        before = change(how, numbers)
        if how == signal.SIG_BLOCK and numbers:
            raise KeyboardInterrupt
        return before

    monkeypatch.setattr(signal, "pthread_sigmask", changed)
    steps = []
    with pytest.raises(KeyboardInterrupt), signals_deferred():
        steps.append("done")
    assert steps == ["done"]
    assert change(signal.SIG_BLOCK, ()) == set()

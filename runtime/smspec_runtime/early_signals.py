"""Imported first. Holds stop signals for the supervisor: process 1 loses signals without a handler."""

import _signal  # type: ignore[import-not-found]  # `signal` itself is slow to load

STOPS = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGHUP)
masks: "list[set[int]]" = []  # The mask at the start.


def hold_early_signals() -> None:
    masks.append(set(_signal.pthread_sigmask(_signal.SIG_BLOCK, STOPS)))

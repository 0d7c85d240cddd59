"""Holds stop signals until the supervisor handles them: process 1 loses a signal without a handler.

Imported before the rest."""

import _signal  # type: ignore[import-not-found]  # `signal` itself is slow to load

STOPS = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGHUP)
masks: "list[set[int]]" = []  # The mask that this process was started with.


def hold_early_signals() -> None:
    masks.append(set(_signal.pthread_sigmask(_signal.SIG_BLOCK, STOPS)))

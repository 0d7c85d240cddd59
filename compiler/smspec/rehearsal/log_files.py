"""Logs in the model: what the script wrote about its runs."""

from __future__ import annotations

import re

_LOGS = re.compile(
    r"(?:^|/)(?:events\.out\.tfevents\.[^/]*|[^/]*\.log|(?:[^/]*[_.-])?(?:logs?|stdout|stderr)(?:\.(?:txt|out)|/.*)?)$"
)


def is_log(name: str) -> bool:
    """Return whether a file in the model directory is a log: such as `train.log`, `log.txt`, and `logs/…`."""
    return _LOGS.search(name) is not None

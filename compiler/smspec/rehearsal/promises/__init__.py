"""All promises, in the order of the report. A new one is a file with a `PROMISE`, and a line here."""

from __future__ import annotations

from smspec.rehearsal.promise import Promise
from smspec.rehearsal.promises import lost_host, spot

PROMISES: tuple[Promise, ...] = (
    spot.PROMISE,
    lost_host.PROMISE,
)

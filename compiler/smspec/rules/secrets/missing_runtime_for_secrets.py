"""The smspec runtime fetches the values of `secrets`, so it must be what starts the script."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.spec.model import JobSpec
from smspec.spec.starter import starter

RULE = Rule("SM610", "secrets without the smspec runtime")

_INSTEAD = {
    "toolkit": ("the toolkit in the image", "set `source.delivery: channel`"),
    "image": ("the image", "set `source` and `entry_point`, or fetch the secrets in the program of the image"),
}


def check(job: JobSpec) -> Iterator[Finding]:
    """Reject secrets where an existing image starts the job itself."""
    kind = starter(job)
    if job.secrets and kind in _INSTEAD:
        what, help = _INSTEAD[kind]
        yield RULE.at(
            ("secrets",), f"`secrets` requires the smspec runtime, but {what} starts the job", help=help, on="key"
        )

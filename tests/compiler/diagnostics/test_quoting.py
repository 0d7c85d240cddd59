"""Messages of other programs at the end of a sentence."""

from __future__ import annotations

import errno
import os

import pytest

from smspec.diagnostics.quoting import continued, system_reason


@pytest.mark.parametrize(
    ("message", "ending"),
    [
        ("No space left on device", "no space left on device"),
        ("A limit was hit.", "a limit was hit"),
        ("Two\n  lines.\n", "two lines"),
        ("SSL: no such certificate", "SSL: no such certificate"),
        ("S3 is not here", "S3 is not here"),
        ("", ""),
    ],
)
def test_message_can_end_a_sentence(message, ending):
    assert continued(message) == ending


def test_reason_without_errno_is_its_text():
    assert system_reason(OSError("Half of it was written.")) == "half of it was written"
    assert system_reason(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")) == "no space left on device"

"""What of an image a run without containers names as different."""

from __future__ import annotations

import pytest

from smspec.local.running.image_content import image_differences
from support.spec.job_samples import job

COMMANDS = "executed: programs and libraries come from this machine"


@pytest.mark.parametrize(
    ("keys", "differences"),
    [
        ({}, []),
        ({"run": ["make"]}, [f"`image.run` is not {COMMANDS}"]),
        ({"pre_install": ["x"], "run": ["y"]}, [f"`image.pre_install` and `image.run` are not {COMMANDS}"]),
        ({"user": "1000:50"}, ["`image.user`: the job does not run as `1000:50`"]),
        ({"user": "root"}, []),
        ({"user": "0:0"}, []),
    ],
)
def test_keys_that_only_an_image_has_are_named(keys, differences):
    assert image_differences(job(image={"base": "python:3.12-slim", **keys})) == differences

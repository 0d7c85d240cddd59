"""No pauses between attempts, of botocore and of a budget: what comes after them is tested."""

import time
import types

import pytest


@pytest.fixture(scope="package", autouse=True)
def attempts_without_pauses():
    """Repeat a request at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time", types.SimpleNamespace(sleep=lambda seconds: None, time=time.time))
        patch.setattr("smspec.submission.client.time", types.SimpleNamespace(sleep=lambda seconds: None))
        yield

"""botocore waits for seconds between its attempts: how long is its own affair, and what it does after is tested."""

import time
import types

import pytest


@pytest.fixture(scope="package", autouse=True)
def attempts_without_pauses():
    """Repeat a request at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time", types.SimpleNamespace(sleep=lambda seconds: None, time=time.time))
        yield

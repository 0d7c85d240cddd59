"""Commands that the tests of the compiler run in their own process."""

import pytest


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """On a loaded machine every answer is late, and a command would show that it waits for it."""
    monkeypatch.setattr("smspec.cli.waiting._SOON", 60.0)

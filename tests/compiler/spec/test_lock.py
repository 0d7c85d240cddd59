"""The key of a locked environment: what changes the packages changes it, and nothing else does."""

from __future__ import annotations

import pytest

from smspec.spec.lock import environment_file, environment_key

_JOB = {
    "base": "python:3.11-slim@sha256:" + "0" * 64,
    "platform": "linux/amd64",
    "packages": ("numpy==2.1.0",),
    "requirements": b"pandas==2.2.0\n",
    "variables": {"PIP_INDEX_URL": "https://packages.example.com/simple"},
}


@pytest.mark.parametrize(
    "change",
    [
        {"base": "python:3.11-slim@sha256:" + "1" * 64},
        {"platform": "linux/arm64"},
        {"packages": ("numpy==2.2.0",)},
        {"packages": ()},
        {"requirements": None},
        {"requirements": b""},
        {"requirements": b"pandas==2.2.1\n"},
        {"requirements": b"pandas==2.2.0#egg\n"},
        {"variables": {}},
        {"variables": {"UV_INDEX_URL": "https://packages.example.com/simple"}},
    ],
    ids=[
        "base",
        "platform",
        "packages",
        "no packages",
        "no file",
        "empty file",
        "file",
        "URL with a fragment",
        "no variables",
        "variable of uv",
    ],
)
def test_inputs_of_the_resolver_change_the_key(change: dict[str, object]) -> None:
    assert environment_key(**_JOB | change) != environment_key(**_JOB)


@pytest.mark.parametrize(
    "change",
    [
        {"requirements": b"# pinned for the paper\n\n  pandas==2.2.0  # not 2.3\r\n"},
        {"variables": _JOB["variables"] | {"TOKENIZERS_PARALLELISM": "false"}},
    ],
    ids=["comments", "variable of a program"],
)
def test_comments_do_not_change_the_key(change: dict[str, object]) -> None:
    assert environment_key(**_JOB | change) == environment_key(**_JOB)


def test_file_is_named_after_its_key() -> None:
    key = environment_key(**_JOB)
    assert (len(key), environment_file(key)) == (16, f"smspec.lock.d/{key}.txt")

"""The key of an image's environment follows what the image installs, and nothing else of the job."""

from __future__ import annotations

import pytest

from smspec.plan import ImagePlan
from smspec.plan.image_planning import environment_of
from smspec.source.frozen import replace

_IMAGE = ImagePlan(
    base="python:3.11-slim@sha256:" + "0" * 64,
    platform="linux/amd64",
    system_packages=(),
    python_packages=("numpy",),
    python_requirements=None,
    env={},
    run=(),
    labels={},
    secrets={},
    title="ctr",
    holds_source=True,
    needs_ssh=False,
    repository="ctr",
    tag="",
)


def test_indexes_in_variables_and_secrets_change_the_key() -> None:
    def key(line: str = "--index-url https://${OUR_HOST}/simple", secret: str = "PIP_INDEX_URL", **env: str) -> str:
        return environment_of(replace(_IMAGE, env=env, secrets={secret: "env"}), line.encode())

    keys = [key(OUR_HOST="a"), key(OUR_HOST="b"), key(OUR_HOST="a", secret="OUR_HOST"), key(secret="HF_TOKEN")]
    assert len({*keys}) == 4
    assert key(OUR_HOST="a", PIPELINE="7") == keys[0]
    assert key("# ${OUR_HOST}", OUR_HOST="a") == key("", OUR_HOST="b")
    unused = environment_of(replace(_IMAGE, secrets={"HF_TOKEN": "env"}), None)
    assert unused == environment_of(_IMAGE, None)


def test_image_without_packages_has_no_environment() -> None:
    assert environment_of(replace(_IMAGE, python_packages=()), None) is None


@pytest.mark.parametrize(
    "change",
    [
        {"base": "python:3.12-slim"},
        {"platform": "linux/arm64"},
        {"python_packages": ("numpy", "boto3")},
        {"python_packages": ()},
        {"env": {"PIP_INDEX_URL": "https://example.com/simple"}},
    ],
)
def test_changed_installation_is_another_environment(change: dict[str, object]) -> None:
    assert environment_of(replace(_IMAGE, **change), b"") != environment_of(_IMAGE, b"")


@pytest.mark.parametrize(
    "change", [{"tag": "1"}, {"title": "bert"}, {"system_packages": ("git",)}, {"env": {"OMP_NUM_THREADS": "1"}}]
)
def test_rest_of_the_image_keeps_its_environment(change: dict[str, object]) -> None:
    assert environment_of(replace(_IMAGE, **change), None) == environment_of(_IMAGE, None)

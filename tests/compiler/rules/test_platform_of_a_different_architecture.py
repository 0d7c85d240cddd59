"""`image.platform` against the architecture of the instances."""

import pytest

from smspec.rules.images import PLATFORM_OF_A_DIFFERENT_ARCHITECTURE as RULE
from smspec.service.facts import architecture, known_types
from smspec.service.shapes import pinned_model
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

IMAGE = 'image: {base: "python:3.12-slim-bookworm"'
M5 = "{instance_type: ml.m5.large, count: 1, volume: 10GB}"
GROUPS = (
    "{groups: [{name: a, instance_type: ml.p6e-gb200.36xlarge, count: 1}, {name: b, instance_type: KIND, count: 1}]}"
)


def is_reported(directory, platform, hosts=M5):
    spec = BUILT.replace(IMAGE, f"{IMAGE}, platform: {platform}").replace(M5, hosts)
    write_job(directory, spec)
    return f'"{RULE.code}"' in smspec("validate", "--format", "json", cwd=directory).out


@pytest.mark.parametrize("platform", ["linux/arm64", "linux/arm64/v8", "linux/aarch64"])
def test_arm_platform_on_x86_instances_is_an_error(tmp_path, platform):
    assert is_reported(tmp_path, platform)
    assert is_reported(tmp_path, platform, GROUPS.replace("KIND", "ml.g5.xlarge"))


@pytest.mark.parametrize("platform", ["linux/amd64", "linux/amd64/v2", "linux/x86_64", "linux/riscv64"])
def test_other_platforms_are_accepted(tmp_path, platform):
    assert not is_reported(tmp_path, platform)


@pytest.mark.parametrize("kind", ["ml.p6e-gb200.36xlarge", "ml.unknown9.large"])
def test_unknown_architecture_is_accepted(tmp_path, kind):
    assert not is_reported(tmp_path, "linux/arm64", GROUPS.replace("KIND", kind))


def test_only_one_family_has_an_unknown_architecture():
    unknown = {kind for kind in pinned_model().shapes["TrainingInstanceType"].enum if not architecture(kind)}
    assert {kind.split(".")[1] for kind in unknown} == {"p6e-gb200"}
    assert {architecture(kind) for kind in known_types()} == {"x86_64", ""}

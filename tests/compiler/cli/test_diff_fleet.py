"""`smspec diff --base` over many jobs: what a person reads after one line of a base spec changed."""

import re
from pathlib import Path

import pytest

from support.git_repository import commit, repository
from support.review.diff_outcomes import jobs, rewrite
from support.smspec_command import smspec

EXPECTED = Path(__file__).parent / "expected"
ROLE = "role: arn:aws:iam::111122223333:role/SageMakerTraining\n"
BASE = f"smspec: v1\n{ROLE}region: us-west-2\nimage: {{base: python:3.12-slim}}\nentry_point: {{command: [train]}}\n"
BASES = {
    "gpu": "hosts: {instance_type: ml.g5.xlarge, count: 2, volume: 50GB}\nstopping: {max_runtime: 12h}\n",
    "cpu": "hosts: {instance_type: ml.m5.xlarge, count: 1, volume: 50GB}\nstopping: {max_runtime: 4h}\n",
}


@pytest.fixture
def fleet(tmp_path):
    """A repository with twelve jobs over two base specs, three of which a change breaks, adds, and removes."""
    home = repository(tmp_path / "home")
    (home / "smspec.toml").write_text('[prices]\n"ml.g5.xlarge" = 1.408\n"ml.g5.2xlarge" = 1.515\n')
    for name, keys in BASES.items():
        (home / f"{name}.yaml").write_text(BASE + keys)
    for number in range(12):
        write(home, f"vision-{number:02}" if number % 3 else f"churn-{number:02}", "gpu" if number % 3 else "cpu")
    commit(home)
    rewrite(home / "gpu.yaml", "ml.g5.xlarge", "ml.g5.2xlarge")
    rewrite(home / "jobs/vision-01.yaml", "output:", "checkpoints: s3://example-checkpoints/|a|/\noutput:")
    rewrite(home / "jobs/churn-03.yaml", "output:", "outputs:")
    rewrite(home / "jobs/churn-06.yaml", "output:", "outputs:")
    (home / "jobs/churn-09.yaml").unlink()
    write(home, "vision-12", "gpu")
    return home


def write(home, name, base):
    (home / "jobs").mkdir(exist_ok=True)
    text = f"smspec: v1\nname: {name}\nextends: [../{base}.yaml]\noutput: s3://example-models/{name}/\n"
    (home / f"jobs/{name}.yaml").write_text(text)


@pytest.mark.parametrize(("format", "file"), [("text", "diff-fleet.txt"), ("markdown", "diff-fleet.md")])
def test_changed_base_is_read_at_a_glance(fleet, format, file, update):
    done = smspec("diff", "--base", "HEAD", "--format", format, cwd=fleet)
    shown = re.sub(r"-[0-9a-f]{10}\b", "-DIGEST", done.out)  # it depends on the runtime, which changes often
    if update:
        (EXPECTED / file).write_text(shown)
    assert done.status == 2
    assert shown == (EXPECTED / file).read_text()


def test_equal_changes_share_a_group_in_json(fleet):
    found = jobs(smspec("diff", "--base", "HEAD", "--format", "json", cwd=fleet))
    groups = {change["group"] for job in found for change in job["changes"] if change["path"] == "hosts.instance_type"}
    assert len(groups) == 1
    assert groups != {None}
    ceilings = {job["job"]: job["cost_ceiling"] for job in found}
    assert ceilings["vision-02"]["old"]["usd"] == 33.792
    assert ceilings["vision-12"]["old"] is None
    assert ceilings["churn-09"]["new"] is None

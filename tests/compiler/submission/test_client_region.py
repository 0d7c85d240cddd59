"""Region of AWS calls: option, AWS_REGION, AWS_DEFAULT_REGION, then profile."""

from __future__ import annotations

import pytest

from smspec.submission.client import sagemaker_client


@pytest.mark.parametrize(
    ("option", "variables", "region"),
    [
        ("eu-west-1", {"AWS_REGION": "us-east-2", "AWS_DEFAULT_REGION": "us-west-1"}, "eu-west-1"),
        (None, {"AWS_REGION": "us-east-2", "AWS_DEFAULT_REGION": "us-west-1"}, "us-east-2"),
        (None, {"AWS_REGION": "", "AWS_DEFAULT_REGION": "us-west-1"}, "us-west-1"),
        (None, {}, "ap-south-1"),
    ],
)
def test_region_precedence_follows_the_aws_cli(monkeypatch, tmp_path, option, variables, region):
    (tmp_path / "config").write_text("[default]\nregion = ap-south-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert sagemaker_client(None, option).meta.region_name == region

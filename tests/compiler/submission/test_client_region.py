"""Region of AWS calls: option, AWS_REGION, AWS_DEFAULT_REGION, then profile."""

from __future__ import annotations

import pytest

from smspec.service.partitions import is_of_aws, region_of_host
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


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("api.sagemaker.us-west-2.amazonaws.com", "us-west-2"),
        ("api-fips.sagemaker.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("vpce-0a1b-2c3d.api.sagemaker.eu-west-1.vpce.amazonaws.com", "eu-west-1"),
        ("sagemaker-emulator.us-west-2.elb.amazonaws.com", None),
        ("sagemaker.elb.us-west-2.amazonaws.com", None),
        ("ec2-1-2-3-4.us-west-2.compute.amazonaws.com", None),
        ("a1b2c3.execute-api.us-west-2.amazonaws.com", None),
        ("vpce-0a1b-2c3d.vpce-svc-0a1b2c.us-west-2.vpce.amazonaws.com", None),
    ],
)
def test_server_of_a_customer_in_a_domain_of_aws_is_not_aws(host, region):
    """An emulator behind a load balancer has roles, buckets, and accounts of its own."""
    assert region_of_host(host, "sagemaker") == region
    assert is_of_aws(host) == (region is not None)

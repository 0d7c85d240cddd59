"""Region of AWS calls: option, AWS_REGION, AWS_DEFAULT_REGION, then profile."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

import botocore.session
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import EndpointVariantError

from smspec.service.arns import is_of_another_partition, is_of_aws, partition_of, partitions, region_of_endpoint
from smspec.submission.client import AwsUnavailable, sagemaker_client
from smspec.submission.s3_service import RegionalS3
from smspec.wire.aws import AwsSession


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
    assert region_of_endpoint(f"https://{host}", "sagemaker") == region
    assert is_of_aws(host) == (region is not None)


@pytest.mark.parametrize("service", ["s3", "sagemaker", "logs"])
def test_each_endpoint_that_botocore_finds_is_one_of_aws(service):
    core, found = botocore.session.get_session(), 0
    for region in (region for each in partitions() for region in each.regions):
        for fips, dual_stack in ((False, False), (True, False), (False, True), (True, True)):
            config = Config(use_fips_endpoint=fips, use_dualstack_endpoint=dual_stack, signature_version=UNSIGNED)
            try:
                client = core.create_client(service, region, config=config)
            except EndpointVariantError:
                continue  # the partition has no such endpoint
            url = client.meta.endpoint_url
            # botocore makes names up for partitions that have no such endpoint.
            if not is_of_another_partition(urlsplit(url).hostname or "", region):
                assert region_of_endpoint(url, service) in (region, ""), url
                assert region_of_endpoint(url.replace("https", "http"), service) is None
                found += 1
    assert found > len(partitions())


@pytest.mark.parametrize(
    ("service", "url", "region"),
    [
        ("s3", "https://s3.amazonaws.com", ""),
        ("s3", "https://S3.us-west-2.amazonaws.com.:443/", "us-west-2"),
        ("s3", "https://s3-us-west-2.amazonaws.com", "us-west-2"),
        ("s3", "https://s3-fips.dualstack.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("s3", "https://bucket.vpce-0a-1b.s3.cn-north-1.vpce.amazonaws.com.cn", "cn-north-1"),
        ("s3", "https://accesspoint.vpce-0a-1b.s3.us-west-2.vpce.amazonaws.com", "us-west-2"),
        ("s3", "https://control.vpce-0a-1b.s3.us-west-2.vpce.amazonaws.com", None),
        ("s3", "https://s3-fips-us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("s3", "https://s3-external-1.amazonaws.com", "us-east-1"),
        ("s3", "https://s3-accelerate.amazonaws.com", ""),
        ("s3", "https://s3-accelerate.dualstack.amazonaws.com/", ""),
        ("s3", "https://s3-accelerate.us-west-2.amazonaws.com", None),
        ("s3", "https://s3-external-2.amazonaws.com", None),
        ("s3", "http://s3-accelerate.amazonaws.com", None),
        ("s3", "https://other.s3-external-1.amazonaws.com", None),
        ("s3", "https://other.s3.us-west-2.amazonaws.com", None),
        ("s3", "https://s3.other.s3.us-west-2.amazonaws.com", None),
        ("s3", "https://other.s3.amazonaws.com", None),
        ("s3", "https://other.s3-us-west-2.amazonaws.com", None),
        ("s3", "https://other.s3.dualstack.us-west-2.amazonaws.com", None),
        ("s3", "https://other.bucket.vpce-0a.s3.us-west-2.vpce.amazonaws.com", None),
        ("s3", "https://s3.us-west-2.amazonaws.com/other", None),
        ("s3", "https://s3.us-west-2.amazonaws.com/?prefix=other", None),
        ("s3", "https://other.s3-website-us-west-2.amazonaws.com", None),
        ("s3", "https://s3-website.us-west-2.amazonaws.com", None),
        ("s3", "https://a-1.s3-object-lambda.us-west-2.amazonaws.com", None),
        ("s3", "https://a-1.s3-accesspoint.us-west-2.amazonaws.com", None),
        ("s3", "https://s3-control.us-west-2.amazonaws.com", None),
        ("s3", "https://other.s3-accelerate.amazonaws.com", None),
        ("s3", "https://s3.cn-north-1.amazonaws.com", None),
        ("s3", "https://s3.us-west-2.amazonaws.com@example.com", None),
        ("s3", "https://s3.us-west-2.amazonaws.com.example.com", None),
        ("s3", "http://s3.us-west-2.amazonaws.com", None),
        ("s3", "//s3.us-west-2.amazonaws.com", None),
        ("s3", "https://s3.us-west-2.amazonaws.com:80", None),
        ("s3", "https://key@s3.us-west-2.amazonaws.com", None),
        ("logs", "https://logs-fips.us-east-1.amazonaws.com", "us-east-1"),
        ("logs", "https://vpce-0a-1b.logs.us-west-2.vpce.amazonaws.com", "us-west-2"),
        ("logs", "https://logs.s3.us-west-2.amazonaws.com", None),
        ("sagemaker", "http://api.sagemaker.us-west-2.amazonaws.com", None),
        ("sagemaker", "https://sagemaker-x.abc.us-west-2.rds.amazonaws.com", None),
        ("sagemaker", "https://search-sagemaker-x.us-west-2.es.amazonaws.com", None),
        ("sagemaker", "https://api.sagemaker.s3.us-west-2.amazonaws.com", None),
        ("sagemaker", "https://runtime.sagemaker.us-west-2.amazonaws.com", None),
        ("sagemaker", "https://api.sagemaker.us-west-2.amazonaws.com/other", None),
    ],
)
def test_only_exact_hosts_are_endpoints_of_a_service(service, url, region):
    """The owner of a bucket, a database, or a website chooses what its host answers."""
    assert region_of_endpoint(url, service) == region


@pytest.mark.parametrize("region", ["us-west-2", "us-gov-west-1", "us-gov-east-1"])
@pytest.mark.parametrize(
    ("host", "there"),
    [
        *((f"{form}us-gov-west-1.amazonaws.com", "aws-us-gov") for form in ("s3-", "s3-fips-", "s3.", "s3-fips.")),
        *((f"{form}us-west-2.amazonaws.com", "aws") for form in ("s3-", "s3-fips-", "s3.dualstack.")),
        *(
            (f"{form}.amazonaws.com", "aws")
            for form in ("s3", "s3-accelerate", "s3-external-1", "iam", "STS", "route53")
        ),
        *((f"{form}.us-gov.amazonaws.com", "aws-us-gov") for form in ("iam", "IAM", "route53")),
        ("iam.cn-north-1.amazonaws.com.cn", "aws-cn"),
        ("iam.global.api.aws", "aws"),
    ],
)
def test_each_host_is_in_one_partition(host, there, region):
    assert is_of_another_partition(host, region) == (there != partition_of(region).name)


@pytest.fixture
def profiles(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    keys = "aws_access_key_id = {0}\naws_secret_access_key = {0}\n"
    lines = f"[profile good]\nregion = eu-west-1\n{keys.format('good')}[profile other]\n{keys.format('other')}"
    (tmp_path / "config").write_text(f"{lines}data_path = {tmp_path}/none\nca_bundle = {tmp_path}/none\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.mark.parametrize("form", ["", ".dualstack"], ids=["IPv4", "IPv6"])
def test_accelerated_endpoint_gets_the_bucket_in_the_host(profiles, monkeypatch, form):
    """It has no addresses with the bucket in the path."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"https://s3-accelerate{form}.amazonaws.com")
    url = AwsSession("good", "us-west-2").s3_client().generate_presigned_url("head_bucket", {"Bucket": "ads"})
    assert urlsplit(url).hostname == f"ads.s3-accelerate{form}.amazonaws.com"


@pytest.mark.parametrize("name", ["nope", "other"])
@pytest.mark.parametrize("variable", ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"])
def test_profile_of_an_option_wins_over_that_of_the_environment(profiles, monkeypatch, name, variable):
    monkeypatch.setenv(variable, name)
    session = AwsSession("good").session
    assert (session.get_credentials().access_key, session.region_name) == ("good", "eu-west-1")


@pytest.mark.parametrize(
    "endpoint",
    [
        *("user:PASS@host", "https:user:PASS@host", "//user:PASS@host", "ftp://user:PASS@host", "https://user:PASS@"),
        *("https://user:PA\nPASS@host", "https://user:PASS@[host", "https://user:PASS@ho\u2100st", "https://host:PASS"),
        *("https://user:PASS@host:99999", "https://host:PASS%40", "user:P@PASS/@host", "https://user:a/PASS@host"),
        *("https://user:PASS@host", "https://user:a?PASS@host", "https://user:a#PASS@host", "PASS"),
    ],
)
def test_malformed_endpoint_is_not_repeated(profiles, monkeypatch, endpoint):
    """A password may be in any place of it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    with pytest.raises(AwsUnavailable) as failure:
        RegionalS3("good", None).has_objects("s3://bucket/a")
    assert "PASS" not in str(failure.value) and "AWS_ENDPOINT_URL_S3" in str(failure.value)


@pytest.mark.parametrize("settings", ["s3 = x", "services = zz\n[services zz]\ns3 = x"], ids=["s3", "services"])
def test_settings_without_members_are_named(monkeypatch, tmp_path, settings):
    keys = "aws_access_key_id = good\naws_secret_access_key = good\n"
    (tmp_path / "config").write_text(f"[default]\nregion = us-west-2\n{keys}{settings}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with pytest.raises(AwsUnavailable, match="its `s3` or `services` is malformed"):
        RegionalS3(None, None)

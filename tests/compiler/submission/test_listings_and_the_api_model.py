"""The requests for prices and quotas, and the responses that smspec reads, against the API models of botocore."""

from __future__ import annotations

import itertools
import json
import re

import botocore.parsers
import botocore.session
import pytest
from botocore.validate import ParamValidator

from smspec.service.policy import is_about_training
from smspec.submission.aws_listing import listed_prices, listed_quotas
from smspec.submission.client import AwsUnavailable
from smspec.submission.s3_service import RegionalS3
from smspec.wire.aws import AwsSession
from support.servers.hostile_s3 import CREDENTIALS, listing
from support.servers.hostile_server import hostile_server, response

JSON = {"Content-Type": "application/x-amz-json-1.1"}
# As in the documentation of GetProducts: prices of the hour, with metadata of the product, each as a string.
PRODUCT = {
    "product": {
        "productFamily": "ML Instance",
        "attributes": {
            "enhancedNetworkingSupported": "No",
            "instanceType": "ml.m5.large-Training",
            "memory": "8 GiB",
            "vCpu": "2",
            "regionCode": "us-west-2",
            "servicecode": "AmazonSageMaker",
            "locationType": "AWS Region",
            "location": "US West (Oregon)",
            "instanceName": "ml.m5.large",
            "platoinstancetype": "Training",
            "operation": "RunInstance",
            "usagetype": "USW2-Train:ml.m5.large",
        },
        "sku": "234AAAAAAAAAAAAA",
    },
    "serviceCode": "AmazonSageMaker",
    "terms": {
        "OnDemand": {
            "234A.JRTC": {
                "priceDimensions": {
                    "234A.JRTC.6YS6": {
                        "unit": "Hrs",
                        "endRange": "Inf",
                        "description": "$0.115 per Training ml.m5.large hour in US West (Oregon)",
                        "appliesTo": [],
                        "rateCode": "234A.JRTC.6YS6",
                        "beginRange": "0",
                        "pricePerUnit": {"USD": "0.1150000000"},
                    }
                },
                "sku": "234AAAAAAAAAAAAA",
                "effectiveDate": "2026-11-01T00:00:00Z",
                "offerTermCode": "JRTC",
                "termAttributes": {},
            }
        }
    },
    "version": "20261120000000",
    "publicationDate": "2026-11-20T00:00:00Z",
}
# As in the documentation of ListServiceQuotas.
QUOTA = {
    "ServiceCode": "sagemaker",
    "ServiceName": "Amazon SageMaker",
    "QuotaArn": "arn:aws:servicequotas:us-west-2:111122223333:sagemaker/L-611FA074",
    "QuotaCode": "L-611FA074",
    "QuotaName": "ml.m5.large for training job usage",
    "Value": 4.0,
    "Unit": "None",
    "Adjustable": True,
    "GlobalQuota": False,
    "UsageMetric": {"MetricNamespace": "AWS/Usage", "MetricDimensions": {"Class": "None"}, "MetricName": "R"},
    "QuotaAppliedAtLevel": "ACCOUNT",
}
DEFAULT = {**QUOTA, "QuotaArn": "arn:aws:servicequotas:us-west-2::sagemaker/L-611FA074", "Value": 0.0}
PAGES = {
    "GetProducts": {"FormatVersion": "aws_v1", "PriceList": [json.dumps(PRODUCT)]},
    "ListServiceQuotas": {"Quotas": [QUOTA]},
    "ListAWSDefaultServiceQuotas": {"Quotas": [DEFAULT]},
}


@pytest.fixture(scope="module")
def models():
    """Return the operations that smspec calls, by the name on the wire."""
    session = botocore.session.Session()
    found = {}
    for service, names in (("pricing", ["GetProducts"]), ("service-quotas", [*PAGES][1:])):
        model = session.get_service_model(service)
        assert model.metadata["protocol"] == "json"
        for name in names:
            found[f"{model.metadata['targetPrefix']}.{name}"] = model.operation_model(name)
    return found


@pytest.fixture
def calls(monkeypatch):
    """List the prices and the quotas of a server with documented responses; return what it was asked."""
    asked = []

    def answer(request):
        target = request.headers["x-amz-target"]
        parameters = json.loads(request.body)
        asked.append((target, parameters))
        page = dict(PAGES[target.rpartition(".")[2]])
        if "NextToken" not in parameters:
            page["NextToken"] = "more"
        return [response(json.dumps(page).encode(), headers=JSON)]

    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with hostile_server(answer) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.host}")
        prices = listed_prices(AwsSession(), "us-west-2")
        quotas = listed_quotas(AwsSession(), "us-west-2")
    return asked, prices, quotas


def faults(value, shape, at=""):
    """Yield what a model forbids and botocore's own validation leaves to the service: words, lengths, and limits."""
    limits = shape.metadata
    if shape.type_name == "structure":
        for name, inner in value.items():
            yield from faults(inner, shape.members[name], f"{at}.{name}")
    elif shape.type_name == "list":
        for inner in value:
            yield from faults(inner, shape.member, at)
    else:
        if limits.get("enum") and value not in limits["enum"]:
            yield f"{at}: {value} is not in the list"
        size = len(value) if isinstance(value, str) else value
        if isinstance(size, int) and not limits.get("min", size) <= size <= limits.get("max", size):
            yield f"{at}: {value} is out of range"
        if "pattern" in limits and not re.search(limits["pattern"], str(value)):
            yield f"{at}: {value} does not match"


def test_requests_fit_the_models(calls, models):
    asked, _, _ = calls
    assert len(asked) == 6 and {target for target, _ in asked} == {*models}
    for target, parameters in asked:
        shape = models[target].input_shape
        assert not ParamValidator().validate(parameters, shape).has_errors()
        assert [*faults(parameters, shape)] == []


def test_validator_of_these_tests_finds_faults(models):
    (shape,) = (model.input_shape for model in models.values() if model.name == "GetProducts")
    wrong = {"ServiceCode": "a", "MaxResults": 101, "Filters": [{"Type": "LIKE", "Field": "f", "Value": "v"}]}
    assert [*faults(wrong, shape)] == [".MaxResults: 101 is out of range", ".Filters.Type: LIKE is not in the list"]


def test_documented_responses_fit_the_models_and_are_read(calls, models):
    _, prices, quotas = calls
    for target, model in models.items():
        page = PAGES[target.rpartition(".")[2]]
        parser = botocore.parsers.create_parser("json")
        sent = {"body": json.dumps(page).encode(), "headers": JSON, "status_code": 200}
        parsed = parser.parse(sent, model.output_shape)
        del parsed["ResponseMetadata"]
        assert parsed == page  # every member is one of the model
        assert not ParamValidator().validate(page, model.output_shape).has_errors()
    assert (prices.currency, prices.training, prices.left_out) == ("USD", {"ml.m5.large": "0.115"}, 0)
    assert is_about_training(QUOTA["QuotaName"])
    assert (quotas.account, quotas.training) == ("111122223333", {"ml.m5.large for training job usage": 4})


@pytest.mark.parametrize("region", ["us-west-2", "eu-west-3", "ap-southeast-2", "me-central-1", "cn-north-1"])
def test_price_list_is_asked_where_it_has_an_endpoint(monkeypatch, region):
    """Not each region has one; botocore lists those that do, by partition. The signature names the region."""
    session = botocore.session.Session()
    partitions = ("aws", "aws-cn")
    known = {each for partition in partitions for each in session.get_available_regions("pricing", partition)}
    signatures = []

    def answer(request):
        signatures.append(request.headers["authorization"])
        return [response(b'{"PriceList": []}', headers=JSON)]

    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with hostile_server(answer) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.host}")
        with pytest.raises(AwsUnavailable, match=f"no prices of training instances in {region}"):
            listed_prices(AwsSession(), region)
    (signed,) = [re.search(r"/([a-z0-9-]+)/pricing/aws4_request", text) for text in signatures]
    assert signed[1] in known
    assert signed[1].startswith("cn-") == region.startswith("cn-")


@pytest.mark.parametrize("tokens", ["a", "ab", range(999_999)], ids=["one", "two", "new"])
def test_objects_without_an_end_are_an_error(monkeypatch, tokens):
    """Each page of S3 names another one, which has nothing new."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    following = itertools.cycle(tokens)

    def again(_asked):
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{next(following)}</NextContinuationToken>"
        return [response(listing({"out/model": 9}, more=more), headers={"Content-Type": "application/xml"})]

    with hostile_server(again) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.host}")
        service = RegionalS3(None, "us-west-2")
        with pytest.raises(AwsUnavailable, match="S3 lists the objects below `s3://bucket/out/` without an end"):
            service.objects("s3://bucket/out/")

"""The table of AWS calls agrees with the service models of botocore."""

from __future__ import annotations

import re

import boto3
import pytest
from botocore import xform_name

from smspec.render.iam.permission import needed_actions
from smspec.service.facts import table

ROWS = [row for row in table("aws_calls").rows() if re.fullmatch("[a-z0-9-]+", row["owner"])]
SERVICES = sorted({row["owner"] for row in ROWS} - {"module", "method", "s3fs"})
PREFIXES = {"stepfunctions": "states", "sagemaker-runtime": "sagemaker", "bedrock-runtime": "bedrock"}
PREFIXES |= dict.fromkeys(("sagemaker-featurestore-runtime", "sagemaker-metrics"), "sagemaker")
OTHER_ACTIONS = {"invoke", "send_message_batch", "delete_message_batch", "publish_batch", "converse", "converse_stream"}
"""Methods whose action has another name: the service authorization reference lists them."""
DEPENDENT = {"bedrock:ApplyGuardrail", "ssm:AddTagsToResource", "sts:SetSourceIdentity", "sts:TagSession"}
"""Actions that some arguments need besides that of the method."""


@pytest.mark.parametrize("service", SERVICES)
def test_each_method_is_one_of_its_client(service: str) -> None:
    client = boto3.client(service, region_name="us-west-2")
    operations = {xform_name(name): name for name in client.meta.service_model.operation_names}
    for row in (row for row in ROWS if row["owner"] == service):
        method = row["method"]
        assert hasattr(client, method), method
        is_own = row["actions"].startswith(f"{PREFIXES.get(service, service)}:") and row["actions"] not in DEPENDENT
        if service != "s3" and method not in OTHER_ACTIONS and is_own:
            assert row["actions"] == f"{PREFIXES.get(service, service)}:{operations[method]}"
        if method in operations:
            shape = client.meta.service_model.operation_model(operations[method]).input_shape
            members = set(shape.members) if shape is not None else set()
            named = {*re.findall(r"\{([^}]*)\}", row["resource"]), *row["when"].split()}
            assert {name.partition(".")[0] for name in named} <= members, method


def test_actions_of_s3_apply_to_their_kind_of_resource() -> None:
    on_buckets = {"s3:CreateBucket", "s3:ListBucket", "s3:ListBucketVersions"}
    on_buckets |= {"s3:GetBucketLocation", "s3:GetBucketVersioning", "s3:PutBucketAcl", "s3:PutBucketVersioning"}
    on_buckets |= {"s3:PutBucketObjectLockConfiguration", "s3:PutBucketOwnershipControls"}
    for row in table("aws_calls").rows():
        for action in row["actions"].split():
            if action.startswith("s3:") and action != "s3:ListAllMyBuckets":
                assert (action in on_buckets) is ("/" not in row["resource"]), row


def test_copy_reads_its_source() -> None:
    found = {part.actions: part.resource for part in needed_actions("s3", "copy_object") if not part.when}
    assert found == {
        ("s3:GetObject",): "{CopySource.Bucket}/{CopySource.Key}",
        ("s3:PutObject",): "{Bucket}/{Key}",
    }
    assert needed_actions("s3", "get_bucket_policy") == ()

"""Secrets that the smspec runtime fetches for a request."""

import json

from smspec.service.request_rules import request_findings
from support.service.api_samples import changed
from support.service.request_cases import request_tests
from support.service.request_changes import SECRETS, SETTINGS

ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-GhIjKl"


def fetching(secrets, settings=(), **parts):
    text = json.dumps({**dict(settings), "secrets": secrets})
    return changed(HyperParameters={"lr": "0.1", "sagemaker_smspec": text}, **parts)


def in_parts(secrets, length, **parts):
    text = json.dumps({"secrets": secrets})
    texts = {"sagemaker_smspec": text[:length], "sagemaker_smspec_1": text[length:]}
    return changed(HyperParameters=texts, **parts)


REPORTED = [
    (fetching({"DB": ARN}, EnableNetworkIsolation=True), "SM609", ("EnableNetworkIsolation",)),
    (in_parts({"DB": ARN}, 7, EnableNetworkIsolation=True), "SM609", ("EnableNetworkIsolation",)),
    (fetching({"DB": ARN}, Environment={"A": "1", "DB": "x"}), "SM611", ("Environment", "DB")),
    (fetching({"LD_PRELOAD": ARN}), "SM612", (*SECRETS, "LD_PRELOAD")),
    (fetching({"DB": "hunter2-realsecret"}), "SM613", (*SECRETS, "DB")),
    (fetching({"DB": 5}), "SM613", (*SECRETS, "DB")),
    (in_parts({"DB": "prod/db"}, 4), "SM613", (*SECRETS, "DB")),
    (fetching({"DB": ARN.replace("us-west-2", "us-wset-2")}), "SM613", (*SECRETS, "DB")),
    (fetching({"DB": ARN.replace(":aws:", ":aws-cn:")}), "SM614", (*SECRETS, "DB")),
]

ACCEPTED = [
    *(fetching({"DB": ARN.replace("us-west-2", region)}) for region in ("xx-northwest-7", "eusc-de-east-1")),
    fetching({"DB": ARN}, Environment={"A": "1"}),
    fetching({}, EnableNetworkIsolation=True),
    fetching({"DB": ARN}, settings={"epochs": 3}, EnableNetworkIsolation=False),
    changed(HyperParameters={"sagemaker_smspec": '{"epochs": 3}'}, EnableNetworkIsolation=True),
    changed(HyperParameters={"sagemaker_smspec": '{"secrets": "'}, EnableNetworkIsolation=True),
    changed(HyperParameters={"sagemaker_smspec": '["secrets"]'}, EnableNetworkIsolation=True),
    changed(HyperParameters={"smspec": json.dumps({"secrets": {"DB": "x"}})}, EnableNetworkIsolation=True),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


def test_message_does_not_contain_the_value():
    found = request_findings(fetching({"DB_PASSWORD": "correct-horse-7"}))
    assert [finding.code for finding in found if finding.path[:2] == SETTINGS] == ["SM613", "SM601"]
    assert not [finding for finding in found if "correct-horse" in finding.message + finding.help]


def test_misspelled_region_of_a_secret_is_suggested():
    (found,) = request_findings(fetching({"DB": ARN.replace("us-west-2", "us-esat-1")}))
    assert found.message == "`secrets.DB`: `us-esat-1` is not an AWS region"
    assert found.label == "did you mean `us-east-1`?"

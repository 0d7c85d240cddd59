"""`secrets` of a job: which are right, and where none can be fetched."""

import json

import pytest

from smspec.plan.request_planning import make_plan
from smspec.render.iam.role import role_policy, secret_statements
from smspec.rules import lint
from smspec.rules.hyperparameters import secret_findings
from smspec.service.request import Request
from smspec.service.request_rules import request_findings
from smspec.service.request_rules.secrets import secret_in_the_request
from support.service import api_samples
from support.spec import job_samples

ARN = "arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-AbCdEf"
PARAMETER = "arn:aws:ssm:us-west-2:111122223333:parameter/team/hub"
CODES = {f"SM{number}" for number in range(609, 617)}
URI = job_samples.IMAGE_URI


def planned(**changes):
    return make_plan(job_samples.job(**changes), job_samples.build_inputs("train.py", "reader.py"))


def reported(**changes):
    job = job_samples.job(**changes)
    request = planned(**changes).request
    about_the_request = request_findings(request.payload, in_spec_words=True)
    found = [*secret_findings(job), *map(request.at_origin, about_the_request)]
    return [(finding.code, finding.path) for finding in found if finding.code in CODES]


@pytest.mark.parametrize(
    "arn",
    [
        *(ARN, PARAMETER, f"{ARN}:user", f"{ARN}:user::", f"{ARN}::AWSPREVIOUS:", f"{ARN}:::EXAMPLE1-90ab"),
        *(f"{ARN}:user:AWSCURRENT:EXAMPLE1-90ab", f"{ARN}:a field with blanks", f"{PARAMETER}:3", f"{PARAMETER}:live"),
        "arn:aws:secretsmanager:eu-west-1:444455556666:secret:prod/a+b=c@d.e_f",  # without the six characters
        "arn:aws:ssm:us-west-2:111122223333:parameter/plain",
    ],
)
def test_arns_of_secrets_are_accepted(arn):
    assert reported(secrets={"HUB_PASSWORD": arn}) == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "hub", "/team/hub", "arn:aws:s3:::bucket", ARN.replace("111122223333", ""), ARN + ":a:b:c:d"),
        *(ARN.replace(":secret:", ":secrets:"), PARAMETER + ":3:4", PARAMETER.replace("/team", "team"), f" {ARN}"),
        *(f"{ARN}\n", "arn:aws:ssm:us-west-2:111122223333:document/x", ARN.replace("secret:hub", "parameter/hub")),
    ],
)
def test_other_texts_are_rejected_and_not_sent(text):
    job = {"secrets": {"A": text, "B": PARAMETER}}
    assert reported(**job) == [("SM613", ("secrets", "A"))]
    plan = planned(**job)
    assert plan.settings.secrets == {"B": PARAMETER}


def test_partition_must_be_that_of_the_role():
    china = ARN.replace(":aws:", ":aws-cn:").replace("us-west-2", "cn-north-1")
    assert reported(secrets={"A": china}) == [("SM614", ("secrets", "A"))]
    assert reported(secrets={"A": china}, role="arn:aws-cn:iam::111122223333:role/R") == []


@pytest.mark.parametrize(
    "name",
    [
        *("SM_KEY", "SAGEMAKER_PROGRAM", "AWS_REGION", "TRAINING_JOB_NAME", "PYTHONPATH"),
        *("PATH", "HOME", "PYTHONHOME", "PYTHONUTF8", "LD_PRELOAD", "LD_LIBRARY_PATH"),
    ],
)
def test_reserved_variables_are_rejected(name):
    assert reported(secrets={name: ARN}) == [("SM612", ("secrets", name))]


@pytest.mark.parametrize(
    "name", ["AWS_ACCESS_KEY_ID", "SMTP_PASSWORD", "MASTER_KEY", "PIP_INDEX_URL", "_x1", "PYTHON_TOKEN", "LD_KEY"]
)
def test_other_variables_are_accepted(name):
    assert reported(secrets={name: ARN}, image={"base": "python:3.12-slim", "env": {name: "default"}}) == []


def test_variable_can_only_be_set_once():
    job = {"secrets": {"A": ARN, "B": ARN}, "environment": {"A": "1", "C": "2"}}
    assert reported(**job) == [("SM611", ("environment", "A"))]
    patched = {"secrets": {"A": ARN, "B": ARN}, "api": {"Environment": {"B": "1", "C": "2"}}}
    assert reported(**patched) == [("SM611", ("api", "Environment", "B"))]
    removed = {**job, "api": {"Environment": {"A": None}}}
    assert reported(**removed) == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"source": {"dir": "src/", "delivery": "s3"}}, []),
        ({"image": URI}, []),
        ({"image": URI, "source": {"dir": "src/", "delivery": "s3"}}, [("SM610", ("secrets",))]),
        ({"image": URI, "source": None, "entry_point": None}, [("SM610", ("secrets",))]),
        ({"image": URI, "source": None, "entry_point": {"command": ["train"]}}, [("SM610", ("secrets",))]),
        ({"network": {"isolation": True}}, [("SM609", ("network", "isolation"))]),
        ({"api": {"EnableNetworkIsolation": True}}, [("SM609", ("api", "EnableNetworkIsolation"))]),
        ({"network": {"isolation": True}, "api": {"EnableNetworkIsolation": False}}, []),
        ({"network": {"subnets": ["subnet-1"], "security_groups": ["sg-1"]}}, []),
    ],
)
def test_runtime_and_network_are_required(changes, found):
    assert reported(secrets={"A": ARN}, **changes) == found
    assert reported(**changes) == []


def test_policy_allows_exactly_the_secrets():
    """A secret without its last six characters is matched with any; the key of a value only decrypts that value."""
    partial = "arn:aws:secretsmanager:eu-west-1:444455556666:secret:shared"
    arns = [f"{ARN}:user", ARN, partial, f"{PARAMETER}:3"]
    printed = role_policy(api_samples.changed(), "us-west-2", secrets=arns)
    statements = json.loads(printed.text)["PolicyDocument"]["Statement"]
    read, decrypt, parameters, decrypted = statements[-4:]
    assert (read["Action"], read["Resource"]) == (
        ["secretsmanager:GetSecretValue"],
        sorted([ARN, f"{partial}-??????"]),
    )
    assert decrypt["Resource"] == [
        "arn:aws:kms:eu-west-1:444455556666:key/*",
        "arn:aws:kms:us-west-2:111122223333:key/*",
    ]
    assert decrypt["Condition"] == {"StringLike": {"kms:EncryptionContext:SecretARN": read["Resource"]}}
    assert (parameters["Action"], parameters["Resource"]) == (["ssm:GetParameter"], PARAMETER)
    assert decrypted["Condition"] == {"StringLike": {"kms:EncryptionContext:PARAMETER_ARN": [PARAMETER]}}
    assert [note for note in printed.notes if "different account" in note] == [
        f"{partial} is in a different account: its resource policy must allow the role to read it"
    ]
    without = json.loads(role_policy(api_samples.changed(), "us-west-2").text)
    assert without["PolicyDocument"]["Statement"] == statements[:-4]


@pytest.mark.parametrize(
    ("name", "endings"),
    [
        *(("my-secret", ("", "-??????")), ("prod-apikey", ("", "-??????")), ("prod-ApiKey", ("", "-??????"))),
        *(("prod-dbPass", ("", "-??????")), ("prod-APIKEY", ("", "-??????")), ("my-key", ("-??????",))),
        *(("hub-AbCdEf", ("",)), ("hub-x7Qp2Z", ("",)), ("my-secret-AbCdEf", ("",)), ("secret", ("-??????",))),
    ],
)
def test_policy_allows_names_that_end_like_secrets(name, endings):
    """`-secret` is a word of the name, or the end of the ARN: the text does not show which."""
    arn = ARN.replace("hub-AbCdEf", name)
    read, decrypt = secret_statements([f"{arn}:user", arn])
    allowed = [f"{arn}{ending}" for ending in endings]
    assert read["Resource"] == (allowed if len(allowed) > 1 else allowed[0])
    assert decrypt["Condition"] == {"StringLike": {"kms:EncryptionContext:SecretARN": allowed}}


def test_settings_in_parts_are_no_secret():
    """Wherever a part of sagemaker_smspec ends, its ARNs are not taken for secrets."""
    many = {f"{number:090}": "csv" for number in range(23)}
    for length in range(40, 240):
        read = {**many, "x" * length: "csv"}
        plan = planned(
            secrets={"DB_PASSWORD": f"{ARN}:password", "API_TOKEN": PARAMETER},
            input_mode="Pipe",
            entry_point={"pipe_loop": "reader:Trainer", "read": read},
        )
        request = Request(payload=plan.request.payload)
        assert "sagemaker_smspec_1" in plan.request.payload["HyperParameters"]
        assert list(secret_in_the_request(request)) == []


def test_secrets_do_not_change_the_image():
    assert planned(secrets={"A": ARN}).image == planned().image


@pytest.mark.parametrize(("name", "is_reported"), [("PIP_INDEX_URL", False), ("INDEX_URL", True)])
def test_package_index_may_be_a_secret(name, is_reported):
    job = job_samples.job(secrets={name: ARN}, network={"subnets": ["subnet-1"], "security_groups": ["sg-1"]})
    found = lint(job, job_samples.listing("train.py", "requirements.txt"))
    assert ("SM537" in {finding.code for finding in found}) == is_reported


@pytest.mark.parametrize(
    ("name", "key"),
    [("PIP_EXTRA_INDEX_URL", "`image.secrets`"), ("UV_INDEX_URL", "`image.secrets`"), ("HUB_URL", "`secrets`")],
)
def test_secret_in_the_image_moves_to_where_it_is_used(name, key):
    image = {"base": "python:3.12", "env": {name: "https://u:s3cr3tTok3nValue99@packages.example.com/simple"}}
    (found,) = (f for f in lint(job_samples.job(image=image), job_samples.listing("train.py")) if f.code == "SM602")
    assert found.help.endswith(key)

"""Exports for other tools: exact files that keep every member of the request."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from smspec.plan import Plan, RequestPlan, Upload
from smspec.render.ack import UNKNOWN_TO_ACK, ack, from_ack
from smspec.render.iam.role import role_policy
from smspec.render.iam.submitter import submitter_policy
from smspec.render.step_functions import step_functions
from smspec.render.terraform import UNKNOWN_TO_TERRAFORM, argument, terraform
from smspec.render.tree import NothingToRender, without_place
from smspec.service.shapes import in_api_order, pinned_model
from support.render.terraform_files import arguments_of
from support.service import api_samples
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

EXPORTS = Path(__file__).parent / "exports"
FILES = {
    "ack": "ack.yaml",
    "step-functions": "state-machine.json",
    "terraform": "job.tf",
    "iam-policy=role": "role.json",
    "iam-policy=submitter": "submitter.json",
}
MODEL = pinned_model()
PATHS = [path for path, shape in MODEL.walk() if shape.kind not in ("structure", "list", "map")]


@pytest.mark.parametrize("target", FILES)
@pytest.mark.parametrize("job", ["rich", "small"])
def test_export_equals_the_golden_file(job, target, update):
    done = smspec("render", f"--{target}", cwd=EXPORTS / job)
    assert done.status == 0, done.err
    # The tag of a built image changes with the runtime, and with it the digest in the name.
    text = re.sub(r"\b[0-9a-f]{64}\b", "<digest>", re.sub(r"(ctr-linear-)[0-9a-f]{10}\b", r"\1<digest>", done.out))
    golden = EXPORTS / job / FILES[target]
    if update:
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


# Texts that some reader takes for something else.
# fmt: off
WORDS = st.sampled_from((
    "no", "1e-3", "0o10", "012", "12:30", "~", "null", "2026-01-01", "", " a ", "a: b", "- a", "#", "%{if}", "${x}",
    "=", "$${x}", "a\nb\n", '"', "\\", "\x07", "\x85", "\u2028", "é", "😀", "'", "<<", "{% $x %}", "*a", "&a", "!t",
    "y",
))
# fmt: on
TEXTS = WORDS | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)


@st.composite
def requests(draw):
    """Return a request with any members of the API and hostile texts where a request has room for them."""
    request = api_samples.small_request()
    for path in draw(st.lists(st.sampled_from(PATHS), max_size=12)):
        api_samples.fill(request, path)
    for name in ("HyperParameters", "Environment"):
        request[name] = draw(st.dictionaries(TEXTS, TEXTS, max_size=4))
    request["Tags"] = [{"Key": k, "Value": v} for k, v in draw(st.dictionaries(TEXTS, TEXTS, max_size=3)).items()]
    return in_api_order({name: value for name, value in request.items() if value})


@given(requests())
def test_ack_object_round_trips(request_):
    written = yaml.safe_load(ack(request_).text)
    assert set(written) == {"apiVersion", "kind", "metadata", "spec"}
    assert from_ack(written["spec"]) == (request_, [])


@given(requests())
def test_text_of_an_object_is_text_in_every_yaml_version(request_):
    """What is not in quotes is a word of letters that no version takes for a truth value, a number or a date."""
    for node in yaml.compose(ack(request_).text).value:
        for scalar in scalars(node[1]):
            assert scalar.style == '"' or re.fullmatch(r"[A-Za-z][\w./-]*|-?[0-9]+|true|false", scalar.value, re.ASCII)


def scalars(node):
    if isinstance(node, yaml.ScalarNode):
        yield node
    else:
        for part in node.value:
            for inner in part if isinstance(part, tuple) else (part,):
                yield from scalars(inner)


@given(requests())
def test_state_contains_the_request_without_expressions(request_):
    try:
        state = json.loads(step_functions([request_]).text)["States"]["Train"]
    except NothingToRender:
        assert any(
            key.endswith(".$") for holder in ("HyperParameters", "Environment") for key in request_.get(holder, {})
        )
        return
    is_jsonata = state.get("QueryLanguage") == "JSONata"
    sent = state["Arguments" if is_jsonata else "Parameters"]
    name = sent.pop("TrainingJobName" if is_jsonata else "TrainingJobName.$")
    assert sent == {member: value for member, value in request_.items() if member != "TrainingJobName"}
    if is_jsonata:
        assert re.fullmatch(r"\{% '[a-zA-Z0-9-]{1,50}-' & \$states\.input\.run\.id %\}", name)
        assert not re.search(r'"\{%[^"]*%\}"', json.dumps(sent))
    else:
        assert re.fullmatch(r"States\.Format\('[a-zA-Z0-9-]{1,50}-\{\}', \$\.run\.id\)", name)
        assert '.$":' not in json.dumps(sent)


@given(requests())
def test_terraform_resource_round_trips(request_):
    block = arguments_of(terraform("ctr", request_).text)
    tags = {tag["Key"]: tag["Value"] for tag in request_.get("Tags", [])}
    expected = in_words(MODEL.root, {key: value for key, value in request_.items() if key != "Tags"})
    assert block == expected | ({"tags": tags} if tags else {})


def in_words(shape, value):
    """Return a value as the resource holds it: arguments by name, structures as lists of blocks."""
    if shape.kind == "structure":
        held = {}
        for name, inner in value.items():
            member = MODEL.shapes[shape.members[name]]
            written = in_words(member, inner)
            held[argument(name)] = [written] if member.kind == "structure" else written
        return held
    if shape.kind == "list":
        return [in_words(MODEL.shapes[shape.item], item) for item in value]
    return value


@pytest.mark.parametrize("unknown", [UNKNOWN_TO_ACK, UNKNOWN_TO_TERRAFORM], ids=["ack", "terraform"])
def test_unsupported_members_exist_in_the_api(unknown):
    known = {tuple(step for step in path if isinstance(step, str)) for path, _ in MODEL.walk()}
    assert unknown <= known


def test_new_members_of_the_model_require_review():
    """A new member has to be looked up in the CRD and in the documentation of the provider: then change the number."""
    assert len({path for path, _ in MODEL.walk() if path[-1] not in (0, "*")}) == 146


def test_unsupported_members_are_listed_with_paths():
    request = api_samples.changed(
        InputDataConfig=[
            {"ChannelName": "a", "DataSource": {"DatasetSource": {"DatasetArn": "arn"}}},
            {"ChannelName": "b", "DataSource": {"S3DataSource": {"ModelAccessConfig": {"AcceptEula": True}}}},
        ]
    )
    assert without_place(request, UNKNOWN_TO_ACK) == [
        "InputDataConfig[0].DataSource.DatasetSource",
        "InputDataConfig[1].DataSource.S3DataSource.ModelAccessConfig",
    ]
    assert "InputDataConfig[0].DataSource.DatasetSource" in ack(request).notes[0]
    assert "InputDataConfig[0].DataSource.DatasetSource" in terraform("a", request).notes[0]
    assert (ack(api_samples.small_request()).notes, terraform("a", api_samples.small_request()).notes) == ((), ())


WITHOUT_RESOURCE = (
    "ec2:|cloudwatch:PutMetricData|ecr:GetAuthorizationToken|ssmmessages:|sts:GetServiceBearerToken"
    "|sagemaker:ListTrainingJobs|servicequotas:ListServiceQuotas|ssm:DescribeParameters"
    "|ecr:DescribePullThroughCacheRules"
)


def statements(policy):
    return {statement["Sid"]: statement for statement in policy["PolicyDocument"]["Statement"]}


def role(**parts):
    return statements(json.loads(role_policy(api_samples.changed(**parts), "us-west-2").text))


def s3_channel(uri, kind="S3Prefix"):
    return {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": kind, "S3Uri": uri}}}


def test_role_reads_only_its_channels():
    allowed = role(InputDataConfig=[s3_channel("s3://b-1/a/x"), s3_channel("s3://b-2")])
    assert allowed["ReadChannelsAndCode"]["Resource"] == ["arn:aws:s3:::b-1/a/x*", "arn:aws:s3:::b-2/*"]
    assert allowed["ListBucket"]["Condition"] == {"StringLike": {"s3:prefix": ["a/x*"]}}
    assert (allowed["ListBucket1"]["Resource"], "Condition" in allowed["ListBucket1"]) == ("arn:aws:s3:::b-2", False)
    assert not {"KeepCheckpoints", "EncryptResults", "EncryptVolumes", "JoinTheVpc"} & set(allowed)


def test_checkpoints_are_listed_by_their_prefix():
    for written, listed in (("s3://b-1/x", "x*"), ("s3://b-1/x/", "x/*")):
        allowed = role(CheckpointConfig={"S3Uri": written})
        assert allowed["KeepCheckpoints"]["Resource"] == "arn:aws:s3:::b-1/x/*"
        assert listed in [prefix for name in allowed if name.startswith("List") for prefix in prefixes(allowed[name])]


def prefixes(statement):
    return statement.get("Condition", {"StringLike": {"s3:prefix": []}})["StringLike"]["s3:prefix"]


def test_wildcards_in_a_prefix_are_escaped():
    allowed = role(InputDataConfig=[s3_channel("s3://b-1/a*b?c${d}/")])
    assert allowed["ReadChannelsAndCode"]["Resource"] == "arn:aws:s3:::b-1/a${*}b${?}c${$}{d}/*"


def test_manifest_entries_are_mentioned_in_a_note():
    rendering = role_policy(api_samples.changed(InputDataConfig=[s3_channel("s3://b-1/m", "ManifestFile")]), None)
    assert "that its manifest lists" in rendering.notes[0]
    assert "ListBucket" not in rendering.text


def test_keys_are_named_by_arn_by_id_and_by_alias():
    key = "arn:aws:kms:us-west-2:111122223333:key/k"
    allowed = role(OutputDataConfig={"S3OutputPath": "s3://b-1/", "KmsKeyId": "k"})
    assert allowed["EncryptResults"]["Resource"] == key
    allowed = role(OutputDataConfig={"S3OutputPath": "s3://b-1/", "KmsKeyId": key})
    assert allowed["EncryptResults"]["Resource"] == key
    for alias in ("alias/a", "arn:aws:kms:us-west-2:111122223333:alias/a"):
        allowed = role(OutputDataConfig={"S3OutputPath": "s3://b-1/", "KmsKeyId": alias})["EncryptResults"]
        assert allowed["Resource"] == "arn:aws:kms:us-west-2:111122223333:key/*"
        assert allowed["Condition"] == {"ForAnyValue:StringEquals": {"kms:ResourceAliases": "alias/a"}}


def test_alias_keys_are_in_the_account_of_the_alias():
    alias = "arn:aws-cn:kms:cn-north-1:444455556666:alias/shared"
    allowed = role(OutputDataConfig={"S3OutputPath": "s3://b-1/", "KmsKeyId": alias})["EncryptResults"]
    assert allowed["Resource"] == "arn:aws-cn:kms:cn-north-1:444455556666:key/*"


def test_remote_debugger_may_open_its_channels():
    assert role(RemoteDebugConfig={"EnableRemoteDebug": True})["ConnectTheDebugger"]["Resource"] == "*"
    assert "ConnectTheDebugger" not in role(RemoteDebugConfig={"EnableRemoteDebug": False})


REPOSITORY = "arn:aws:codeartifact:eu-west-1:444455556666:repository/ml/wheels"


def test_packages_of_codeartifact_may_be_read():
    allowed = role(Environment={"CA_REPOSITORY_ARN": REPOSITORY})
    assert allowed["SignInToCodeArtifact"]["Resource"] == "arn:aws:codeartifact:eu-west-1:444455556666:domain/ml"
    assert allowed["ReadPackages"]["Resource"] == REPOSITORY
    assert allowed["CarryTheToken"]["Condition"] == {
        "StringEquals": {"sts:AWSServiceName": "codeartifact.amazonaws.com"}
    }


def test_variable_of_the_image_names_the_package_index_too():
    text = role_policy(api_samples.small_request(), None, image_env={"CA_REPOSITORY_ARN": REPOSITORY}).text
    assert "codeartifact:ReadFromRepository" in text


@pytest.mark.parametrize(
    "text", ["", "wheels", "arn:aws:codeartifact:eu-west-1:444455556666:domain/ml", "arn:a:b:c:d:e"]
)
def test_other_values_allow_no_packages(text):
    assert "ReadPackages" not in role(Environment={"CA_REPOSITORY_ARN": text})


def test_buckets_without_sagemaker_in_their_names_are_mentioned():
    def notes(*uris):
        channels = [{**s3_channel(uri), "ChannelName": f"c{index}"} for index, uri in enumerate(uris)]
        request = api_samples.changed(InputDataConfig=channels, OutputDataConfig={"S3OutputPath": "s3://sagemaker-x/"})
        return role_policy(request, None).notes

    assert notes("s3://my-sagemaker-data/a/") == ()
    (note,) = notes("s3://b-2/x/", "s3://b-1/y/", "s3://b-2/z/")
    assert "read or write buckets `b-1`, `b-2`: attach this policy too" in note
    assert "`b-1`, `b-2`, `b-3` and 2 more" in notes(*(f"s3://b-{index}/" for index in range(1, 6)))[0]


@pytest.mark.parametrize(("repository", "is_named"), [("ctr", True), ("sagemaker-ctr", False), ("a/sagemaker", False)])
def test_push_outside_the_managed_policy_is_mentioned(repository, is_named, tmp_path):
    built = BUILT.replace("image: {", f"image: {{repository: {repository}, ")
    write_job(tmp_path, built)
    printed = smspec("render", "--iam-policy=submitter", cwd=tmp_path)
    assert (f"push to repository `{repository}`" in printed.err) == is_named, printed.err


@given(requests())
def test_policies_are_small_valid_json(request_):
    """Statement ids are unique, and only actions without resources are allowed on `*`."""
    upload = Upload(kind="source", uri="s3://b-1/source/", archive=False)
    plan = Plan(
        name="ctr",
        image=None,
        run=None,
        settings=None,
        request=RequestPlan(payload=request_, origins={}),
        uploads=(upload,),
    )
    for text in (role_policy(request_, None).text, submitter_policy(plan, "us-west-2").text):
        found = json.loads(text)["PolicyDocument"]["Statement"]
        assert len({statement["Sid"] for statement in found}) == len(found)
        assert all(re.fullmatch("[A-Za-z0-9]+", statement["Sid"]) for statement in found)
        everywhere = {action for statement in found if statement["Resource"] == "*" for action in statement["Action"]}
        assert all(re.match(WITHOUT_RESOURCE, action) for action in everywhere)


def test_region_of_a_spec_round_trips(tmp_path):
    (tmp_path / "job.yaml").write_text(READY + "region: us-west-2\n")
    written = smspec("render", "--ack", cwd=tmp_path).out
    (tmp_path / "object.yaml").write_text(written)
    assert yaml.safe_load(written)["metadata"]["annotations"] == {"services.k8s.aws/region": "us-west-2"}
    assert yaml.safe_load(smspec("import", "object.yaml", cwd=tmp_path).out)["region"] == "us-west-2"
    assert re.search('^  region += "us-west-2"$', smspec("render", "--terraform", cwd=tmp_path).out, re.MULTILINE)


def test_spec_without_a_region_sets_none(tmp_path):
    (tmp_path / "job.yaml").write_text(READY)
    assert set(yaml.safe_load(smspec("render", "--ack", cwd=tmp_path).out)["metadata"]) == {"name"}
    assert "region " not in smspec("render", "--terraform", cwd=tmp_path).out


def actions_on(text):
    """Return what a policy allows, by resource."""
    found = {}
    for statement in statements(json.loads(text)).values():
        resources = statement["Resource"]
        for resource in [resources] if isinstance(resources, str) else resources:
            found.setdefault(resource, set()).update(statement["Action"])
    return found


def test_policy_does_not_depend_on_the_source(tmp_path):
    """A changed source is uploaded elsewhere, but the policy must cover it already."""
    texts = []
    for program in ("print(1)\n", "print(2)\n"):
        write_job(tmp_path, BUILT.replace("source: src/", "source: {dir: src/, delivery: channel}"))
        (tmp_path / "src/train.py").write_text(program)
        texts.append([smspec("render", f"--iam-policy={who}", cwd=tmp_path).out for who in ("role", "submitter")])
    assert texts[0] == texts[1]
    source = "arn:aws:s3:::models/small/small/source/*"
    assert [actions_on(text)[source] for text in texts[0]] == [
        {"s3:GetObject"},
        {"s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"},
    ]


def test_key_of_the_source_is_in_both_policies(tmp_path):
    for key, resource in (("1234abcd-12ab-34cd-56ef-1234567890ab", "key/1234abcd"), ("alias/source", "key/*")):
        source = f"source: {{dir: src/, delivery: channel, kms_key: {key}}}"
        write_job(tmp_path, BUILT.replace("source: src/", source))
        allowed = {}
        for who in ("role", "submitter"):
            allowed |= statements(json.loads(smspec("render", f"--iam-policy={who}", cwd=tmp_path).out))
        assert allowed["ReadEncryptedSource"]["Action"] == ["kms:Decrypt"]
        assert allowed["EncryptTheSource"]["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
        assert resource in allowed["EncryptTheSource"]["Resource"]


def test_submitter_may_pull_a_private_base(tmp_path):
    base = "444455556666.dkr.ecr.us-west-2.amazonaws.com/base/python:3.12"
    write_job(tmp_path, BUILT.replace("python:3.12-slim-bookworm", base))
    pulled = "arn:aws:ecr:us-west-2:444455556666:repository/base/python"
    assert "ecr:BatchGetImage" in actions_on(smspec("render", "--iam-policy=submitter", cwd=tmp_path).out)[pulled]
    # The role only starts what was pushed.
    assert pulled not in actions_on(smspec("render", "--iam-policy=role", cwd=tmp_path).out)

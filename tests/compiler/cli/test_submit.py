"""`smspec submit` against a scripted SageMaker and moto's S3: what it makes, and what it makes only once."""

import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from support.servers.aws_server import BUCKET
from support.servers.ecr_server import docker_image, ecr_server
from support.servers.job_server import COMPLETED, look
from support.small_job import BUILT, PROGRAM, write_job
from support.smspec_command import environment, smspec
from support.submitted_job import IN_CHANNEL, LOCAL, SPEC

FAILED = look("Failed", began=60, ended=180, reason="AlgorithmError: ExecuteUserScriptError: x\nExitCode 7")


@pytest.fixture
def in_channel(aws, tmp_path):
    write_job(tmp_path, IN_CHANNEL)


def test_submitted_job_is_created_and_followed(aws, store, in_channel):
    aws.log("algo-1", 61, "trained", job="small-0")
    done = smspec("submit")
    assert done.status == 0, done.err
    request = aws.created[0]
    assert done.out == f"{request['TrainingJobName']}\n"
    assert [tag["Key"] for tag in request["Tags"]] == ["team", "smspec:digest"]
    channels = {
        channel["ChannelName"]: channel["DataSource"]["S3DataSource"]["S3Uri"] for channel in request["InputDataConfig"]
    }
    key = channels["code"].removeprefix(f"s3://{BUCKET}/") + "train.py"
    assert store.content(key).decode() == PROGRAM
    assert f"created the job {request['TrainingJobName']}\n" in done.err
    assert "Completed after 2 min 00 s, 2 min 00 s billed" in done.err


def test_sent_request_is_the_rendered_one_and_its_tags(aws, in_channel):
    smspec("submit", "--detach")
    rendered = json.loads(smspec("render", "--api-json").out)
    sent = dict(aws.created[0])
    assert sent.pop("Tags")[0] == rendered.pop("Tags")[0]
    assert sent == rendered


def test_second_submission_makes_nothing(aws, store, in_channel):
    first = smspec("submit", "--detach")
    before = {key: store.client.head_object(Bucket=BUCKET, Key=key)["LastModified"] for key in store.keys}
    aws.asked.clear()
    second = smspec("submit", "--detach")
    assert (second.status, second.out) == (0, first.out)
    assert "there is already the job" in second.err and ": exists, Completed\n" in second.err
    assert not re.search(r"^\S+ +(bucket|channel|source) ", second.err, re.MULTILINE), "a job that exists needs nothing"
    assert aws.asked["CreateTrainingJob"] == 0
    assert before == {key: store.client.head_object(Bucket=BUCKET, Key=key)["LastModified"] for key in store.keys}


def test_failed_job_is_repeated_only_with_again(aws):
    aws.first_looks = [FAILED]
    done = smspec("submit")
    assert done.status == 1
    assert "exit status of the script: 7" in done.err
    assert done.out.count("small-") == 1
    refused = smspec("submit")
    assert refused.status == 1
    assert "is Failed; `smspec status small-" in refused.err and "--again repeats it" in refused.err
    aws.first_looks = [COMPLETED]
    again = smspec("submit", "--again")
    assert (again.status, len(aws.created)) == (0, 2)
    assert again.out == f"{aws.created[0]['TrainingJobName']}-2\n"


def test_missing_data_end_the_submission(aws, store, in_channel):
    store.client.delete_object(Bucket=BUCKET, Key="data/part-0.csv")
    done = smspec("submit")
    assert (done.status, done.out) == (1, "")
    assert f"channel `train`: no objects begin with `s3://{BUCKET}/data/`" in done.err
    assert re.search(rf"^wrong +channel +train: no objects begin with `s3://{BUCKET}/data/`$", done.err, re.MULTILINE)
    assert aws.created == [] and store.keys == []
    assert smspec("submit", "--dry-run").err.count("no objects begin with") == 2


def test_dry_run_changes_nothing(aws, store, in_channel):
    done = smspec("submit", "--dry-run")
    assert (done.status, done.out, aws.created) == (0, "", [])
    assert store.keys == ["data/part-0.csv"]
    assert "1 of 1 file to upload" in done.err and "does not exist yet" in done.err and "has data" in done.err


def test_run_ids_make_separate_jobs(aws):
    names = {smspec("submit", "--detach", "--run-id", word).out for word in ("mon", "tue", "mon", "auto", "auto")}
    assert len(names) == 4
    assert {"Key": "smspec:run-id", "Value": "mon"} in aws.created[0]["Tags"]
    assert smspec("submit", "--run-id", "a b").status == 2


def test_run_id_with_a_certain_secret_is_refused(aws):
    key = f"AKIA{'ZQ3D' * 4}"
    done = smspec("submit", "--detach", "--run-id", f"nightly-{key}")
    assert (done.status, aws.created) == (2, [])
    assert "--run-id contains an AWS access key" in done.err and key not in done.err


def test_chosen_name_belongs_to_one_request(aws, tmp_path):
    write_job(tmp_path, SPEC + "job_name: nightly\n")
    assert smspec("submit", "--detach").out == "nightly\n"
    assert smspec("submit", "--detach").status == 0
    assert smspec("submit", "--run-id", "mon").status == 2
    write_job(tmp_path, SPEC + "job_name: nightly\nhyperparameters: {lr: 1}\n")
    done = smspec("submit", "--detach")
    assert done.status == 1
    assert "a different job is named `nightly`" in done.err


def test_result_as_json(aws):
    aws.first_looks = [FAILED]
    done = smspec("submit", "--format", "json")
    record = json.loads(done.out)
    assert (done.status, record["status"], record["exit_status"]) == (1, "Failed", 7)


def test_result_as_json_has_the_cause_that_is_in_the_log(aws):
    name = json.loads(smspec("render", "--api-json").out)["TrainingJobName"]
    aws.first_looks = [FAILED]
    aws.log("algo-1", 61, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", job=name)
    done = smspec("submit", "--format", "json")
    assert "(cuda-memory)" in done.err
    assert json.loads(done.out)["diagnosis"]["cause"] == "cuda-memory"


def test_denied_creation_names_the_statement_of_the_policy(aws):
    aws.faults["CreateTrainingJob"] = [(400, "AccessDeniedException")]
    done = smspec("submit")
    assert done.status == 3
    assert "AWS denies `sagemaker:CreateTrainingJob`; the statement `RunJobsOfThisName` of `smspec render" in done.err


def test_invalid_spec_sends_no_request(aws, tmp_path):
    write_job(tmp_path, SPEC.replace("ml.m5.large", "ml.m5.tiny"))
    assert smspec("submit").status == 1
    assert not aws.asked


@pytest.fixture
def ecr(aws, store, tmp_path, tmp_path_factory, monkeypatch):
    """A job with an image of its own, and the registry, which is empty."""
    with ecr_server(tmp_path_factory.mktemp("ecr")) as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL_ECR", server.variables["AWS_ENDPOINT_URL"])
        monkeypatch.setenv("AWS_ENDPOINT_URL", aws.environ["AWS_ENDPOINT_URL"])
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        write_job(tmp_path, BUILT.replace("s3://models", f"s3://{BUCKET}"))
        yield server


def test_no_build_requires_the_image(aws, ecr):
    missing = smspec("submit", "--no-build", "--detach")
    assert missing.status == 1
    assert "is not in its registry; submit without --no-build, or run `smspec build --push`" in missing.err
    assert aws.created == [] and "CreateRepository" not in ecr.asked
    planned = smspec("submit", "--dry-run")
    assert planned.status == 0 and re.search(r"^ok +image +is built and pushed$", planned.err, re.MULTILINE)
    image = json.loads(smspec("render", "--api-json").out)["AlgorithmSpecification"]["TrainingImage"]
    ecr.add("small", image.rpartition(":")[2], docker_image())
    done = smspec("submit", "--no-build", "--detach")
    assert done.status == 0, done.err
    assert "is in its registry" in done.err and len(aws.created) == 1


def test_plan_of_a_submission_looks_for_the_image(aws, ecr):
    image = json.loads(smspec("render", "--api-json").out)["AlgorithmSpecification"]["TrainingImage"]
    ecr.add("small", image.rpartition(":")[2], docker_image())
    done = smspec("submit", "--detach")
    assert done.status == 0, done.err
    assert re.search(r"^ok +image +is in its registry$", done.err, re.MULTILINE)


def test_image_that_cannot_start_is_wrong(aws, ecr):
    image = json.loads(smspec("render", "--api-json").out)["AlgorithmSpecification"]["TrainingImage"]
    ecr.add("small", image.rpartition(":")[2], docker_image("arm64"))
    done = smspec("submit", "--dry-run")
    assert done.status == 3 and re.search("^wrong +image .* cannot run in SageMaker: ", done.err, re.MULTILINE)


def test_image_that_cannot_be_looked_for_exits_3(aws, ecr):
    message = "User: ci is not authorized to perform: ecr:GetAuthorizationToken on resource: * because"
    ecr.faults["GetAuthorizationToken"] = [(400, "AccessDeniedException", message)]
    done = smspec("submit", "--no-build")
    assert done.status == 3
    assert "AWS denies `ecr:GetAuthorizationToken` on `*`; the statement `SignInToECR` of" in done.err
    assert aws.created == []


def test_region_of_the_image_must_be_that_of_the_option(ecr):
    done = smspec("build", "--push", "--region", "eu-west-1")
    assert done.status == 2
    assert "--region is eu-west-1, but `111122223333.dkr.ecr.us-west-2.amazonaws.com/small:" in done.err
    assert smspec("build", "--region", "eu-west-1").status == 2
    assert ecr.asked == []


def test_region_of_an_option_requires_an_image_in_ecr(ecr, tmp_path):
    elsewhere = BUILT.replace("image: {", "image: {repository: registry.example/ads/ctr, ")
    vpc = "{AlgorithmSpecification: {TrainingImageConfig: {TrainingRepositoryAccessMode: Vpc}}}"
    network = "network: {subnets: [subnet-0aa], security_groups: [sg-0bb]}\n"
    write_job(tmp_path, f"{elsewhere}{network}api: {vpc}\n")
    done = smspec("build", "--push", "--region", "us-west-2")
    assert done.status == 2, done.err
    assert "--region is us-west-2, but `registry.example/ads/ctr:" in done.err and "is not in Amazon ECR" in done.err


def test_dry_run_without_credentials_shows_what_is_known(aws, monkeypatch, tmp_path):
    write_job(tmp_path, LOCAL)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.csv").write_text("1,2\n")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
        monkeypatch.delenv(name)
    done = smspec("submit", "--dry-run", "--upload-data")
    assert (done.status, done.out) == (0, ""), done.err
    name = json.loads(smspec("render", "--api-json").out)["TrainingJobName"]
    assert f"job {name}: 1 × ml.m5.large\n" in done.err
    assert f"channel train s3://{BUCKET}/data/: 1 local file, 4 B, not compared with S3\n" in done.err
    assert f"source s3://{BUCKET}/small/small/source/" in done.err
    assert "no AWS credentials, so nothing in AWS was checked" in done.err
    assert "replace it with yours in the spec: " in done.err
    assert not aws.asked
    assert smspec("submit").status == 3
    assert smspec("submit", "--dry-run", "--profile", "none").status == 3


def test_tags_of_a_job_are_brought_up_to_date(aws, tmp_path):
    smspec("submit", "--detach")
    aws.created[0]["Tags"].append({"Key": "owner", "Value": "billing"})
    write_job(tmp_path, SPEC.replace("{team: ads}", "{team: search, cost-center: '42'}"))
    planned = smspec("submit", "--dry-run")
    assert "exists, Completed, with 2 tags to change: team, cost-center" in planned.err
    assert aws.asked["AddTags"] == 0
    done = smspec("submit", "--detach")
    assert done.status == 0 and "changed 2 tags of the job" in done.err
    tags = {tag["Key"]: tag["Value"] for tag in aws.created[0]["Tags"]}
    digest = tags.pop("smspec:digest")
    assert tags == {"team": "search", "owner": "billing", "cost-center": "42"} and digest
    smspec("submit", "--detach")
    assert aws.asked["AddTags"] == 1


def test_tags_of_a_different_job_stay(aws, tmp_path):
    write_job(tmp_path, SPEC + "job_name: nightly\n")
    smspec("submit", "--detach")
    write_job(tmp_path, SPEC.replace("team: ads", "team: search") + "job_name: nightly\nhyperparameters: {lr: 1}\n")
    done = smspec("submit", "--detach")
    assert done.status == 1 and "tags to change" not in done.err
    assert aws.asked["AddTags"] == 0


def test_denied_tagging_names_the_statement(aws, tmp_path):
    smspec("submit", "--detach")
    write_job(tmp_path, SPEC.replace("team: ads", "team: search"))
    aws.faults["AddTags"] = [(400, "AccessDeniedException")]
    done = smspec("submit", "--detach")
    assert done.status == 3
    assert "AWS denies `sagemaker:AddTags`; the statement `RunJobsOfThisName`" in done.err


def test_job_that_exists_needs_no_data(aws, store):
    smspec("submit", "--detach")
    store.client.delete_object(Bucket=BUCKET, Key="data/part-0.csv")
    assert smspec("submit").status == 0


def test_source_is_encrypted_with_its_key(aws, store, tmp_path):
    key = store.kms_key()
    write_job(tmp_path, IN_CHANNEL.replace("source: src/", f"source: {{dir: src/, kms_key: {key}}}"))
    assert smspec("submit", "--detach").status == 0
    keys = [key for key in store.keys if "source" in key]
    heads = [store.client.head_object(Bucket=BUCKET, Key=each) for each in keys]
    assert [head.get("SSEKMSKeyId", "").rpartition("/")[2] for head in heads] == [key] * len(heads)
    assert heads


PROFILE = """\
[profile local]
region = us-west-2
services = local
aws_access_key_id = testing
aws_secret_access_key = testing
[services local]
sagemaker =
  endpoint_url = {sagemaker}
s3 =
  endpoint_url = {s3}
"""


@pytest.mark.parametrize("words", [["--profile", "local"], []])
def test_profile_has_keys_region_and_endpoints(aws, store, tmp_path, monkeypatch, words):
    (tmp_path / "config").write_text(
        PROFILE.format(sagemaker=aws.environ["AWS_ENDPOINT_URL"], s3=store.environ["S3_ENDPOINT_URL"])
    )
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    if not words:
        monkeypatch.setenv("AWS_PROFILE", "local")
    done = smspec("submit", "--detach", *words)
    assert done.status == 0, done.err
    assert smspec("status", done.out.strip(), *words).status == 0
    assert smspec("status", done.out.strip(), *words, "--region", "eu-west-1").out.startswith(done.out.strip())


@pytest.fixture
def in_aws(aws, monkeypatch):
    """All endpoints are those of AWS, which a proxy that does not exist keeps out of reach."""
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")


@pytest.mark.parametrize("words", [(), ("--dry-run",), ("--detach",)])
def test_example_account_ends_the_submission_to_aws(in_aws, words):
    """The role of the spec is that of `smspec init`. Nothing has been asked yet: the endpoints here are unreachable."""
    done = smspec("submit", *words)
    assert (done.status, done.out) == (1, "")
    assert "`arn:aws:iam::111122223333:role/SageMakerTraining`" in done.err and "replace it with yours" in done.err


def test_image_that_the_spec_does_not_name_is_not_to_be_replaced(in_aws, tmp_path):
    write_job(tmp_path, BUILT)
    done = smspec("submit")
    assert done.status == 1
    assert done.err.endswith("in the spec: `arn:aws:iam::111122223333:role/SageMakerTraining`\n"), done.err


def test_own_account_is_submitted_to_aws(in_aws, tmp_path):
    write_job(tmp_path, SPEC.replace("111122223333", "123456789012"))
    done = smspec("submit")
    assert (done.status, "127.0.0.1:9" in done.err, "replace it" in done.err) == (3, True, False)


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_creation_names_the_job_that_may_exist(aws, number):
    entered, may_end = threading.Event(), threading.Event()
    aws.on_create = lambda: (entered.set(), may_end.wait(60))
    variables = environment(AWS_REGION="eu-west-1")
    words = [sys.executable, "-m", "smspec", "submit", "--detach"]
    process = subprocess.Popen(words, env=variables, stderr=subprocess.PIPE, text=True)
    try:
        assert entered.wait(60)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        may_end.set()
    name = json.loads(smspec("render", "--api-json").out)["TrainingJobName"]
    assert process.returncode == 128 + number
    stop = f"`smspec stop {name} --region us-west-2` stops it\n"
    assert err.endswith(f"the job {name} may exist in SageMaker, and cost; {stop}"), err

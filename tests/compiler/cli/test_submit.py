"""`smspec submit` against a scripted SageMaker and moto's S3: what it makes, and what it makes only once."""

import json

from support.servers.aws_server import BUCKET
from support.servers.job_server import COMPLETED, look
from support.small_job import BUILT, PROGRAM, write_job
from support.smspec_command import smspec
from support.submitted_job import SPEC

FAILED = look("Failed", began=60, ended=180, reason="AlgorithmError: ExecuteUserScriptError: x\nExitCode 7")


def test_submitted_job_is_created_and_followed(aws, store):
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
    assert store.objects[key].decode() == PROGRAM
    assert f"created the job {request['TrainingJobName']}\n" in done.err
    assert "Completed after 2 min 00 s, 2 min 00 s billed" in done.err


def test_sent_request_is_the_rendered_one_and_its_tags(aws):
    smspec("submit", "--detach")
    rendered = json.loads(smspec("render", "--api-json").out)
    sent = dict(aws.created[0])
    assert sent.pop("Tags")[0] == rendered.pop("Tags")[0]
    assert sent == rendered


def test_second_submission_makes_nothing(aws, store):
    first = smspec("submit", "--detach")
    before = {key: store.client.head_object(Bucket=BUCKET, Key=key)["LastModified"] for key in store.objects}
    aws.asked.clear()
    second = smspec("submit", "--detach")
    assert (second.status, second.out) == (0, first.out)
    assert "there is already the job" in second.err and "is in S3" in second.err
    assert aws.asked["CreateTrainingJob"] == 0
    assert before == {key: store.client.head_object(Bucket=BUCKET, Key=key)["LastModified"] for key in store.objects}


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


def test_missing_data_end_the_submission(aws, store):
    store.client.delete_object(Bucket=BUCKET, Key="data/part-0.csv")
    done = smspec("submit")
    assert (done.status, done.out) == (1, "")
    assert f"channel `train`: no objects begin with `s3://{BUCKET}/data/`" in done.err
    assert aws.created == [] and store.objects == {}


def test_dry_run_changes_nothing(aws, store):
    done = smspec("submit", "--dry-run")
    assert (done.status, done.out, aws.created) == (0, "", [])
    assert list(store.objects) == ["data/part-0.csv"]
    assert "1 of 1 files to upload" in done.err and "does not exist yet" in done.err and "has data" in done.err


def test_run_ids_make_separate_jobs(aws):
    names = {smspec("submit", "--detach", "--run-id", word).out for word in ("mon", "tue", "mon", "auto", "auto")}
    assert len(names) == 4
    assert {"Key": "smspec:run-id", "Value": "mon"} in aws.created[0]["Tags"]
    assert smspec("submit", "--run-id", "a b").status == 2


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


def test_denied_creation_names_the_statement_of_the_policy(aws):
    aws.faults["CreateTrainingJob"] = [(400, "AccessDeniedException")]
    done = smspec("submit")
    assert done.status == 3
    assert "AWS denies `sagemaker:CreateTrainingJob`; the statement `RunJobsOfThisName` of `smspec render" in done.err


def test_invalid_spec_sends_no_request(aws, tmp_path):
    write_job(tmp_path, SPEC.replace("ml.m5.large", "ml.m5.tiny"))
    assert smspec("submit").status == 1
    assert not aws.asked


def test_no_build_leaves_the_image_alone(aws, tmp_path):
    write_job(tmp_path, BUILT.replace("s3://models", f"s3://{BUCKET}"))
    done = smspec("submit", "--no-build", "--detach")
    assert done.status == 0, done.err
    assert "must be in its registry" in done.err


def test_source_is_encrypted_with_its_key(aws, store, tmp_path):
    key = store.kms_key()
    write_job(tmp_path, SPEC.replace("source: src/", f"source: {{dir: src/, kms_key: {key}}}"))
    assert smspec("submit", "--detach").status == 0
    keys = [key for key in store.objects if "source" in key]
    heads = [store.client.head_object(Bucket=BUCKET, Key=each) for each in keys]
    assert [head.get("SSEKMSKeyId", "").rpartition("/")[2] for head in heads] == [key] * len(heads)
    assert heads

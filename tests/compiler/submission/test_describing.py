"""Importing a job by its name: what SageMaker says of it, asked of moto, and every way in which it cannot be asked."""

import pytest

from api_samples import small_request
from aws_server import s3_server
from smspec_command import environment, smspec, smspec_process

KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
ALONE = {
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/nowhere/config",
    "AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials",
}


@pytest.fixture(scope="module")
def aws():
    """Run AWS with one training job that has a tag; return what leads a process there."""
    import boto3

    with s3_server() as server:
        endpoint = server.environ["S3_ENDPOINT_URL"]
        client = boto3.client(
            "sagemaker",
            region_name="us-west-2",
            endpoint_url=endpoint,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )
        request = {**small_request(), "TrainingJobName": "nightly", "HyperParameters": {"lr": "1e-3"}}
        client.create_training_job(**request, Tags=[{"Key": "team", "Value": "ads"}])
        yield {"AWS_ENDPOINT_URL": endpoint}


def imported(*words, **variables):
    kept = {name: value for name, value in environment().items() if not name.startswith("AWS_")}
    return smspec_process("import", *words, env={**kept, **ALONE, **variables})


def test_a_job_is_imported_by_its_name_with_its_tags(aws):
    done = imported("nightly", "--region", "us-west-2", **KEYS, **aws)
    assert done.status == 0, done.err
    for line in ("name: nightly", "region: us-west-2", "  lr: 1e-3", "tags:", "  team: ads", "job_name: nightly"):
        assert line in done.out.splitlines()
    assert "there is no file `nightly`" in done.err
    assert "left out, no part of a request: TrainingJobArn, " in done.err


def test_a_job_that_does_not_exist_is_at_fault(aws):
    done = imported("weekly", "--region", "us-west-2", **KEYS, **aws)
    assert (done.status, done.out) == (1, "")
    assert "smspec: the job `weekly` in us-west-2: could not find training job" in done.err


def test_without_credentials_the_surroundings_are_at_fault(aws):
    done = imported("nightly", "--region", "us-west-2", **aws)
    assert (done.status, done.out) == (3, "")
    assert "there are no AWS credentials to ask for the job `nightly` in us-west-2 with" in done.err


def test_without_a_region_the_surroundings_are_at_fault(aws):
    done = imported("nightly", **KEYS, **aws)
    assert (done.status, done.out) == (3, "")
    assert "no region is known to ask for SageMaker in; use `--region` or set AWS_REGION" in done.err


def test_an_unknown_profile_is_told(aws):
    done = imported("nightly", "--profile", "nobody", "--region", "us-west-2", **KEYS, **aws)
    assert (done.status, done.out) == (3, "")
    assert "no such AWS profile" in done.err
    assert "nobody" in done.err


def test_an_endpoint_that_does_not_listen_is_told():
    done = imported(
        "nightly", "--region", "us-west-2", **KEYS, AWS_ENDPOINT_URL="http://127.0.0.1:9", AWS_MAX_ATTEMPTS="1"
    )
    assert (done.status, done.out) == (3, "")
    assert "cannot ask AWS for the job `nightly` in us-west-2: could not connect" in done.err


def test_a_file_that_is_called_like_a_job_is_a_file(tmp_path):
    (tmp_path / "nightly").write_text('{"TrainingJobName": 5}')
    done = smspec("import", "nightly", cwd=tmp_path)
    assert done.status == 1
    assert "missing key `role`" in done.err


def test_aws_options_are_for_names(tmp_path):
    (tmp_path / "nightly").write_text("{}")
    done = smspec("import", "nightly", "--region", "us-west-2", cwd=tmp_path)
    assert done.status == 2
    assert "are for the name of a job" in done.err

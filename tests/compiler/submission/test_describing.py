"""Import of a job by name from moto, with every failure of the call."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.servers.aws_server import s3_server
from support.service.api_samples import small_request
from support.smspec_command import environment, smspec, smspec_process

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


def test_job_is_imported_by_name_with_its_tags(aws):
    done = imported("nightly", "--region", "us-west-2", **KEYS, **aws)
    assert done.status == 0, done.err
    for line in ("name: nightly", "region: us-west-2", "  lr: 1e-3", "tags:", "  team: ads", "job_name: nightly"):
        assert line in done.out.splitlines()
    assert "looking up" in done.err
    assert "ignored, not part of a request: TrainingJobArn, " in done.err


def test_missing_job_exits_1(aws):
    done = imported("weekly", "--region", "us-west-2", **KEYS, **aws)
    assert (done.status, done.out) == (1, "")
    assert "smspec: the job `weekly` in us-west-2: could not find training job" in done.err


def test_missing_credentials_exit_3(aws):
    done = imported("nightly", "--region", "us-west-2", **aws)
    assert (done.status, done.out) == (3, "")
    assert "no AWS credentials to ask AWS for the job `nightly` in us-west-2; set AWS_PROFILE" in done.err


def test_missing_region_exits_3(aws):
    done = imported("nightly", **KEYS, **aws)
    assert (done.status, done.out) == (3, "")
    assert "smspec: no AWS region; pass `--region` or set AWS_REGION" in done.err


def test_unknown_profile_is_reported(aws):
    done = imported("nightly", "--profile", "nobody", "--region", "us-west-2", **KEYS, **aws)
    assert (done.status, done.out) == (3, "")
    assert "cannot get AWS credentials to ask AWS for SageMaker: " in done.err
    assert "nobody" in done.err


def test_unreachable_endpoint_is_reported():
    done = imported(
        "nightly", "--region", "us-west-2", **KEYS, AWS_ENDPOINT_URL="http://127.0.0.1:9", AWS_MAX_ATTEMPTS="1"
    )
    assert (done.status, done.out) == (3, "")
    assert (
        "cannot ask AWS for the job `nightly` in us-west-2: cannot connect to `127.0.0.1:9`: connection refused"
        in done.err
    )


class Refusing(ThreadingHTTPServer):
    """SageMaker with only the given operations; it rejects the others."""

    def __init__(self, **answers):
        super().__init__(("127.0.0.1", 0), RefusingHandler)
        self.answers = answers

    def __enter__(self):
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()
        return {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_port}"}

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()


class RefusingHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        operation = self.headers["X-Amz-Target"].rpartition(".")[2]
        answer = self.server.answers.get(operation)
        refusal = {"__type": "AccessDeniedException", "message": f"You may not call {operation}."}
        content = json.dumps(answer or refusal).encode()
        self.send_response(200 if answer else 400)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def test_denied_job_exits_3():
    with Refusing() as aws:
        done = imported("nightly", "--region", "us-west-2", **KEYS, **aws)
    assert (done.status, done.out) == (3, "")
    assert "AWS denies `sagemaker:DescribeTrainingJob`; allow it in an IAM policy of your user or role" in done.err


def test_denied_tags_are_omitted():
    arn = "arn:aws:sagemaker:us-west-2:111122223333:training-job/nightly"
    answer = {**small_request(), "TrainingJobName": "nightly", "TrainingJobArn": arn}
    with Refusing(DescribeTrainingJob=answer) as aws:
        done = imported("nightly", "--region", "us-west-2", **KEYS, **aws)
    why = "Tags: AWS denies `sagemaker:ListTags`"
    assert done.status == 0
    assert f"# - {why}\n" in done.out
    assert f"not imported: {why}\n" in done.err


def test_aws_options_need_a_job_name(tmp_path):
    (tmp_path / "nightly").write_text("{}")
    done = smspec("import", "./nightly", "--profile", "team", cwd=tmp_path)
    assert done.status == 2
    assert "requires the name of a job" in done.err

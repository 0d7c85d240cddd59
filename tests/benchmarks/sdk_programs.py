"""Run a program with the SageMaker SDK itself, and write the requests that it would send, as JSON.

    peers/bin/python tests/benchmarks/sdk_programs.py PROGRAM RESULT

A program for a Python that has version 2 or 3 of the SDK. It runs the code of PROGRAM: use programs that you trust. It
opens no connection: botocore returns before it sends a request. The results for programs in `tests/imported/sdk` are
`sent.json` next to them.
"""

import ast
import importlib.metadata
import json
import os
import socket
import sys
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

import botocore.client

BUCKET = "example-bucket"
SCRIPTS = ("train.py", "src/train.py", "src/requirements.txt", "sharded/train.py")
OF_EACH_JOB = ("sagemaker_job_name", "sagemaker_region", "sagemaker_container_log_level", "sagemaker_submit_directory")


class Sent(Exception):
    """The SDK has sent a request."""


def called(requests):
    """Return what stands for calls of AWS: the request of a job is kept, and ends its statement."""

    def call(_client, operation, members):
        if operation == "CreateTrainingJob":
            requests.append(members)
            raise Sent
        if operation == "GetCallerIdentity":
            return {"Account": "111122223333", "Arn": "arn:aws:iam::111122223333:role/SageMakerTraining"}
        return MagicMock()

    return call


def unreachable(*_arguments, **_names):
    """Stand for the lookup of a host."""
    raise OSError


def prepare_version_2():
    """Replace what uploads code or asks AWS for buckets and roles."""
    from sagemaker.estimator import EstimatorBase
    from sagemaker.fw_utils import UploadedCode
    from sagemaker.session import Session

    Session.default_bucket = lambda _session: BUCKET
    Session.expand_role = lambda _session, role: role
    EstimatorBase._stage_user_code_in_s3 = lambda estimator: UploadedCode(
        s3_prefix=f"s3://{BUCKET}/code", script_name=Path(estimator.entry_point).name
    )


def prepare_version_3():
    """Replace what uploads files or asks AWS for buckets, roles, and defaults."""
    from sagemaker.core.helper.session_helper import Session
    from sagemaker.train.defaults import TrainDefaults
    from sagemaker.train.model_trainer import ModelTrainer

    Session.default_bucket = lambda _session: BUCKET
    Session.upload_data = lambda _session, path, bucket, key_prefix, **_: f"s3://{bucket}/{key_prefix}"
    TrainDefaults.get_role = staticmethod(lambda role=None, sagemaker_session=None: role)
    ModelTrainer._populate_intelligent_defaults = lambda _trainer: None
    ModelTrainer._resolve_staging_bucket = lambda _trainer: (BUCKET, "")


def normal(request):
    """Return a request without what differs for every job."""
    request = {name: value for name, value in request.items() if name != "TrainingJobName" and value not in ({}, [])}
    parameters = request.get("HyperParameters", {})
    kept = {name: value for name, value in parameters.items() if name not in OF_EACH_JOB}
    hook = request.get("DebugHookConfig", {})
    hook.get("CollectionConfigurations", []).sort(key=str)  # a set
    return {**request, "HyperParameters": kept} if kept else request


def main():
    program, result = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    version = importlib.metadata.version("sagemaker")
    os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b", AWS_DEFAULT_REGION="us-west-2")
    requests = []
    socket.getaddrinfo = unreachable  # version 2 sends telemetry
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for path in SCRIPTS:
            Path(path).parent.mkdir(exist_ok=True)
            Path(path).write_text("", encoding="utf-8")
        (prepare_version_2 if version.startswith("2.") else prepare_version_3)()
        botocore.client.BaseClient._make_api_call = called(requests)
        names = {}
        for statement in ast.parse(program.read_text(encoding="utf-8")).body:
            try:
                exec(compile(ast.Module([statement], []), str(program), "exec"), names)
            except Sent:
                continue
        os.chdir("/")
    content = {"sdk": version, "requests": [normal(request) for request in requests]}
    result.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

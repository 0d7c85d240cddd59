"""The requests that the SageMaker SDK itself sends: reads jobs as JSON lines, and prints a request for each.

A program for a Python that has version 2 of the SDK. It opens no connection: the session's client records the request.
"""

import importlib
import json
import logging
import sys
from unittest.mock import MagicMock

ANSWERS, sys.stdout = sys.stdout, sys.stderr  # the SDK prints

import sagemaker  # noqa: E402 - after the redirection
from sagemaker.estimator import EstimatorBase  # noqa: E402 - after the redirection
from sagemaker.fw_utils import UploadedCode  # noqa: E402 - after the redirection
from sagemaker.session import Session  # noqa: E402 - after the redirection

REGION = "us-west-2"
JOB = "the-job"


class Recorded(Exception):
    """The SDK has sent a request."""


def session(role):
    """Return a session whose client records the first request."""
    boto = MagicMock(region_name=REGION)
    client = MagicMock()

    def record(**request):
        raise Recorded(request)

    client.create_training_job.side_effect = record
    found = Session(boto_session=boto, sagemaker_client=client, sagemaker_runtime_client=MagicMock())
    found._default_bucket = "example-bucket"
    found.default_bucket = lambda: "example-bucket"
    found.expand_role = lambda given: given or role
    found._get_account_id_if_default_bucket = lambda bucket: None
    return found


def resolved(value, role):
    """Return the value that a job's JSON describes."""
    if isinstance(value, list):
        return [resolved(item, role) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "tuple":
        return tuple(resolved(item, role) for item in inner)
    if kind == "dict":
        return {resolved(key, role): resolved(item, role) for key, item in inner}
    if kind == "reference":
        return attribute(inner)
    if inner["kind"].rpartition(".")[2] in ("Session", "LocalSession"):
        return session(role)
    positional = [resolved(item, role) for item in inner["positional"]]
    named = {name: resolved(item, role) for name, item in inner["named"].items()}
    later = named.pop("set_hyperparameters", {})
    found = attribute(inner["kind"])(*positional, **named)
    if later:
        found.set_hyperparameters(**later)
    return found


def attribute(name):
    """Return something of a module by its full name."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            found = getattr(found, part)
        return found
    raise ImportError(name)


def staged(estimator):
    script = estimator.entry_point if estimator.source_dir else estimator.entry_point.rpartition("/")[2]
    archive = estimator.source_dir if str(estimator.source_dir).lower().startswith("s3://") else "s3://code/archive"
    return UploadedCode(s3_prefix=archive, script_name=script)


def request_of(job):
    """Return the request of a job, or raise what the SDK raises."""
    estimator = job["estimator"]["new"]
    if estimator["kind"].rpartition(".")[2] != "ModelTrainer":
        estimator["named"].setdefault("sagemaker_session", {"new": {"kind": "Session"}})
    made = resolved(job["estimator"], job["role"])
    call = {**resolved(job["call"], job["role"]), "job_name": JOB}
    call = {name: value for name, value in call.items() if name in ("inputs", "job_name")}
    try:
        made.fit(**call, wait=False)
    except Recorded as recorded:
        return recorded.args[0]
    raise RuntimeError("the SDK sends no request")


def main():
    logging.disable(logging.CRITICAL)
    sagemaker.estimator.validate_source_dir = lambda script, directory: True
    sagemaker.git_utils.git_clone_repo = lambda config, script, source_dir=None, dependencies=None: {
        "entry_point": script,
        "source_dir": source_dir,
        "dependencies": dependencies,
    }
    EstimatorBase._stage_user_code_in_s3 = staged
    for line in sys.stdin:
        try:
            answer = {"request": request_of(json.loads(line))}
            text = json.dumps(answer)
        except Exception as fault:  # whatever the SDK raises is the answer
            text = json.dumps({"refused": f"{type(fault).__name__}: {fault}"})
        print(text, file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()

"""The explanation pages: the first example has the finding, the second does not."""

import json
import re

import pytest
import yaml

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.plan import with_image_uri
from smspec.plan.request_planning import make_plan
from smspec.rules import lint
from smspec.rules.naming import naming_findings
from smspec.rules.requirements import check_format, check_lines
from smspec.rules.suppressions import not_ignored
from smspec.service.request_rules import request_findings
from smspec.source import SourceText
from smspec.spec.model import BuiltImage
from support.spec import job_samples

RUN_TIME = {"SM360", "SM361", "SM362", "SM393", "SM394", "SM832"}
OF_FILES = {"SM810"}
"""What they show is a line of a file of the source."""
CODES = [code for code in explained_codes() if re.match("SM[348]|SM537", code) and code not in RUN_TIME | OF_FILES]
# A hundred and one hyperparameters, or a key of 600 letters, would make no example.
TOO_LONG_FOR_A_PAGE = {"SM412", "SM330", "SM380", "SM382", "SM808", "SM831"}
FILES = ("train.py", "run.sh", "ctr/__init__.py", "ctr/reader.py", "ctr/training.py")
CONTENTS = {"environment.yml": b"name: train\ndependencies:\n- numpy\n", "requirements.txt": b"numpy==2.1.0\n"}
BESIDE_THE_WRONG_ONE = {"SM379": ("requirements.txt",), "SM381": ("requirements.txt",), "SM537": ("requirements.txt",)}


def examples(code):
    """Return the two fenced pieces of a page: the wrong one and the right one."""
    wrong, right = re.findall(r"```yaml\n(.*?)```", explanation(code), re.DOTALL)
    return wrong, right


def completed(code, piece):
    """Return a whole job around a piece of one; what a code complains of is not supplied."""
    keys = yaml.load(piece, yaml.BaseLoader)
    image = keys.get(
        "image", {"base": "python:3"} if {"source", "entry_point"} & keys.keys() else job_samples.IMAGE_URI
    )
    defaults = {
        "smspec": "v1",
        "name": "ctr",
        "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
        "output": "s3://example-models/ctr/",
        "hosts": {"instance_type": "ml.m5.large", "count": 1, "volume": "10GB"},
    }
    if code != "SM304":
        defaults["region"] = "us-west-2"
    if "AlgorithmName" not in piece and "ServerlessJobConfig" not in piece:
        defaults["image"] = image
    if "ServerlessJobConfig" in piece:
        del defaults["hosts"]
    if isinstance(image, dict) or ("source" in keys and code not in ("SM308", "SM309")):
        defaults["entry_point"] = "train.py"
    if isinstance(image, dict) and code not in ("SM307", "SM309"):
        defaults["source"] = "src/"
    if "pipe_loop" in piece:
        defaults["channels"] = {"train": {"s3": "s3://example-data/ctr/", "input_mode": "Pipe"}}
    missing = {key: value for key, value in defaults.items() if key not in keys}
    return f"{piece}\n" + "".join(f"{key}: {json.dumps(value)}\n" for key, value in missing.items())


def codes(code, piece, *more):
    if "any_of" in piece or "queue:" in piece:
        return {
            found.code
            for found in compile_spec(in_memory_inputs(SourceText("job.yaml", completed(code, piece)))).diagnostics
        }
    job, named = with_image_uri(job_samples.decoded(completed(code, piece)), None)
    plan = make_plan(job, job_samples.build_inputs(*FILES, *more))
    findings = lint(job, job_samples.listing(*FILES, *more))
    findings += request_findings(plan.request.payload, region=job.region, in_spec_words=True)
    findings += naming_findings(named) if named else []
    if isinstance(job.image, BuiltImage):
        content = CONTENTS.get(job.image.python_requirements)
        findings += [*check_format(content, job.image.python_requirements), *check_lines(job.image, content)]
    return {finding.code for finding in not_ignored(findings, job.ignored_checks)}


@pytest.mark.parametrize("code", [code for code in CODES if code not in TOO_LONG_FOR_A_PAGE])
def test_example_has_its_finding(code):
    assert code in codes(code, examples(code)[0], *BESIDE_THE_WRONG_ONE.get(code, ()))


@pytest.mark.parametrize("code", CODES)
def test_fixed_example_has_no_finding(code):
    assert codes(code, examples(code)[1]) == set()

"""`smspec validate --api-json`: a raw request is checked with the options and statuses of a spec."""

import json
from xml.etree import ElementTree

import pytest

from smspec.diagnostics.formats import FORMATS
from support.service.api_samples import small_request
from support.service.raw_requests import written
from support.smspec_command import smspec, smspec_process


def write(directory, request):
    (directory / "request.json").write_text(request if isinstance(request, str) else written(request))


def validate(directory, *words):
    done = smspec("validate", "--api-json", "request.json", "--format", "json", *words, cwd=directory)
    return done, [(record["code"], record["path"]) for record in json.loads(done.out)]


def test_valid_request_has_no_problems(tmp_path):
    write(tmp_path, small_request())
    assert smspec("validate", "--api-json", "request.json", cwd=tmp_path) == (
        0,
        "",
        "checked 1 request: no problems found\ncost ceiling: 1 instance hour\n",
    )
    assert validate(tmp_path)[0].out == "[]\n"


def test_finding_is_located_in_the_request(tmp_path):
    write(tmp_path, small_request() | {"HyperParameters": {"lr": 0.1}, "RetryStrategy": {"MaximumRetryAttempts": 99}})
    done = smspec("validate", "--api-json", "request.json", cwd=tmp_path)
    assert done.status == 1
    assert done.err == "checked 1 request: 2 errors\nFor details, run `smspec explain SM401`.\n"
    assert done.out.startswith("error[SM401]: `HyperParameters.lr` must be a string, got a number with a fraction\n")
    assert '"lr": 0.1' in done.out
    assert [place for _, place in validate(tmp_path)[1]] == ["HyperParameters.lr", "RetryStrategy.MaximumRetryAttempts"]


def test_warnings_fail_only_with_strict(tmp_path):
    request = small_request()
    request["ResourceConfig"]["InstanceType"] = "ml.m99.large"
    write(tmp_path, request)
    done, found = validate(tmp_path)
    assert (done.status, found) == (0, [("SM413", "ResourceConfig.InstanceType")])
    assert validate(tmp_path, "--strict")[0].status == 1


def test_broken_json_is_the_only_error(tmp_path):
    write(tmp_path, '{"TrainingJobName": "a b",}\n')
    done, found = validate(tmp_path)
    assert (done.status, found) == (1, [("SM154", "")])


def test_request_may_be_standard_input():
    done = smspec_process(
        "validate", "--api-json", "-", "--format", "json", input=b'{"TrainingJobName": 5}', stdin=None
    )
    assert done.status == 1
    assert json.loads(done.out)[0]["file"] == "<stdin>"
    assert smspec_process("validate", "--api-json", "-", input=written(small_request()).encode(), stdin=None) == (
        0,
        "",
        "checked 1 request: no problems found\ncost ceiling: 1 instance hour\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["job.yaml"], "PATH"),
        (["-O", "dev"], "--overlay"),
        (["--set", "vars.x=1"], "--set"),
    ],
)
def test_spec_options_with_a_request_exit_2(words, said, tmp_path):
    write(tmp_path, small_request())
    done = smspec("validate", "--api-json", "request.json", *words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_missing_file_exits_2(tmp_path):
    assert smspec("validate", "--api-json", "gone.json", cwd=tmp_path) == (2, "", "smspec: cannot find `gone.json`\n")
    assert smspec("validate", "--api-json", ".", cwd=tmp_path).status == 2


@pytest.mark.parametrize("name", FORMATS)
def test_only_the_result_goes_to_standard_output(name, tmp_path):
    write(tmp_path, small_request())
    done = smspec("validate", "--api-json", "request.json", "--format", name, cwd=tmp_path)
    assert done.status == 0
    if name in ("json", "sarif"):
        assert json.loads(done.out) == [] if name == "json" else json.loads(done.out)["runs"][0]["results"] == []
    elif name == "junit":
        assert [case.get("name") for case in ElementTree.fromstring(done.out).iter("testcase")] == ["no errors"]
    else:
        assert done.out == ""


OTHERS = [
    ('{"TrainingJobArn": "arn:aws:sagemaker:us-west-2:111122223333:training-job/a"}', "TrainingJobArn", "import"),
    (written(small_request() | {"TrainingJobStatus": "Completed"}), "TrainingJobStatus", "import"),
    ('{"apiVersion": "sagemaker.services.k8s.aws/v1alpha1", "kind": "TrainingJob", "spec": {}}', "kind", "import"),
    (written({"CreateTrainingJobRequest": small_request()}), "CreateTrainingJobRequest", "import"),
    (written({"Type": "Task", "Parameters": small_request()}), "Parameters", "import"),
    (written({"States": {"Train": {"Parameters": small_request()}}}), "States.Train.Parameters", "import"),
    (written([small_request()]), "", "move each request to its own file"),
    ('"request"', "", "object"),
    ('{"smspec": "v1", "name": "ctr"}', "smspec", "validate FILE"),
]


@pytest.mark.parametrize(("text", "place", "way_out"), OTHERS)
def test_input_other_than_a_request_gets_a_hint(text, place, way_out, tmp_path):
    write(tmp_path, text)
    done, found = validate(tmp_path)
    assert (done.status, found) == (1, [("SM156", place)])
    assert way_out in json.loads(done.out)[0]["help"]


def test_empty_object_is_an_incomplete_request(tmp_path):
    write(tmp_path, "{}\n")
    assert ("SM403", "TrainingJobName") in validate(tmp_path)[1]


def test_policy_can_disable_inferred_rules(tmp_path):
    request = small_request()
    request["VpcConfig"] = {"SecurityGroupIds": ["sg-0aaaaaaaaaaaaaaaa"], "Subnets": ["subnet-0aaaaaaaaaaaaaaaa"] * 2}
    write(tmp_path, request)
    done, found = validate(tmp_path)
    assert (done.status, found) == (1, [("SM470", "VpcConfig.Subnets[1]")])
    (tmp_path / "smspec.toml").write_text('[rules]\nSM470 = "warning"\n')
    assert validate(tmp_path)[0].status == 0
    (tmp_path / "smspec.toml").write_text('[rules]\nSM470 = "off"\n')
    assert validate(tmp_path)[1] == []

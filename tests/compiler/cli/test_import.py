"""`smspec import`: other documents are rejected with a position; only results go to stdout."""

import json

import pytest

from support.service.api_samples import small_request
from support.smspec_command import smspec, smspec_process

STATE = {"Type": "Task", "Resource": "arn:aws:states:::sagemaker:createTrainingJob", "Parameters": small_request()}
ACK = "apiVersion: sagemaker.services.k8s.aws/v1alpha1\nkind: TrainingJob\nspec: {trainingJobName: a}\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "`source.txt`: no training job found"),
        ("[]", "`source.txt`: no training job found"),
        ('"text"', "no training job found"),
        ("", "no training job found"),
        ('{"TrainingJobName": "a",\n "TrainingJobName": "b"}', "--> source.txt:2:2"),
        ('{"TrainingJobName": ', "--> source.txt:1:21"),
        ("a: 1\n a: 2\n", "no training job found"),
        ("ResourceConfig: 1\n a: 2\n", "--> source.txt:2:"),
        ("smspec: v1\n", "`source.txt`: already a job spec"),
        ('{"ProcessingJobName": "a", "RoleArn": "b"}', "`source.txt`: a processing job, not a training job"),
        ('{"StartAt": "a", "States": {"a": {"Type": "Pass"}}}', "the state machine creates no training job"),
        (
            json.dumps({"States": {"a": STATE, "b": STATE}}),
            "2 training jobs; choose one with --job, by number or name: 1 `States.a`; 2 `States.b`",
        ),
        (json.dumps({**STATE, "Parameters": {}}), "has no `Parameters` or `Arguments`"),
        (json.dumps({"stateMachineArn": "a", "definition": "{"}), "the state machine definition is not JSON"),
        (ACK.replace("TrainingJob", "ProcessingJob", 1), "an object of kind `ProcessingJob`; expected TrainingJob"),
        (f"{ACK}---\n{ACK}", "2 documents have `kind: TrainingJob`; expected one"),
        ("a: 1\n---\nb: 2\n", "0 documents have `kind: TrainingJob`; expected one"),
        (
            '{"kind": "List", "items": [{"apiVersion": "sagemaker.services.k8s.aws/v1alpha1"}]}',
            "the list creates no training job",
        ),
    ],
)
def test_import_of_other_documents_exits_1(content, said, tmp_path):
    (tmp_path / "source.txt").write_text(content)
    done = smspec("import", "source.txt", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert said in done.err


@pytest.mark.parametrize("name", ["no-such-file.json", "no/such", "under_score"])
def test_missing_file_exits_2(name, tmp_path):
    done = smspec("import", name, cwd=tmp_path)
    assert (done.status, done.out, done.err) == (2, "", f"smspec: cannot find `{name}`\n")


def test_dash_is_standard_input(tmp_path):
    (tmp_path / "-").write_text("a file of this name is ./-")
    done = smspec_process("import", "-", cwd=tmp_path, stdin=None, input=json.dumps(small_request()).encode())
    (tmp_path / "request.json").write_text(json.dumps(small_request()))
    assert (done.status, done.err) == (0, "")
    assert done.out == smspec("import", "request.json", cwd=tmp_path).out
    broken = smspec_process("import", "-", cwd=tmp_path, stdin=None, input=b'{"TrainingJobName": ')
    assert (broken.status, broken.out) == (1, "")
    assert "--> <stdin>:1:21" in broken.err


def test_directory_exits_2(tmp_path):
    (tmp_path / "jobs").mkdir()
    done = smspec("import", "jobs/", cwd=tmp_path)
    assert (done.status, done.err) == (2, "smspec: `jobs/` is a directory, not a request\n")


def test_undecodable_bytes_are_located(tmp_path):
    (tmp_path / "source.txt").write_bytes(b'{"TrainingJobName": "\xff"}')
    done = smspec("import", "source.txt", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert "--> source.txt:1:22" in done.err


def test_object_in_a_list_is_found(tmp_path):
    job = {"apiVersion": "sagemaker.services.k8s.aws/v1alpha1", "kind": "TrainingJob", "spec": {"trainingJobName": "a"}}
    (tmp_path / "source.txt").write_text(json.dumps({"kind": "List", "items": [{"kind": "Pod"}, job]}))
    done = smspec("import", "source.txt", cwd=tmp_path)
    assert "job_name: a\n" in done.out
    assert "ignored, not part of a request: other objects of the list\n" in done.err


@pytest.mark.parametrize(
    ("content", "others"),
    [
        (f"kind: Secret\n---\n{ACK}", True),
        (f"{ACK}---\nkind: Pod\n...\n", True),
        (f"# a comment\n---\n{ACK}...\n---\n# the end\n", False),
    ],
)
def test_import_lists_other_documents_of_a_file(content, others, tmp_path):
    (tmp_path / "source.yaml").write_text(content)
    done = smspec("import", "source.yaml", cwd=tmp_path)
    said = "not part of a request: other documents of the file\n"
    assert "job_name: a\n" in done.out
    assert (said in done.err, said in done.out) == (others, others)


def test_state_machine_of_a_description_is_found(tmp_path):
    described = {"stateMachineArn": "a", "definition": json.dumps({"StartAt": "Train", "States": {"Train": STATE}})}
    (tmp_path / "source.txt").write_text(json.dumps(described))
    assert "job_name: sample\n" in smspec("import", "source.txt", cwd=tmp_path).out


def test_earlier_documents_count_as_lines(tmp_path):
    (tmp_path / "source.txt").write_text(f"---\na: 1\n---\n{ACK}: broken\n")
    assert "--> source.txt:7:1" in smspec("import", "source.txt", cwd=tmp_path).err


def test_file_needs_no_boto3(tmp_path):
    (tmp_path / "request.json").write_text(json.dumps(small_request()))
    (tmp_path / "boto3.py").write_text("raise SystemExit('boto3 was loaded')")
    done = smspec_process("import", "request.json", cwd=tmp_path)
    assert (done.status, done.err) == (0, "")


PROGRAM = """
import boto3, os
boto3.client("sagemaker", region_name={region}).create_training_job(
    RoleArn=os.environ["ROLE"],
    AlgorithmSpecification={{
        "TrainingImage": f"{{account()}}.dkr.ecr.us-west-2.amazonaws.com/churn:1", "TrainingInputMode": "File"
    }},
    OutputDataConfig={{"S3OutputPath": "s3://example-models/churn/"}},
    ResourceConfig={{"InstanceType": "ml.m5.xlarge", "InstanceCount": count(), "VolumeSizeInGB": 30}},
    StoppingCondition={{"MaxRuntimeInSeconds": 3600}},
)
"""


@pytest.mark.parametrize(
    ("region", "words", "expected"),
    [
        ("None", ["--region", "us-west-2"], "\nregion: us-west-2\n"),
        ("'us-west-2'", ["--region", "us-west-2"], "\nregion: us-west-2\n"),
        ("where()", ["--region", "us-west-2"], "    default: us-west-2\n"),
        ("where()", ["--set", "vars.region=us-west-2"], "    default: us-west-2\n"),
        (
            "None",
            ["--set", "vars.role=arn:aws:iam::111122223333:role/X"],
            "default: arn:aws:iam::111122223333:role/X\n",
        ),
        ("None", ["--set", "vars.account=012345678901"], '    default: "012345678901"\n'),
        ("None", ["--set", "vars.instance_count=2"], "    default: 2\n"),
        ("None", ["--set", "vars.instance_count=1", "--set", "vars.instance_count=2"], "    default: 2\n"),
    ],
)
def test_value_of_an_argument_is_in_the_spec(region, words, expected, tmp_path):
    (tmp_path / "a.py").write_text(PROGRAM.format(region=region), encoding="utf-8")
    done = smspec("import", "a.py", *words, cwd=tmp_path)
    assert done.status == 0, done.err
    assert expected in done.out
    assert all(f"`{word.partition('=')[0].removeprefix('vars.')}`" not in done.err for word in words[1::2])


@pytest.mark.parametrize("more", [[], ["-o", "out"]], ids=["printed", "written"])
def test_two_regions_of_the_arguments_exit_2(more, tmp_path):
    (tmp_path / "a.py").write_text(PROGRAM.format(region="where()"), encoding="utf-8")
    words = ["--set", "vars.region=us-west-2", "--region"]
    done = smspec("import", "a.py", *words, "eu-west-1", *more, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "--region eu-west-1: --set vars.region=us-west-2 sets a different region" in done.err
    assert not (tmp_path / "out").exists()
    assert smspec("import", "a.py", *words, "us-west-2", *more, cwd=tmp_path).status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "vars.rolle=x"], "declares no variable `rolle`: did you mean `role`?"),
        (["--set", "role=x"], "expected `vars.NAME=VALUE`"),
        (["--set", "vars.role=[x]"], "VALUE is one YAML scalar"),
        (["--region", "eu-west-1"], "--region eu-west-1: the region of the source is `us-west-2`"),
        (["--profile", "p"], "--profile requires the name of a job"),
    ],
)
def test_value_that_does_not_fit_exits_2(words, said, tmp_path):
    (tmp_path / "a.py").write_text(PROGRAM.format(region="'us-west-2'"), encoding="utf-8")
    done = smspec("import", "a.py", *words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "") and said in done.err
    assert smspec("import", "a.py", "-o", "out", *words, cwd=tmp_path).status == 2
    assert not (tmp_path / "out").exists()

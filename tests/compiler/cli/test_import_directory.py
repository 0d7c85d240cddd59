"""`smspec import -o DIR`: specs and code in a new directory, which validates."""

import json
import os

import pytest
import yaml

from support.service.api_samples import small_request
from support.smspec_command import smspec

ESTIMATOR = """
from sagemaker.pytorch import PyTorch
estimator = PyTorch({arguments}, role="arn:aws:iam::111122223333:role/Train", framework_version="2.3.0",
    py_version="py311", instance_type="ml.g5.xlarge", instance_count=1, output_path="s3://example-bucket/out/",
    disable_profiler=True, debugger_hook_config=False)
estimator.fit({{"train": "s3://example-bucket/train/"}})
"""
ALONE = 'entry_point="train.py"'
SETTINGS = ("--set", "vars.region=us-west-2")


def program(directory, arguments=ALONE, more=""):
    directory.mkdir(exist_ok=True)
    (directory / "start.py").write_text(ESTIMATOR.format(arguments=arguments) + more)
    return str(directory / "start.py")


def notebook(path, *cells):
    code = [{"cell_type": "code", "source": cell} for cell in cells]
    path.write_text(json.dumps({"nbformat": 4, "cells": code}))
    return str(path)


def written(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


def test_script_of_a_program_is_copied_alone(tmp_path):
    source = program(tmp_path / "old")
    (tmp_path / "old" / "train.py").write_text("print(1)\n")
    (tmp_path / "old" / "data.csv").write_text("1\n")
    done = smspec("import", source, "-o", "new", cwd=tmp_path)
    assert (done.status, done.out) == (0, "new/job.yaml\nnew/src\n"), done.err
    assert written(tmp_path / "new") == ["job.yaml", "src/train.py"]
    assert smspec("validate", *SETTINGS, cwd=tmp_path / "new").status == 0


def test_source_directory_and_dependencies_are_copied(tmp_path):
    source = program(tmp_path / "old", 'entry_point="train.py", source_dir="code/churn", dependencies=["lib", "a.txt"]')
    for name in ("code/churn/train.py", "code/churn/requirements.txt", "lib/__init__.py", "a.txt"):
        (tmp_path / "old" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "old" / name).write_text("")
    done = smspec("import", source, "-o", "new", cwd=tmp_path)
    assert done.status == 0, done.err
    assert "dependencies" not in done.err
    assert written(tmp_path / "new") == [
        *("churn/a.txt", "churn/lib/__init__.py", "churn/requirements.txt", "churn/train.py", "job.yaml"),
    ]
    assert smspec("validate", *SETTINGS, cwd=tmp_path / "new").status == 0


def test_cells_write_the_source_and_each_job_has_a_spec(tmp_path):
    second = ESTIMATOR.format(arguments='entry_point="train.py", source_dir="src", base_job_name="other"')
    source = notebook(
        tmp_path / "a.ipynb",
        "%%writefile src/train.py\nprint(1)\n",
        ESTIMATOR.format(arguments='entry_point="train.py", source_dir="src", base_job_name="churn"'),
        second,
        second,
    )
    done = smspec("import", source, "-o", "new", cwd=tmp_path)
    assert done.status == 0, done.err
    assert written(tmp_path / "new") == ["churn.yaml", "other-2.yaml", "other.yaml", "src/train.py"]
    assert "\nname: other-2\n" in (tmp_path / "new" / "other-2.yaml").read_text()
    assert (tmp_path / "new" / "src" / "train.py").read_text() == "print(1)\n"
    assert smspec("validate", "churn.yaml", "other-2.yaml", *SETTINGS, cwd=tmp_path / "new").status == 0
    chosen = smspec("import", source, "--job", "1", "-o", "one", cwd=tmp_path)
    assert (chosen.status, chosen.out) == (0, "one/job.yaml\none/src\n")


def test_request_becomes_a_directory(tmp_path):
    (tmp_path / "request.json").write_text(json.dumps(small_request()))
    done = smspec("import", "request.json", "-o", "new", cwd=tmp_path)
    assert (done.status, done.out) == (0, "new/job.yaml\n")
    assert (tmp_path / "new" / "job.yaml").read_text() == smspec("import", "request.json", cwd=tmp_path).out


def job(name):
    return {**small_request(), "TrainingJobName": name}


def state(name):
    return {"Type": "Task", "Resource": "arn:aws:states:::sagemaker:createTrainingJob.sync", "Parameters": job(name)}


def of_the_controller(name):
    spec = {
        "trainingJobName": name,
        "roleARN": "arn:aws:iam::111122223333:role/Train",
        "algorithmSpecification": {
            "trainingImage": "111122223333.dkr.ecr.us-west-2.amazonaws.com/a:1",
            "trainingInputMode": "File",
        },
        "outputDataConfig": {"s3OutputPath": "s3://example-bucket/out/"},
        "resourceConfig": {"instanceCount": 1, "instanceType": "ml.m5.large", "volumeSizeInGB": 30},
        "stoppingCondition": {"maxRuntimeInSeconds": 3600},
    }
    metadata = {"name": name}
    kind = {"apiVersion": "sagemaker.services.k8s.aws/v1alpha1", "kind": "TrainingJob"}
    return {**kind, "metadata": metadata, "spec": spec}


STEPS = [{"Name": name, "Type": "Training", "Arguments": job(name)} for name in ("one", "two")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"States": {"one": state("one"), "two": state("two")}}),
        json.dumps({"Version": "2020-12-01", "Steps": STEPS}),
        "\n---\n".join(["kind: Service", *(yaml.safe_dump(of_the_controller(name)) for name in ("one", "two"))]),
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [of_the_controller("one"), of_the_controller("two")]}),
    ],
    ids=["state machine", "pipeline", "documents", "list"],
)
def test_each_job_of_a_definition_has_a_spec(tmp_path, text):
    (tmp_path / "source.txt").write_text(text)
    assert smspec("import", "source.txt", cwd=tmp_path).status == 1
    done = smspec("import", "source.txt", "-o", "new", cwd=tmp_path)
    assert (done.status, done.out) == (0, "new/one.yaml\nnew/two.yaml\n"), done.err
    assert smspec("validate", "one.yaml", "two.yaml", cwd=tmp_path / "new").status == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (ALONE, "`train.py`: it does not exist"),
        ('entry_point="train.py", source_dir="../elsewhere"', "`../elsewhere`: it is outside of the directory"),
        ('entry_point="train.py", source_dir="/etc"', "`/etc`: it is outside of the directory"),
        ('entry_point="link.py"', "`link.py`: it is outside of the directory"),
        ('entry_point="train.py", source_dir=found()', "known only when the program runs"),
    ],
)
def test_code_that_is_not_there_is_reported(tmp_path, arguments, expected):
    source = program(tmp_path / "old", arguments)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "train.py").write_text("")
    os.symlink(tmp_path / "elsewhere" / "train.py", tmp_path / "old" / "link.py")
    done = smspec("import", source, "-o", "new", cwd=tmp_path)
    assert done.status == 1
    assert expected in done.err
    assert written(tmp_path / "new") == ["job.yaml"]


def test_existing_files_are_kept(tmp_path):
    source = program(tmp_path / "old")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine").write_text("")
    (tmp_path / "file").write_text("")
    assert "`new` is not empty" in smspec("import", source, "-o", "new", cwd=tmp_path).err
    done = smspec("import", source, "-o", "file", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert written(tmp_path) == ["file", "new/mine", "old/start.py"]


def test_nothing_is_left_of_an_import_that_fails(tmp_path, monkeypatch):
    """The script is replaced by a shorter one between its listing and its copy."""
    source = program(tmp_path / "old")
    (tmp_path / "old" / "train.py").write_text("print(1)\n")
    monkeypatch.setattr("smspec.cli.import_.pieces_of", lambda _file: iter([b""]))
    done = smspec("import", source, "-o", "far/new", cwd=tmp_path)
    assert done.status == 1
    assert sorted(os.listdir(tmp_path)) == ["old"]


def test_program_without_a_job_writes_nothing(tmp_path):
    (tmp_path / "a.py").write_text("print(1)\n")
    done = smspec("import", "a.py", "-o", "new", cwd=tmp_path)
    assert done.status == 1
    assert "no estimator" in done.err
    assert not (tmp_path / "new").exists()


SHORT = 'role="arn:aws:iam::111122223333:role/Train", framework_version="2.3.0", py_version="py311",'
JOBS_OF = {
    "a loop over a list": (
        """
for name, epochs in [("one", 1), ("two", 2)]:
    estimator = PyTorch("train.py", hyperparameters={"epochs": epochs}, base_job_name=name, **common)
    estimator.fit({"train": "s3://example-bucket/train/"})
""",
        {"one": "epochs: 1", "two": "epochs: 2"},
    ),
    "a tuner": (
        """
from sagemaker.tuner import HyperparameterTuner
estimator = PyTorch("train.py", hyperparameters={"epochs": 3}, base_job_name="one", **common)
HyperparameterTuner(estimator, "loss", {}, max_jobs=2).fit({"train": "s3://example-bucket/train/"})
""",
        {"job": "epochs: 3"},
    ),
    "a step of a pipeline": (
        """
from sagemaker.workflow.steps import TrainingStep
from sagemaker.inputs import TrainingInput
estimator = PyTorch("train.py", hyperparameters={"epochs": 4}, base_job_name="one", **common)
step = TrainingStep(name="Train", estimator=estimator, inputs={"train": TrainingInput("s3://example-bucket/train/")})
""",
        {"job": "epochs: 4"},
    ),
    "a function": (
        """
def made(epochs, name="one"):
    return PyTorch("train.py", hyperparameters={"epochs": epochs}, base_job_name=name, **common)
made(5).fit({"train": "s3://example-bucket/train/"})
""",
        {"job": "epochs: 5"},
    ),
}


@pytest.mark.parametrize("kind", JOBS_OF)
def test_jobs_of_loops_tuners_steps_and_functions(tmp_path, kind):
    text, expected = JOBS_OF[kind]
    common = (
        f'common = dict({SHORT} instance_type="ml.g5.xlarge", instance_count=1, output_path="s3://example-bucket/o/")'
    )
    (tmp_path / "start.py").write_text(f"from sagemaker.pytorch import PyTorch\n{common}\n{text}")
    (tmp_path / "train.py").write_text("print(1)\n")
    done = smspec("import", "start.py", "-o", "new", cwd=tmp_path)
    assert done.status == 0, done.err
    specs = {path.stem: path.read_text() for path in (tmp_path / "new").glob("*.yaml")}
    assert specs.keys() == expected.keys()
    for name, line in expected.items():
        assert line in specs[name] and "s3://example-bucket/train/" in specs[name]


def test_key_in_a_hyperparameter_is_a_finding(tmp_path):
    key = "AKIA" + "QWERTYUIOPASDFGH"
    source = program(tmp_path, f'entry_point="train.py", hyperparameters={{"key": "{key}"}}')
    (tmp_path / "train.py").write_text("print(1)\n")
    done = smspec("import", source, "-o", "new", cwd=tmp_path)
    checked = smspec("validate", *SETTINGS, cwd=tmp_path / "new")
    for said in (done.err, checked.out + checked.err):
        assert "SM616" in said and "`hyperparameters.key` contains an AWS access key" in said and key not in said

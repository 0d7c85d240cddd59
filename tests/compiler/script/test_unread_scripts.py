"""A note reports each script that was not read; harmless settings hide no finding."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from support.script.read_programs import codes
from support.smspec_command import smspec

REJECTED = Path(__file__).parents[2] / "rejected"

SDK = REJECTED.with_name("imported") / "a-request-of-the-sdk" / "source.json"
READY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:1"
FAULTY = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\np.parse_args()\n"

# Each with the whole of a fault that a script of the author's has with its job. What it has with its image depends on
# variables, and on what is known of the image; what `smspec check` finds is not found by `validate`.
OF_IMAGES = re.compile(r"SM51[7-9]|SM52[0-3]|SM54[3-9]|SM55[0-2]|SM558|SM561")
CASES = sorted(
    path.parent
    for path in REJECTED.glob("*/expected.txt")
    if re.search(rf"^(?:error|warning)\[(?!{OF_IMAGES.pattern})SM5", path.read_text(), re.MULTILINE)
    and (path.parent / "src").is_dir()
    and not (path.parent / "make.py").exists()
)

HARMLESS = {
    "the metrics of the SDK": {
        "AlgorithmSpecification": {
            "EnableSageMakerMetricsTimeSeries": True,
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
            "TrainingInputMode": "File",
            "TrainingImageConfig": {"TrainingRepositoryAccessMode": "Platform"},
        }
    },
    "no arguments": {"AlgorithmSpecification": {"ContainerArguments": None}},
    "another part of the request": {"ProfilerConfig": {"DisableProfiler": True}, "InfraCheckConfig": None},
}
VARIABLES = {
    "PYTHONPATH": "/opt/ml/code/lib",
    "PYTHONUNBUFFERED": "1",
    "SAGEMAKER_BASE_DIR": "/opt/ml",
    "SAGEMAKER_PROGRAM": "other.py",
    "SAGEMAKER_SUBMIT_DIRECTORY": "s3://example-data/other.tar.gz",
    "SAGEMAKER_CONTAINER_LOG_LEVEL": "10",
}


def found(directory, **changes):
    """Return (code, path) of what is found about the script of a spec with keys of it replaced."""
    spec = yaml.safe_load((directory / "job.yaml").read_text())
    (directory / "changed.yaml").write_text(json.dumps({**spec, **changes}))
    records = json.loads(smspec("validate", "changed.yaml", "--format", "json", cwd=directory).out)
    codes = [(record["code"], record["path"]) for record in records if record["code"].startswith("SM5")]
    return [(code, path) for code, path in codes if not OF_IMAGES.fullmatch(code)]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def faulty(request, tmp_path):
    """A copy of a rejected spec whose script is at fault."""
    return shutil.copytree(request.param, tmp_path / "job")


def test_cases_are_found():
    assert len(CASES) >= 11


def test_harmless_settings_hide_no_finding(faulty):
    plain = found(faulty)
    assert [code for code, _ in plain if code != "SM512"]
    for name, api in HARMLESS.items():
        assert found(faulty, api=api) == plain, name
    for name, value in VARIABLES.items():
        assert found(faulty, environment={name: value}) == plain, name


def test_imported_sdk_job_has_the_findings_of_a_spec(faulty):
    """The way of docs/moving-in.md: import the request, add the source, take out what the SDK put in."""
    spec = yaml.safe_load((faulty / "job.yaml").read_text())
    if "pipe_loop" in str(spec["entry_point"]) or "module" in str(spec["entry_point"]):
        pytest.skip("the SDK starts no handler")
    # These are about images that are known, and about several hosts, which the request of the SDK sets.
    others = ("SM526", "SM556", "SM557", "SM576")
    plain = [one for one in found(faulty) if one[0] not in others]
    imported = smspec("import", str(SDK))
    moved = yaml.safe_load(imported.out)
    del moved["hyperparameter_encoding"]
    for key in (
        *("source", "entry_point", "channels", "hyperparameters"),
        *("checkpoints", "hosts", "metrics", "network", "overlays"),
    ):
        moved.pop(key, None)
        if key in spec:
            moved[key] = spec[key]
    assert moved["api"]["AlgorithmSpecification"] == {"EnableSageMakerMetricsTimeSeries": True}
    (faulty / "job.yaml").write_text(json.dumps(moved))
    assert [one for one in found(faulty) if one[0] not in others] == plain


REPLACED = {
    "AlgorithmSpecification.ContainerEntrypoint": {"ContainerEntrypoint": ["/bin/start"]},
    "AlgorithmSpecification.ContainerArguments": {"ContainerArguments": ["--x"]},
    "AlgorithmSpecification.AlgorithmName": {"AlgorithmName": "mine"},
    "AlgorithmSpecification.TrainingImage": {"TrainingImage": READY},
    "no AlgorithmSpecification.TrainingImage": {"TrainingImage": None},
}


@pytest.mark.parametrize("member", REPLACED)
def test_member_replacing_the_script_ends_the_check(member):
    changes = {"hyperparameters": {"x": 1}, "api": {"AlgorithmSpecification": REPLACED[member]}}
    assert codes(FAULTY, **changes) == [("SM512", "entry_point.script")]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"environment": {"SAGEMAKER_BASE_DIR": "/data"}}, "SM512"),
        ({"image": {"base": "python:3.12", "env": {"SAGEMAKER_BASE_DIR": "/data"}}}, "SM512"),
        ({"image": READY}, "SM501"),
        ({"image": READY, "api": {"AlgorithmSpecification": {"TrainingImage": READY}}}, "SM501"),
        ({"image": READY, "api": {"AlgorithmSpecification": {"ContainerEntrypoint": None}}}, "SM512"),
        ({"image": READY, "api": {"InputDataConfig": []}}, "SM512"),
        ({"image": READY, "source": {"dir": "src/", "delivery": "s3"}}, "SM501"),
        (
            {"image": READY, "source": {"dir": "src/", "delivery": "s3"}, "environment": {"SAGEMAKER_PROGRAM": "a.py"}},
            "SM512",
        ),
        (
            {
                "image": READY,
                "source": {"dir": "src/", "delivery": "s3"},
                "environment": {"SAGEMAKER_PROGRAM": "train.py"},
            },
            "SM501",
        ),
        (
            {
                "image": READY,
                "source": {"dir": "src/", "delivery": "s3"},
                "environment": {"SAGEMAKER_TRAINING_MODULE": "sagemaker_pytorch_container.training:main"},
            },
            "SM501",
        ),
        (
            {
                "image": READY,
                "source": {"dir": "src/", "delivery": "s3"},
                "environment": {"SAGEMAKER_TRAINING_MODULE": "mine.training:main"},
            },
            "SM512",
        ),
        (
            {
                "image": READY,
                "source": {"dir": "src/", "delivery": "s3"},
                "api": {"HyperParameters": {"sagemaker_program": "other.py"}},
            },
            "SM512",
        ),
        (
            {"source": {"dir": "src/", "delivery": "s3"}, "environment": {"SAGEMAKER_SUBMIT_DIRECTORY": "s3://b/c"}},
            "SM512",
        ),
    ],
)
def test_replacing_variables_depend_on_the_launcher(changes, code):
    assert [code for code, _ in codes(FAULTY, hyperparameters={"x": 1}, **changes)] == [code]


HEAD = """\
smspec: v1
name: small
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: 111122223333.dkr.ecr.us-west-2.amazonaws.com/ready:1
hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}
output: s3://models/small/
"""
SOURCE = "source: src/\nentry_point: train.py\n"
UNREAD = {
    "another language": ("source: src/\nentry_point: train.sh\n", {"train.sh": b"exec ./train\n"}, "a Python script"),
    "a binary": ("entry_point: {command: [./train]}\n", {}, "a Python script"),
    "a script of the image": ("entry_point: {command: [python3, /train.py]}\n", {}, "`source` is not set"),
    "a script beside the source": (
        "source: src/\nentry_point: {command: [python3, ../train.py]}\n",
        {"a.py": b""},
        "not in `source`",
    ),
    "another Python": (SOURCE, {"train.py": b"import argparse\nx = y z\n"}, "cannot parse"),
    "another encoding": (SOURCE, {"train.py": b"# coding: latin-1\n# \xe9\n"}, "UTF-8"),
    "a very long script": (SOURCE, {"train.py": b"#" * (1 << 20) + b"\nx"}, "1 MiB"),
    "very many statements": (SOURCE, {"train.py": b"import argparse\n" + b"a\n" * 70_000}, "too long"),
    "very deep brackets": (SOURCE, {"train.py": b"import argparse\n" + b"(" * 5_000}, "deeply"),
    "arguments from a file": (SOURCE, {"train.py": FAULTY.encode(), "train.args": b"--x 1"}, "train.args"),
    "an archive of the SDK": (
        "hyperparameters: {sagemaker_program: train.py, sagemaker_submit_directory: s3://b/s.tar.gz}\n",
        {},
        "archive in S3",
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_unreadable_script_is_a_note_in_every_format(name, tmp_path):
    lines, files, reason = UNREAD[name]
    (tmp_path / "src").mkdir()
    for file, content in files.items():
        (tmp_path / "src" / file).write_bytes(content)
    (tmp_path / "job.yaml").write_text(HEAD + lines)
    assert smspec("validate", "--strict", cwd=tmp_path).status == 0
    done = smspec("validate", "--format", "json", cwd=tmp_path)
    (record,) = [one for one in json.loads(done.out) if one["code"] == "SM512"]
    assert record["severity"] == "note"
    assert reason in record["message"]
    assert record["path"].startswith("hyperparameters" if "SDK" in name else "entry_point")
    assert "1 note" in done.err
    assert "note[SM512]: " in smspec("validate", cwd=tmp_path).out
    assert "::notice file=job.yaml," in smspec("validate", "--format", "github", cwd=tmp_path).out
    sarif = json.loads(smspec("validate", "--format", "sarif", cwd=tmp_path).out)
    assert ("SM512", "note") in [(result["ruleId"], result["level"]) for result in sarif["runs"][0]["results"]]


@pytest.mark.parametrize(
    ("lines", "script"),
    [
        (SOURCE, FAULTY),
        (SOURCE, "print('no arguments')\n"),
        ("api: {AlgorithmSpecification: {AlgorithmName: x}}\n", ""),
    ],
)
def test_readable_or_absent_script_needs_no_note(lines, script, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "train.py").write_text(script)
    (tmp_path / "job.yaml").write_text(HEAD + lines)
    assert "SM512" not in smspec("validate", cwd=tmp_path).out


def test_note_can_be_ignored_and_raised(tmp_path):
    ignoring = "checks: {ignore: [{rule: SM512, because: written in Rust}]}\n"
    (tmp_path / "job.yaml").write_text(HEAD + "entry_point: {command: [./train]}\n" + ignoring)
    done = smspec("validate", "--strict", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "no problems found" in done.err
    (tmp_path / "smspec.toml").write_text('[rules]\nSM512 = "error"\n')
    (tmp_path / "job.yaml").write_text(HEAD + "entry_point: {command: [./train]}\n")
    assert smspec("validate", cwd=tmp_path).status == 1

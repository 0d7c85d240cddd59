"""`smspec import NAME -o DIR`: the spec of a job in SageMaker, and its code from S3, in a directory that runs."""

import io
import json
import tarfile

import pytest

from support.servers.hostile_s3 import BUCKET, HostileS3, error
from support.servers.hostile_server import hostile_server
from support.servers.job_server import job_server, look
from support.service.api_samples import small_request
from support.smspec_command import smspec

NAME = "churn-2026-10-02-09-11-12-345"
KEY = f"{NAME}/source/sourcedir.tar.gz"
TOOLKIT = {
    "sagemaker_container_log_level": "20",
    "sagemaker_job_name": json.dumps(NAME),
    "sagemaker_program": '"train.py"',
    "sagemaker_region": '"us-west-2"',
    "sagemaker_submit_directory": json.dumps(f"s3://{BUCKET}/{KEY}"),
}
IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.3.0-gpu-py311"
SCRIPT = b"import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\np.parse_args()\n"


def archive(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                tar.addfile(member)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def servers():
    with hostile_server() as server, job_server() as jobs, pytest.MonkeyPatch.context() as patch:
        for name, value in {**jobs.environ, "AWS_ENDPOINT_URL_S3": f"http://{server.host}"}.items():
            patch.setenv(name, value)
        yield server, jobs


@pytest.fixture
def s3(servers, monkeypatch, tmp_path):
    server, jobs = servers
    jobs.reset()
    jobs.jobs[NAME] = [look("Completed", "Completed")]
    jobs.request = request()
    monkeypatch.chdir(tmp_path)
    return HostileS3(server, {KEY: archive(("train.py", SCRIPT), ("lib/a.py", b"A = 1\n"))})


def request(**parameters):
    made = small_request()
    del made["TrainingJobName"]
    made["AlgorithmSpecification"]["TrainingImage"] = IMAGE
    made["ResourceConfig"] = {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 30}
    made["HyperParameters"] = {"epochs": "3", **TOOLKIT, **parameters}
    return made


def imported(status=0):
    done = smspec("import", NAME, "--region", "us-west-2", "-o", "churn")
    assert done.status == status, done.err
    return done


def test_spec_and_code_of_a_job_validate(s3, tmp_path):
    assert imported().out == "churn/job.yaml\nchurn/src\n"
    assert (tmp_path / "churn" / "src" / "train.py").read_bytes() == SCRIPT
    assert (tmp_path / "churn" / "src" / "lib" / "a.py").exists()
    spec = (tmp_path / "churn" / "job.yaml").read_text()
    assert "sagemaker_" not in spec and "job_name" not in spec and "\nname: churn\n" in spec
    assert "\nentry_point: train.py\n" in spec and "\n  epochs: 3\n" in spec
    done = smspec("validate", cwd=tmp_path / "churn")
    assert done.status == 0, done.err
    assert "SM512" not in done.err + done.out, "the script is read"


@pytest.mark.parametrize("facts", ["", '[facts]\nmembers = ["NewerConfig", "ResourceConfig.NewerKind"]\n'])
def test_newer_members_that_facts_name_are_kept(s3, servers, tmp_path, facts):
    """The model of botocore lacks them; what else it lacks may be no part of a request."""
    made = servers[1].request = request()
    made["ResourceConfig"]["NewerKind"] = "fast"
    made |= {"NewerConfig": {"Level": 3}, "NewerState": "Idle"}
    (tmp_path / ".git").mkdir()
    (tmp_path / "smspec.toml").write_text(facts)
    done = imported()
    spec = (tmp_path / "churn" / "job.yaml").read_text()
    assert ("NewerKind: fast" in spec, "Level: 3" in spec) == (bool(facts), bool(facts))
    assert "NewerState" not in spec + done.err


@pytest.mark.parametrize(
    ("parameters", "key", "kept"),
    [
        ({"sagemaker_torch_distributed_enabled": "true", "sagemaker_instance_type": '"ml.g5.xlarge"'}, "torchrun", ""),
        ({"sagemaker_mpi_enabled": "true", "sagemaker_mpi_num_of_processes_per_host": "2"}, "processes_per_host", ""),
        ({"sagemaker_pytorch_ddp_enabled": "true"}, "", "sagemaker_pytorch_ddp_enabled"),
        ({"sagemaker_mpi_enabled": "true", "sagemaker_torch_distributed_enabled": "true"}, "", "sagemaker_mpi_enabled"),
    ],
)
def test_launcher_becomes_distribution_if_it_is_certain(s3, servers, tmp_path, parameters, key, kept):
    servers[1].request = request(**parameters)
    done = imported()
    spec = (tmp_path / "churn" / "job.yaml").read_text()
    assert ("distribution" in spec) == bool(key) and key in spec
    assert ("sagemaker_" in spec) == bool(kept) and kept in spec
    assert ("sagemaker_" in done.err) == bool(kept), "what is left is said"


def test_archive_in_the_code_channel_is_fetched(s3, servers, tmp_path):
    made = request(sagemaker_submit_directory='"/opt/ml/input/data/code/sourcedir.tar.gz"')
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": f"s3://{BUCKET}/{KEY}"}}
    made |= {"EnableNetworkIsolation": True, "InputDataConfig": [{"ChannelName": "code", "DataSource": source}]}
    servers[1].request = made
    imported()
    spec = (tmp_path / "churn" / "job.yaml").read_text()
    assert "channels" not in spec and "delivery: channel" in spec
    assert smspec("validate", cwd=tmp_path / "churn").status == 0


HOSTILE = {
    "above": (archive(("../x", b"1")), "`../x` lies outside of its directory"),
    "absolute": (archive(("/etc/x", b"1")), "`/etc/x` lies outside of its directory"),
    "file as directory": (archive(("a", b"1"), ("a/b", b"1")), "takes the place of a different file"),
    "no script": (archive(("other.py", b"1")), "has no `train.py`, which the job starts"),
    "cut off": (archive(("train.py", SCRIPT))[:-9], "is damaged"),
    "no archive": (b"no archive", "is damaged"),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archive_writes_nothing(s3, tmp_path, content, said):
    s3.objects[KEY] = content
    done = imported(1)
    assert said in done.err and done.out == ""
    assert list(tmp_path.iterdir()) == []


def test_archive_that_unpacks_to_too_much_is_refused(s3, tmp_path, monkeypatch):
    monkeypatch.setattr("smspec.cli.import_._MOST_CODE_BYTES", 1 << 20)
    s3.objects[KEY] = archive(("train.py", SCRIPT), ("bomb", bytes(1 << 20)))
    assert "more than 1,048,576 bytes" in imported(1).err
    assert list(tmp_path.iterdir()) == []


def test_link_out_of_the_archive_is_left_out(s3, tmp_path):
    s3.objects[KEY] = archive(("train.py", SCRIPT), ("key", "/etc/passwd"), ("up", "../../x"))
    done = imported()
    assert "`src/key` is a link to `/etc/passwd`" in done.err and "`src/up`" in done.err
    assert sorted(path.name for path in (tmp_path / "churn" / "src").iterdir()) == ["train.py"]


def test_missing_archive_exits_1(s3, tmp_path):
    del s3.objects[KEY]
    assert f"`s3://{BUCKET}/{KEY}` does not exist" in imported(1).err
    assert list(tmp_path.iterdir()) == []


def test_denied_archive_names_the_permission(s3, tmp_path):
    s3.override = lambda asked: [error("AccessDenied", "403 Forbidden")]
    assert "s3:GetObject" in imported(3).err
    assert list(tmp_path.iterdir()) == []


def test_job_without_code_is_a_spec(s3, servers, tmp_path):
    made = request()
    del made["HyperParameters"]
    servers[1].request = made
    done = imported()
    assert done.out == "churn/job.yaml\n" and "no archive of code" in done.err

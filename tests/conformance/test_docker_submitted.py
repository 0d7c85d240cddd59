"""An example from its spec to the collected result, with a real engine and a real registry.

moto is AWS: it calls a job completed as soon as it is created. So the test runs the job in containers of the image, as
SageMaker would, and puts what they leave where SageMaker puts it.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.docker_registry import ecr_site
from support.local.local_jobs import LocalJob
from support.sampled_cases import only_with_all_engines

pytest_plugins = ["support.docker_engine"]
pytestmark = [pytest.mark.slow, only_with_all_engines, pytest.mark.xdist_group("docker")]

EXAMPLE = Path(__file__).parents[2] / "specs/sharded-similarity"
BASE = "python:3.12-slim-bookworm"
S3 = """\
import sys, boto3
s3 = boto3.client("s3", region_name="us-west-2")
action, bucket, *rest = sys.argv[1:]
if action == "create":
    s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
else:
    s3.upload_file(rest[1], bucket, rest[0])
"""


@pytest.fixture
def site(engine, tmp_path_factory):
    with ecr_site(engine, tmp_path_factory.mktemp("site")) as site:
        yield site


def s3(site, *words):
    variables = [f"{name}={value}" for name, value in site.variables.items() if name.startswith("AWS_")]
    subprocess.run(site.inside("env", *variables, sys.executable, "-c", S3, *words), check=True)


def test_job_of_a_pushed_image_is_collected(engine, site, tmp_path, monkeypatch):
    (tmp_path / "base").mkdir()
    engine.make_python_image(engine.base, tmp_path / "base", BASE)
    job = LocalJob(tmp_path / EXAMPLE.name, engine="docker")
    shutil.copytree(EXAMPLE, job.directory, ignore=shutil.ignore_patterns("run", "__pycache__"), dirs_exist_ok=True)
    for bucket in ("example-data", "example-models"):
        s3(site, "create", bucket)

    submitted = site.smspec("submit", "--upload-data", "--format", "json", cwd=job.directory)
    assert submitted.status == 0, submitted.err
    record = json.loads(submitted.out)
    assert "pushed 111122223333.dkr.ecr.us-west-2.amazonaws.com/sharded-similarity:" in submitted.err

    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("PATH", site.variables["PATH"])
    ended = job.run()
    assert ended.returncode == 0, ended.stderr
    archive = job.run_directory / "model.tar.gz"
    s3(site, "upload", "example-models", record["model"].removeprefix("s3://example-models/"), archive)

    collected = site.smspec("collect", record["name"], "--merge", "sort", cwd=job.directory, AWS_REGION="us-west-2")
    assert collected.status == 0, collected.err
    root = job.directory / "collect" / record["name"]
    parts = job.archive()
    assert {path.name: path.read_bytes() for path in (root / "model").iterdir()} == parts
    assert sorted(parts) == [f"part-algo-{number}.csv" for number in (1, 2, 3)]
    assert (root / "merged/part.csv").read_bytes().count(b"\n") == 60

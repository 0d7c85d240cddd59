"""An AWS account on this machine: S3 (moto), ECR with a client that pushes to it, and a SageMaker that runs its jobs.

There is no SageMaker outside of AWS, so a job is what `smspec run` makes of the same spec, with the data that are in
S3. Its archives are put where SageMaker puts them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.container_client import FakeClient
from support.forked_command import start_command
from support.servers.aws_server import REGION, S3, s3_server
from support.servers.ecr_server import EcrServer, docker_image, ecr_server
from support.servers.job_server import JobServer, job_server, look
from support.smspec_command import environment, smspec

_GENERATED = ("code",)
_SECONDS = 600
_AWS = """\
#!{python} -I
import os, sys
import boto3
assert sys.argv[1:3] == ["s3", "sync"], sys.argv
directory, uri = sys.argv[3:]
bucket, _, prefix = uri.removeprefix("s3://").partition("/")
s3 = boto3.client("s3")
for above, _, names in os.walk(directory):
    for path in (os.path.join(above, name) for name in names):
        s3.upload_file(path, bucket, prefix + os.path.relpath(path, directory))
"""
"""What the examples use of the AWS CLI."""


class LocalAws:
    """``run_options`` are those of every `smspec run` of a job, such as --python. ``runs``: job → its run directory.

    ``pushed`` is what a repository has after a push.
    """

    def __init__(self, root: Path, store: S3, jobs: JobServer, ecr: EcrServer) -> None:
        self.store, self.jobs, self.ecr = store, jobs, ecr
        self.run_options: tuple[str, ...] = ()
        self.runs: dict[str, Path] = {}
        self.pushed = docker_image()
        self._root = root
        self._client = FakeClient(root / "client")
        program = self._client.directory / "aws"
        program.write_text(_AWS.format(python=sys.executable))
        program.chmod(0o755)
        self._known: list[tuple[Path, str, dict[str, Any]]] = []
        jobs.execute = self._execute
        ecr.arriving = self._receive_images

    @property
    def environ(self) -> dict[str, str]:
        """What leads the commands of a shell to this account."""
        return {
            **self.ecr.variables,
            **self.jobs.environ,
            **self._s3,
            "AWS_ENDPOINT_URL_ECR": self.ecr.variables["AWS_ENDPOINT_URL"],
            "PATH": f"{self._client.directory}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self._root),
            "SMSPEC_HTTP_TIMEOUT": str(_SECONDS),
        }

    @property
    def _s3(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL_S3": self.store.environ["S3_ENDPOINT_URL"], "no_proxy": "127.0.0.1"}

    def know(self, spec: Path, *overlays: str) -> None:
        """Create the buckets of a spec, and know its jobs from then on."""
        for overlay in ("", *overlays):
            done = smspec("render", str(spec), "--api-json", *(("-O", overlay) if overlay else ()))
            assert done.status == 0, done.err
            request = json.loads(done.out)
            self._known.append((spec, overlay, request))
            for uri in (request["OutputDataConfig"]["S3OutputPath"], *_data(request).values()):
                self._bucket(uri)

    def _bucket(self, uri: str) -> tuple[str, str]:
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        with contextlib.suppress(self.store.client.exceptions.BucketAlreadyOwnedByYou):
            self.store.client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        return bucket, key

    def _receive_images(self) -> None:
        for record in self._client.asked("push"):
            _, _, name = record["words"][-1].partition("/")
            self.ecr.add(*name.rsplit(":", 1), self.pushed)

    def _execute(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """Run a job that was created, and return its looks."""
        name = request["TrainingJobName"]
        sent = {**request, "Tags": []}
        spec, overlay = next((spec, overlay) for spec, overlay, known in self._known if {**known, "Tags": []} == sent)
        directory = self.runs[name] = self._root / "jobs" / name
        data = [word for channel, uri in _data(request).items() for word in ("--data", f"{channel}={uri}")]
        words = ["run", str(spec), "-o", str(directory), *data, *self.run_options]
        variables = environment(**{**self.jobs.environ, **self._s3})
        words += ["-O", overlay] if overlay else []
        with start_command(
            words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            shown, _ = process.communicate(timeout=_SECONDS)
        assert (directory / "summary.json").exists(), shown
        summary = json.loads((directory / "summary.json").read_text())
        for log in sorted((directory / "logs").glob("*.log")):
            self.jobs.log(log.stem, 60, *log.read_text(errors="replace").splitlines(), job=name)
        return [look("InProgress", "Training", began=60), self._end(request, summary)]

    def _end(self, request: dict[str, Any], summary: dict[str, Any]) -> dict[str, Any]:
        name, seconds = request["TrainingJobName"], 60 + summary["seconds"]
        prefix = f"{request['OutputDataConfig']['S3OutputPath'].rstrip('/')}/{name}/output/"
        bucket, key = self._bucket(prefix)
        members = {member: request[member] for member in ("OutputDataConfig", "ResourceConfig", "StoppingCondition")}
        for kind in ("model", "output"):
            found = self.runs[name] / f"{kind}.tar.gz"
            if found.exists():
                self.store.client.put_object(Bucket=bucket, Key=key + found.name, Body=found.read_bytes())
                if kind == "model":
                    members["ModelArtifacts"] = {"S3ModelArtifacts": prefix + found.name}
        end = {"began": 60, "ended": seconds, "billable": round(seconds), "members": members}
        if summary["status"] == "Completed":
            return look("Completed", **end)
        return look("Failed", reason=summary["failure_reason"] or "AlgorithmError", **end)


def _data(request: dict[str, Any]) -> dict[str, str]:
    """Return the URI of each channel of a request that does not hold generated files."""
    return {
        channel["ChannelName"]: channel["DataSource"]["S3DataSource"]["S3Uri"]
        for channel in request.get("InputDataConfig", ())
        if channel["ChannelName"] not in _GENERATED
    }


@contextlib.contextmanager
def local_aws(root: Path) -> Iterator[LocalAws]:
    """Run its servers; ``root`` is new, and gets the runs of the jobs."""
    with s3_server() as store, job_server() as jobs, ecr_server(root) as ecr:
        yield LocalAws(root, store, jobs, ecr)

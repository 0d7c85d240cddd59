"""docs/gitops.md is executed: its files, changes, and commands in order.

`--update` writes what the commands say into the page. Names of jobs end in digests: those of the page are with the
runtime of the golden trees, which stays when the real one changes.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from smspec.wire.aws import AwsSession
from support.composite_action import ACTION
from support.container_client import FakeClient
from support.git_repository import IDENTITY, git, repository
from support.servers.aws_server import REGION, s3_server
from support.servers.ecr_server import docker_image, ecr_server
from support.servers.job_server import job_server
from support.servers.package_index import Packages, package_server
from support.smspec_command import environment, smspec_process

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/gitops.md"
TEXT = PAGE.read_text(encoding="utf-8")
BIN = Path(sys.prefix) / "bin"
BLOCK = re.compile(r"^(?:<!-- (?P<about>[^\n]+) -->\n)?```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
STEP = re.compile(rf"^###? [^\n]*$|{BLOCK.pattern}", re.MULTILINE | re.DOTALL)

installed = pytest.mark.skipif(
    not (BIN / "smspec").exists(), reason="smspec is not installed as a command beside this Python"
)


def shell_environment(**more):
    path = os.pathsep.join([str(BIN), os.environ["PATH"]])
    return {**environment(), **IDENTITY, "PATH": path, **more}


def run_block(commands, root, **more):
    """Run the commands of a block; return the block as it should be, and the exit status."""
    shown, status = "", 0
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=root,
            env=shell_environment(**more),
            stdout=-1,
            stderr=-2,
            text=True,
            timeout=120,
        )
        shown, status = f"{shown}$ {command}\n{done.stdout}", done.returncode
    return shown, status


def walk(root, **more):
    """Follow the page and yield (block, expected content, expected exit status, actual status)."""
    for step in STEP.finditer(TEXT):
        about, body = step["about"] or "", step["body"]
        if step["kind"] is None:
            if git(root, "rev-list", "--all"):
                git(root, "checkout", "-q", ".")  # the next pull request begins at the main branch
        elif about.startswith("file: "):
            path = root / about.removeprefix("file: ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif step["kind"] == "diff":
            git(root, "apply", "--unidiff-zero", "-", content=body.encode())
        elif step["kind"] == "console":
            commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
            announced = int(about.removeprefix("exit status: ")) if about else 0
            yield step, *run_block(commands, root, **more), announced


FIXED = """\
#!{python}
import sys
from hashlib import sha256
from pathlib import Path
from smspec.source import ListedFile, Listing
from smspec.workspace import source_listing
content = Path({runtime!r}).read_bytes()
digest = sha256(content).hexdigest()
file = ListedFile(path="__init__.py", origin={runtime!r}, executable=False, size=len(content), sha256=digest)
source_listing.runtime_files = lambda document, source: Listing(files=(file,))
from smspec.cli import run_process
run_process()
"""
"""The command with the runtime of the golden trees."""


@installed
def test_page_equals_the_recorded_session(tmp_path, update):
    packages = Packages()
    packages.add("numpy", "2.1.0")
    with package_server(packages) as index:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin/smspec"
        program.write_text(FIXED.format(python=sys.executable, runtime=str(ROOT / "tests/golden/fixed_runtime.txt")))
        program.chmod(0o755)
        path = os.pathsep.join([str(program.parent), str(BIN), os.environ["PATH"]])
        settings = {"PIP_INDEX_URL": index.url, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "PATH": path}
        outcomes = list(walk(repository(tmp_path / "jobs"), **settings))
    assert len(outcomes) == 4
    if update:
        text = TEXT
        for step, shown, _, _ in reversed(outcomes):
            text = text[: step.start("body")] + shown + text[step.end("body") :]
        PAGE.write_text(text, encoding="utf-8")
        return
    for step, shown, status, announced in outcomes:
        assert step["body"] == shown, "`make golden` writes it"
        assert status == announced, shown


def blocks(about):
    return [block["body"] for block in BLOCK.finditer(TEXT) if (block["about"] or "").startswith(about)]


@pytest.mark.parametrize("text", blocks("workflow"))
def test_workflows_use_declared_inputs(text):
    workflow = yaml.safe_load(text)
    assert workflow["permissions"]["contents"] == "read"
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("OWNER/smspec@"):
                assert set(step["with"]) <= set(ACTION["inputs"])


def test_every_input_of_the_action_has_a_row():
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`([^`]*)`)?", TEXT, re.MULTILINE)
    given = dict(rows)
    assert list(given) == list(ACTION["inputs"])
    for name, declared in ACTION["inputs"].items():
        assert name == "base" or given[name] == declared["default"]


def test_documented_hook_exists():
    (config,) = map(yaml.safe_load, blocks("pre-commit"))
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in config["repos"][0]["hooks"]} <= {hook["id"] for hook in hooks}


@installed
def test_documented_hooks_pass_on_the_files_of_the_page(tmp_path):
    """The commands of the hooks, with the arguments of the configuration; neither changes a file."""
    root = repository(tmp_path / "jobs")
    for _ in walk(root):
        pass
    git(root, "checkout", "-q", ".")
    (config,) = map(yaml.safe_load, blocks("pre-commit"))
    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    entries = {hook["id"]: hook["entry"] for hook in manifest}
    for hook in config["repos"][0]["hooks"]:
        words = [sys.executable, *shlex.split(entries[hook["id"]])[1:], *hook["args"]]
        done = subprocess.run(words, cwd=root, env=shell_environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    assert git(root, "status", "--porcelain") == ""


def test_trust_policy_is_json():
    (policy,) = map(json.loads, blocks("trust policy"))
    assert policy["Statement"][0]["Action"] == "sts:AssumeRoleWithWebIdentity"


def test_gitlab_job_presents_the_token_that_is_trusted(tmp_path):
    (policy,) = map(json.loads, blocks("gitlab: trust policy"))
    (jobs,) = map(yaml.safe_load, blocks("gitlab: submit"))
    (job,) = jobs.values()
    (audience,) = (token["aud"] for token in job["id_tokens"].values())
    assert policy["Statement"][0]["Condition"]["StringEquals"]["gitlab.com:aud"] == audience
    token = tmp_path / "token"
    variables = {**job["variables"], "AWS_WEB_IDENTITY_TOKEN_FILE": str(token), next(iter(job["id_tokens"])): "ey-it"}
    subprocess.run(["sh", "-ec", job["script"][0]], env=shell_environment(**variables), check=True)
    assert (token.read_text(), token.stat().st_mode & 0o777) == ("ey-it", 0o600)
    with pytest.MonkeyPatch.context() as patch, s3_server() as store:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        for name, value in {**variables, "AWS_ENDPOINT_URL": store.environ["S3_ENDPOINT_URL"]}.items():
            patch.setenv(name, value)
        assert (
            AwsSession()
            .client("sts")
            .get_caller_identity()["Arn"]
            .startswith("arn:aws:sts::111122223333:assumed-role/SubmitCtr/")
        )


@installed
def test_documented_submission_ends_in_one_job(tmp_path):
    """A script that records its arguments replaces `docker`; the servers are in tests/support."""
    root = repository(tmp_path / "jobs")
    for _ in walk(root):
        pass
    git(root, "checkout", "-q", ".")
    client = FakeClient(tmp_path / "client")
    (workflow,) = map(yaml.safe_load, blocks("workflow: submit"))
    script = workflow["jobs"]["ctr"]["steps"][-1]["run"]
    path = os.pathsep.join([str(client.directory), str(BIN), os.environ["PATH"]])
    request = json.loads(smspec_process("render", "jobs/ctr/job.yaml", "--api-json", cwd=root).out)
    image = request["AlgorithmSpecification"]["TrainingImage"]
    with ecr_server(tmp_path) as ecr, job_server() as jobs, s3_server() as store:
        for channel in request["InputDataConfig"]:
            bucket, _, prefix = channel["DataSource"]["S3DataSource"]["S3Uri"].removeprefix("s3://").partition("/")
            store.client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
            store.client.put_object(Bucket=bucket, Key=f"{prefix}part-0", Body=b"1")
        for written in (request["OutputDataConfig"]["S3OutputPath"], request["CheckpointConfig"]["S3Uri"]):
            bucket = written.removeprefix("s3://").partition("/")[0]
            store.client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        endpoints = {
            "AWS_ENDPOINT_URL_ECR": ecr.variables["AWS_ENDPOINT_URL"],
            "AWS_ENDPOINT_URL_S3": store.environ["S3_ENDPOINT_URL"],
            "AWS_ENDPOINT_URL": jobs.environ["AWS_ENDPOINT_URL"],
        }
        ecr.add("ctr", image.rpartition(":")[2], docker_image())
        ecr.denials = [(404, "NAME_UNKNOWN", "")] * 2  # for the plan, and before the build
        client.will_push("done")
        for _ in range(2):
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", script],
                cwd=root,
                env=shell_environment(**{**ecr.variables, **endpoints, "PATH": path, "HOME": str(tmp_path)}),
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert (done.returncode, done.stdout) == (0, f"{request['TrainingJobName']}\n"), done.stderr
        assert [record["words"][-1] for record in client.asked("push")] == [image]
        (created,) = jobs.created
        assert {**created, "Tags": request.get("Tags", [])} == {"Tags": [], **request}


def test_readme_and_page_agree():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme[readme.index("## In a pull request") : readme.index("## What do you want to do?")]
    shown = re.findall(r"^    (.+)$", part, re.MULTILINE)
    assert shown
    assert set(shown) <= set(TEXT.splitlines())

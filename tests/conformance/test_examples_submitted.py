"""Each example goes from its spec to the collected result with the commands of its README, against a local AWS."""

import os
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from support.forked_command import start_command
from support.sampled_cases import left_out
from support.servers.local_aws import local_aws
from support.smspec_command import Done, environment, smspec

SPECS = Path(__file__).parents[2] / "specs"
EXAMPLES = sorted(path.parent.name for path in SPECS.glob("*/job.yaml"))
LIKE_OTHERS = ("pipe-augmented", "script-mode")
OVERLAYS = {"sharded-similarity": ("by-key",)}
TORCH = os.environ.get("SMSPEC_PYTORCH")
"""A Python with PyTorch, for the example that needs it: its packages are larger than all others together."""

COMMAND = re.compile(r"^    (?:(job)=\$\()?((?:smspec|python3|aws) [^#)\n]*)", re.MULTILINE)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def aws(tmp_path_factory):
    with local_aws(tmp_path_factory.mktemp("aws")) as account:
        yield account


def commands(name):
    """Return (variable, command) of each line of a README, without those of its later sections."""
    text = (SPECS / name / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return COMMAND.findall(text)


def follow(lines, directory, variables, run_options):
    """Run commands as a shell would, and return the values that its variable has had."""
    values = []
    for variable, line in lines:
        words = [values[-1] if word == "$job" else word for word in shlex.split(line)]
        if words[:2] == ["smspec", "run"]:
            words += run_options
        done = completed(words, directory, variables)
        assert done.status == 0, f"{line}\n{done.err}"
        if variable:
            values.append(done.out.strip())
    return values


def completed(words, directory, variables):
    """Run a command. `smspec submit` runs in this process, where it looks at its job without a pause."""
    if words[:2] == ["smspec", "submit"]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("smspec.submission.following.INTERVAL_SECONDS", 0)
            for name, value in variables.items():
                patch.setenv(name, value)
            return smspec(*words[1:], cwd=directory)
    options = {"cwd": directory, "env": variables, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with start_command(words[1:], **options) if words[0] == "smspec" else subprocess.Popen(words, **options) as process:
        out, err = process.communicate(timeout=600)
    return Done(process.returncode, out, err)


def files(archive):
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


def contents(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module", params=[left_out(name) if name in LIKE_OTHERS else name for name in EXAMPLES])
def followed(request, aws, tmp_path_factory):
    """A copy of an example after the commands of its README, and the jobs that it has submitted."""
    name = request.param
    if name == "torchrun-ddp" and not TORCH:
        pytest.skip("SMSPEC_PYTORCH is not a Python with PyTorch")
    directory = tmp_path_factory.mktemp("example") / name
    shutil.copytree(SPECS / name, directory, ignore=shutil.ignore_patterns("build", "run", "collect", "__pycache__"))
    aws.know(directory / "job.yaml", *OVERLAYS.get(name, ()))
    aws.run_options = ("--python", str(TORCH)) if name == "torchrun-ddp" else ()
    lines = commands(name)
    for word in ("validate", "run", "submit", "collect"):
        assert any(f"smspec {word}" in line for _, line in lines), word
    return directory, follow(lines, directory, environment(**aws.environ), aws.run_options)


def test_readme_leads_to_the_collected_result(followed, aws):
    """The result is that of the job, and that of the run on this machine, which read its data from files."""
    directory, submitted = followed
    name = directory.name
    runs = [f"run/{name}", *(f"run/{name}.{overlay}" for overlay in OVERLAYS.get(name, ()))]
    for job, run in zip(submitted, runs, strict=True):
        collected = contents(directory / "collect" / job / "model")
        assert collected == files(aws.runs[job] / "model.tar.gz") == files(directory / run / "model.tar.gz")
        assert collected
    if name == "sharded-similarity":
        assert_parts_are_merged(directory)


def assert_parts_are_merged(directory):
    """However the rows are divided, and wherever the job runs, the table is the same."""
    tables = [path.read_bytes() for path in (directory / "collect").glob("*/merged/part.csv")]
    assert len(tables) == 4 and len(set(tables)) == 1
    assert tables[0].count(b"\n") == 60

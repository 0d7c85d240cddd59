"""Data that a pull request names: what leads out of the project is refused, and what the author links is shown."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.git_repository import git
from support.local.local_jobs import LocalJob, script
from support.local.ordinary_user import OrdinaryJob, kind_of
from support.sampled_cases import left_out

READING = """
import os
for above, names, files in os.walk(os.environ["SM_INPUT_DIR"] + "/data", followlinks=True):
    for name in set(files) - {"train_1"}:  # the next epoch, which waits for this one
        print("READ", name, open(os.path.join(above, name)).read())
"""
MANIFEST = "s3_data_type: ManifestFile"
AUGMENTED = "s3_data_type: AugmentedManifestFile, attributes: [x-ref], input_mode: Pipe, record_wrapper: RecordIO"


def link(target: str, name: str = "data/linked"):
    def plant(job: LocalJob, secret: Path) -> str:
        place = job.directory / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(
            target.replace("SECRET", str(secret)).replace("RELATIVE", os.path.relpath(secret, place.parent))
        )
        return ""

    return plant


def listed(text: str, kind: str = MANIFEST):
    def plant(job: LocalJob, secret: Path) -> str:
        job.write(
            "data/m",
            text.replace("SECRET", str(secret)).replace("RELATIVE", os.path.relpath(secret, job.directory / "data")),
        )
        return f", {kind}, local: data/m"

    return plant


def both(*ways):
    def plant(job: LocalJob, secret: Path) -> str:
        return [way(job, secret) for way in ways][-1]

    return plant


def of_git(job: LocalJob, secret: Path) -> str:
    return ", local: .git/"


WAYS = {
    "link to a file": link("SECRET/id"),
    "relative link to a file": link("RELATIVE/id"),
    "link to a directory": link("SECRET"),
    "link to a parent": link("../.."),
    "link below a directory": link("SECRET/id", "data/x/y/z"),
    "link by a link": both(link("other", "data/linked"), link("SECRET/id", "data/other")),
    "link outside the data": both(link("../shared/id"), link("SECRET", "shared")),
    "link to git": link("../.git/config"),
    "link to itself and out": link("../data/../../secret/id"),
    "link as the data": both(link("SECRET", "linked"), lambda job, secret: ", local: linked"),
    "link as the data with a slash": both(link("SECRET", "linked"), lambda job, secret: ", local: linked/"),
    "link above the data": both(link("SECRET/..", "linked"), lambda job, secret: ", local: linked/secret"),
    "link as a manifest": both(link("SECRET/manifest"), lambda job, secret: f", {MANIFEST}, local: data/linked"),
    "manifest with a path": listed('[{"prefix": ""}, "SECRET/id"]'),
    "manifest with a relative path": listed('[{"prefix": "RELATIVE/"}, "id"]'),
    "manifest with a bucket": listed('[{"prefix": "s3://"}, "RELATIVE/id"]'),
    "manifest with a link": both(link("SECRET/id"), listed('[{"prefix": ""}, "linked"]')),
    "augmented manifest": listed('{"x-ref": "SECRET/id"}\n', AUGMENTED),
    "augmented manifest with a link": both(link("SECRET/id"), listed('{"x-ref": "linked"}\n', AUGMENTED)),
    "files of git": of_git,
}


class Project:
    def __init__(self, directory: Path, kind: type[LocalJob]) -> None:
        os.chmod(directory, 0o755)
        self.job = kind(directory / "job", engine="process")
        self.secret = directory / "secret"
        self.secret.mkdir()
        (self.secret / "id").write_text("of the author")
        (self.secret / "manifest").write_text('[{"prefix": "s3://data/"}, "id"]')
        self.job.write("data/a", "data")
        self.git("init", "-q")

    def git(self, *words: str) -> None:
        """Run git as its owner would: the tests may have given the directory to an ordinary user."""
        git(self.job.directory, "-c", f"safe.directory={self.job.directory}", *words)

    def spec(self, more: str) -> None:
        local = "" if "local:" in more else ", local: data/"
        channel = f'{{s3: "s3://data/train/m"{more}{local}}}'
        script(self.job, READING, f"channels: {{train: {channel}}}\n")

    def run(self, **request: object) -> subprocess.CompletedProcess[str]:
        ended = self.job.run(**request)
        log = self.job.run_directory / "logs/algo-1.log"
        return subprocess.CompletedProcess(
            (), ended.returncode, log.read_text() if log.exists() else "", ended.stderr + ended.stdout
        )


@pytest.fixture(params=[LocalJob, OrdinaryJob], ids=["root", "user"])
def project(request):
    kind = kind_of(request)
    with tempfile.TemporaryDirectory(prefix="smspec-strangers-") as directory:
        yield Project(Path(os.path.realpath(directory)), kind)


OF_A_USER = ("link to a file", "link as the data", "manifest with a path", "augmented manifest", "files of git")
"""No right decides where data may be: what is refused to root is refused to a user, before anything is read."""


@pytest.mark.parametrize(
    ("project", "way"),
    [(LocalJob, way) for way in WAYS]
    + [(OrdinaryJob, way) if way in OF_A_USER else left_out(OrdinaryJob, way) for way in WAYS],
    indirect=["project"],
)
def test_data_of_a_pull_request_stay_in_the_project(project, way):
    project.spec(WAYS[way](project.job, project.secret))
    project.git("add", "--all", "--force")
    ended = project.run()
    assert ended.returncode != 0, ended.stdout
    assert "of the author" not in ended.stdout
    assert "outside the project" in ended.stderr, ended.stderr
    assert "pass `--data train=" in ended.stderr


@pytest.mark.parametrize("way", ["link to a directory", "link as the data", "manifest with a link"])
def test_links_of_the_author_are_followed(project, way):
    """Git does not track them; the run shows where they lead. So does what the command line names, without a line."""
    more = WAYS[way](project.job, project.secret)
    project.spec(more)
    project.git("add", "job.yaml", "src")
    ended = project.run()
    assert ended.returncode == 0, ended.stderr
    assert f"reads outside the project: `{project.secret}" in ended.stderr
    project.git("add", "--all", "--force")
    source = more.rpartition("local: ")[2] if "local:" in more else "data"
    ended = project.run(data={"train": source})
    assert ended.returncode == 0, ended.stderr
    assert "outside the project" not in ended.stderr


def test_path_outside_in_a_spec_is_shown(project):
    project.spec(f", local: {project.secret}/id")
    project.git("add", "--all")
    ended = project.run()
    assert ended.returncode == 0, ended.stderr
    assert f"reads outside the project: `{project.secret}/id` (`channels.train.local`)\n" in ended.stderr


def test_links_inside_a_project_are_followed(project):
    project.job.write("shared/id", "shared")
    link("../shared")(project.job, project.secret)
    link("SECRET", "elsewhere")(project.job, project.secret)
    project.spec("")
    project.git("add", "--all")
    ended = project.run()
    assert ended.returncode == 0, ended.stderr
    assert "outside the project" not in ended.stderr

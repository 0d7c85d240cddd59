"""Links in a pull request where smspec writes: nothing outside the project changes, in any command."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.git_repository import git
from support.local.local_jobs import LocalJob, script
from support.local.ordinary_user import USER, OrdinaryJob, ended, kind_of
from support.sampled_cases import left_out

COMMANDS = {
    "run": ["run", "--engine", "process"],
    "rehearse": ["rehearse", "--engine", "process", "--only", "spot"],
    "build": ["build"],
}
ABOVE = {"run": "run", "rehearse": "rehearsal", "build": "build"}
MARKER = '{"kind": "smspec run", "job": "job", "status": "Running"}\n'


def above(job: LocalJob, outside: Path, name: str) -> None:
    (job.directory / name).symlink_to(outside)


def relative(job: LocalJob, outside: Path, name: str) -> None:
    (job.directory / name).symlink_to(os.path.relpath(outside, job.directory))


def itself(job: LocalJob, outside: Path, name: str) -> None:
    (job.directory / name).mkdir()
    (job.directory / name / "job").symlink_to(outside)


def by_a_link(job: LocalJob, outside: Path, name: str) -> None:
    (job.directory / "other").symlink_to(outside)
    (job.directory / name).symlink_to("other")


def to_nothing(job: LocalJob, outside: Path, name: str) -> None:
    (job.directory / name).symlink_to(outside / "new")


def to_git(job: LocalJob, outside: Path, name: str) -> None:
    (job.directory / name).symlink_to(".git/hooks")


def inside(*names: str, target: str = "empty.py", marker: str | None = None):
    def plant(job: LocalJob, outside: Path, name: str) -> None:
        place = job.directory.joinpath(name, "job", *names)
        place.parent.mkdir(parents=True)
        place.symlink_to(outside / target)
        if marker is not None:
            (job.directory / name / "job/run.json").write_text(marker)

    return plant


WAYS = {
    "directory above": above,
    "relative link": relative,
    "directory": itself,
    "link to a link": by_a_link,
    "link to nothing": to_nothing,
    "link into git": to_git,
    "marker": inside("run.json"),
    "marker to a marker": inside("run.json", target="run.json"),
    "manifest": inside("manifest.json", target="manifest.json"),
    **{
        f"{name} of a run": inside(name, target="", marker=MARKER)
        for name in (
            "hosts",
            "interrupted",
            "logs",
            "model",
            "output",
            "upload",
            "trials",
            "summary.json",
            "report.html",
        )
    },
    "checkpoints": inside("interrupted/algo-1/opt/ml/checkpoints", target="", marker=MARKER),
    "log": inside("logs/algo-1.log", marker=MARKER),
    "archive": inside("model.tar.gz", marker=MARKER),
    "result of a rehearsal": inside("rehearsal.json", marker=MARKER),
}
REFUSED = ("directory above", "relative link", "directory", "link to a link", "link to nothing", "link into git")

CASES = [("run", way) for way in WAYS]
CASES += [("rehearse", way) for way in (*REFUSED, "marker", "result of a rehearsal", "trials of a run")]
CASES += [("build", way) for way in (*REFUSED, "manifest", "marker")]
OF_A_USER = ("directory above", "link to nothing", "marker", "hosts of a run", "archive", "manifest")
"""Root could write everywhere, so that its cases are those that no right ends; these show the same of a user."""


def state(directory: Path) -> dict[str, object]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in (directory, *sorted(directory.rglob("*")))
    }


@pytest.fixture(params=[LocalJob, OrdinaryJob], ids=["root", "user"])
def job(request):
    kind = kind_of(request)
    with tempfile.TemporaryDirectory(prefix="smspec-output-") as directory:
        os.chmod(directory, 0o755)
        made = kind(Path(os.path.realpath(directory)) / "job")
        script(made, "open('/dev/null')\n", 'checkpoints: "s3://models/c/"\n')
        outside = made.directory.parent / "outside"
        outside.mkdir()
        (outside / "empty.py").write_text("")
        (outside / "run.json").write_text(MARKER)
        (outside / "manifest.json").write_text("{}")
        git(made.directory, "init", "-q")
        yield made


@pytest.mark.parametrize(
    ("job", "command", "way"),
    [(LocalJob, *case) for case in CASES]
    + [(OrdinaryJob, *case) if case[1] in OF_A_USER else left_out(OrdinaryJob, *case) for case in CASES],
    indirect=["job"],
)
def test_nothing_outside_is_written(job, command, way):
    outside = job.directory.parent / "outside"
    WAYS[way](job, outside, ABOVE[command])
    git(job.directory, "add", "--all", "--force")
    if isinstance(job, OrdinaryJob):
        subprocess.run(["chown", "-R", "-h", f"{USER}:{USER}", str(outside)], check=True)
    before, hooks = state(outside), state(job.directory / ".git/hooks")
    done = ended(job, *COMMANDS[command])
    assert (state(outside), state(job.directory / ".git/hooks")) == (before, hooks), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1, 3), done.stderr
    if way in REFUSED:
        assert done.returncode == 3, done.stderr
        assert f"{'other' if way == 'other' else ABOVE[command]}" in done.stderr
        assert "is a link that git tracks, to `" in done.stderr
        assert "pass a different directory with -o" in done.stderr


@pytest.mark.parametrize("command", ["run", "build"])
def test_output_link_of_the_author_is_followed(job, command):
    """Git does not track it: a large disk is often reached so."""
    outside = job.directory.parent / "outside"
    above(job, outside, ABOVE[command])
    git(job.directory, "add", "job.yaml", "src")
    done = ended(job, *COMMANDS[command])
    assert done.returncode == 0, done.stderr
    assert (outside / "job").is_dir()

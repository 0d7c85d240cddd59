"""`smspec init`: every template validates and runs; no file is overwritten."""

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
import yaml

from smspec.cli import init
from support.smspec_command import smspec, smspec_process


@pytest.mark.parametrize("template", init.TEMPLATES)
def test_template_validates_and_builds(template, tmp_path):
    done = smspec("init", "first", "--template", template, cwd=tmp_path)
    assert done.status == 0
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert sorted(done.out.splitlines()) == written
    assert {"first/job.yaml", "first/.smspec.schema.json"} <= set(written)
    job = tmp_path / "first"
    assert smspec("validate", "--strict", cwd=job).status == 0
    assert smspec("build", cwd=job).status == 0
    assert (job / "build/first/Dockerfile").is_file()


@pytest.mark.parametrize("template", ["script", "pipe"])
def test_template_runs(template, tmp_path):
    smspec("init", "first", "--template", template, cwd=tmp_path)
    done = smspec_process("run", cwd=tmp_path / "first", timeout=120)
    assert done.status == 0, done.err
    with tarfile.open(tmp_path / "first/run/first/model.tar.gz") as model:
        names = [member.name for member in model if member.isfile()]
    assert [os.path.basename(name) for name in names] == ["model.json"]


def test_template_with_torchrun_runs(tmp_path):
    if not shutil.which("torchrun"):
        pytest.skip("no torchrun on this machine")
    smspec("init", "first", "--template", "torchrun", cwd=tmp_path)
    assert smspec_process("run", cwd=tmp_path / "first", timeout=300).status == 0


def test_mpi_template_names_its_requirements(tmp_path):
    made = smspec("init", "first", "--template", "mpi", cwd=tmp_path)
    assert "smspec run        # needs Open MPI and its headers" in made.err
    done = smspec("run", "--engine", "process", cwd=tmp_path / "first")
    assert done.status == 3
    assert "it needs SSH between containers, and smspec starts processes" in done.err
    assert not (tmp_path / "first/run").exists()


def test_editors_find_the_schema_that_the_spec_names(tmp_path):
    smspec("init", cwd=tmp_path)
    first = (tmp_path / "job.yaml").read_text().splitlines()[0]
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert (tmp_path / schema).read_text() == smspec("schema").out


@pytest.mark.parametrize(
    ("directory", "name"),
    [
        ("bert", "bert"),
        ("My_Job 2", "my-job-2"),
        ("日本", "example"),
        ("-x-", "x"),
        ("a" * 47 + "--b", "a" * 47),
        ("2026", "2026"),
        ("null", "null"),
    ],
)
def test_job_is_named_after_its_directory(directory, name, tmp_path):
    smspec("init", f"./{directory}", cwd=tmp_path)
    assert yaml.safe_load((tmp_path / directory / "job.yaml").read_text())["name"] == name
    assert smspec("validate", f"./{directory}/job.yaml", cwd=tmp_path).status == 0


@pytest.mark.parametrize("there", ["job.yaml", "src/train.py", "data/train/points-0.csv"])
def test_init_overwrites_no_file(there, tmp_path):
    mine = tmp_path / there
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    done = smspec("init", "--template", "script", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert f"`./{there}` already exists" in done.err
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
    assert mine.read_text() == "mine"


def test_dangling_link_is_not_written_through(tmp_path):
    (tmp_path / "job.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert smspec("init", cwd=tmp_path).status == 1
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_unwritable_directory_is_unchanged(tmp_path):
    (tmp_path / "data").write_text("a file where a directory should be")
    done = smspec("init", cwd=tmp_path)
    assert (done.status, done.out) == (3, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


def test_directory_with_other_files_is_accepted(tmp_path):
    (tmp_path / "README.md").write_text("ours")
    assert smspec("init", cwd=tmp_path).status == 0


def test_every_template_directory_is_offered():
    root = Path(init.__file__).parent / "templates"
    assert sorted(path.name for path in root.iterdir()) == sorted(init.TEMPLATES)


def test_schema_of_the_templates_is_json():
    assert json.loads(smspec("schema").out)["title"]


def test_one_schema_serves_all_jobs_of_a_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".smspec.schema.json").write_text(smspec("schema").out)
    assert smspec("init", "jobs/team/first", cwd=tmp_path).status == 0
    job = tmp_path / "jobs/team/first"
    first = (job / "job.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../../.smspec.schema.json"
    assert (job / first.partition("=")[2]).samefile(tmp_path / ".smspec.schema.json")
    assert not (job / ".smspec.schema.json").exists()
    assert smspec("validate", "--strict", cwd=job).status == 0


@pytest.mark.parametrize("marker", [None, "jobs/.git"])
def test_schema_outside_the_repository_is_not_referenced(marker, tmp_path):
    (tmp_path / ".smspec.schema.json").write_text("{}")
    if marker:
        (tmp_path / marker).mkdir(parents=True)
    assert smspec("init", "jobs/first", cwd=tmp_path).status == 0
    job = tmp_path / "jobs/first"
    assert (job / ".smspec.schema.json").read_text() == smspec("schema").out
    assert (job / "job.yaml").read_text().startswith("# yaml-language-server: $schema=.smspec.schema.json\n")

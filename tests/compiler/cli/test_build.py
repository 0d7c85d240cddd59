"""`smspec build`: the build directory, replaced files, and --check."""

import json
import os

import pytest

from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec, smspec_process

OVERLAID = BUILT + "overlays: {dev: {hosts: {count: 2}}}\n"


def below(directory):
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def test_build_prints_its_path_below_the_current_directory(tmp_path):
    write_job(tmp_path / "spec")
    done = smspec("build", "spec/job.yaml", cwd=tmp_path)
    tree = tmp_path / "build" / "small"
    files = below(tree)
    assert (done.status, done.out, done.err) == (
        0,
        "build/small\n",
        f"wrote {len(files)} files\ncost ceiling: 24 instance hours\n",
    )
    assert {"Dockerfile", ".dockerignore", "entrypoint.py", "run_plan.json", "source/train.py"} <= set(files)
    manifest = json.loads(files["manifest.json"])
    assert set(manifest["files"]) == set(files) - {"manifest.json"}


def test_build_suggests_copying_upload_to_s3(tmp_path):
    write_job(tmp_path, READY + "source: src/\nentry_point: train.py\n")
    done = smspec("build", cwd=tmp_path)
    assert "copy `upload/` to S3; `uploads` in manifest.json lists the URI of each file" in done.err


def test_overlay_is_built_into_a_separate_directory(tmp_path):
    write_job(tmp_path, OVERLAID)
    assert smspec("build", "-O", "dev", cwd=tmp_path).out == "build/small.dev\n"
    payload = json.loads((tmp_path / "build/small.dev/create-training-job.json").read_text())
    assert payload["ResourceConfig"]["InstanceCount"] == 2


def test_option_o_sets_the_build_directory(tmp_path):
    write_job(tmp_path)
    assert smspec("build", "-o", "a/b", cwd=tmp_path).out == "a/b\n"
    assert (tmp_path / "a/b/Dockerfile").is_file()


def test_comment_leaves_a_build_up_to_date(tmp_path):
    spec = write_job(tmp_path)
    smspec("build", cwd=tmp_path)
    spec.write_text("# why\n" + spec.read_text() + "description: new words\n")
    assert smspec("build", "--check", cwd=tmp_path).status == 0


def test_check_lists_stale_files_and_writes_none(tmp_path):
    write_job(tmp_path)
    done = smspec("build", "--check", cwd=tmp_path)
    assert done.status == 1
    assert "Dockerfile: missing\n" in done.out
    assert done.err == "build/small is out of date; run `smspec build`\n"
    assert not (tmp_path / "build").exists()

    smspec("build", cwd=tmp_path)
    assert smspec("build", "--check", cwd=tmp_path) == (0, "", "build/small is up to date\n")

    (tmp_path / "build/small/stray").write_text("")
    (tmp_path / "build/small/Dockerfile").write_text("FROM scratch\n")
    before = below(tmp_path)
    done = smspec("build", "--check", cwd=tmp_path)
    assert (done.status, done.out) == (1, "Dockerfile: changed\nstray: unlisted\n")
    assert below(tmp_path) == before


def test_comment_in_the_spec_keeps_a_build_current(tmp_path):
    write_job(tmp_path)
    smspec("build", cwd=tmp_path)
    write_job(tmp_path, "# reviewed twice\n" + BUILT)
    assert smspec("build", "--check", cwd=tmp_path).status == 0


@pytest.mark.parametrize("command", [["build"], ["build", "--check"]])
def test_build_repeats_when_source_contains_its_output(command, tmp_path):
    """`source: .` with the default output below it: what comes out never goes in."""
    write_job(tmp_path, BUILT.replace("src/", ".").replace("train.py", "src/train.py"))
    smspec("build", cwd=tmp_path)
    first = below(tmp_path / "build")
    assert smspec(*command, cwd=tmp_path).status == 0
    assert below(tmp_path / "build") == first
    assert not [name for name in first if "source/build" in name or name.endswith("job.yaml")]


def test_build_refuses_to_overwrite_foreign_files(tmp_path):
    write_job(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("the only copy")
    done = smspec("build", "-o", "mine", cwd=tmp_path)
    assert (done.status, done.out) == (1, "")
    assert done.err == "smspec: refusing to overwrite `mine/thesis.tex`: smspec did not create it\n"
    assert below(tmp_path / "mine") == {"thesis.tex": b"the only copy"}


def test_unwritable_directory_exits_3(tmp_path):
    write_job(tmp_path)
    done = smspec("build", "-o", "/proc/small", cwd=tmp_path)
    assert (done.status, done.out) == (3, "")
    assert done.err.startswith("smspec: cannot write `")


def test_umask_changes_only_file_modes(tmp_path):
    write_job(tmp_path)
    before = os.umask(0o077)
    try:
        smspec("build", "-o", "one", cwd=tmp_path)
    finally:
        os.umask(before)
    smspec("build", "-o", "two", cwd=tmp_path)
    assert below(tmp_path / "one") == below(tmp_path / "two")


def test_run_next_to_the_source_keeps_a_build_current(tmp_path):
    write_job(tmp_path, BUILT.replace("src/", ".").replace("train.py", "src/train.py"))
    smspec("build", cwd=tmp_path)
    assert smspec_process("run", cwd=tmp_path).status == 0
    assert (tmp_path / "run/small/run.json").is_file()
    assert smspec("build", "--check", cwd=tmp_path) == (0, "", "build/small is up to date\n")


def test_json_result_describes_the_build(tmp_path):
    write_job(tmp_path, READY + "source: src/\nentry_point: train.py\n")
    done = smspec("build", "-q", "--format", "json", cwd=tmp_path)
    report = json.loads(done.out)
    manifest = json.loads((tmp_path / "build/small/manifest.json").read_text())
    request = json.loads((tmp_path / "build/small/create-training-job.json").read_text())
    assert (done.status, done.err) == (0, "")
    assert {key: report[key] for key in ("status", "directory", "training_job_name", "uploads", "image")} == {
        "status": "written",
        "directory": "build/small",
        "training_job_name": request["TrainingJobName"],
        "uploads": manifest["uploads"],
        "image": None,
    }
    assert set(report["files"]) == set(below(tmp_path / "build/small"))
    assert report["cost_ceiling"] == {"instance_seconds": 86400, "amounts": {}}

    assert json.loads(smspec("build", "--check", "--format", "json", cwd=tmp_path).out)["status"] == "up to date"
    (tmp_path / "build/small/create-training-job.json").unlink()
    done = smspec("build", "--check", "--format", "json", cwd=tmp_path)
    assert done.status == 1
    assert json.loads(done.out)["differences"] == [{"path": "create-training-job.json", "kind": "missing"}]


def test_verbosity_of_build(tmp_path):
    write_job(tmp_path)
    assert smspec("build", "-q", cwd=tmp_path) == (0, "build/small\n", "")
    files = below(tmp_path / "build/small")
    listed = smspec("build", "-v", cwd=tmp_path).err.partition("wrote")[0].split()
    assert set(listed) == set(files)
    assert smspec("build", "-q", "--check", cwd=tmp_path) == (0, "", "")
    (tmp_path / "build/small/Dockerfile").write_text("")
    done = smspec("build", "-q", "--check", cwd=tmp_path)
    assert done == (1, "Dockerfile: changed\n", "build/small is out of date; run `smspec build`\n")

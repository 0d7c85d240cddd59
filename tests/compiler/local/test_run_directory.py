"""Ownership and replacement of the run directory."""

from __future__ import annotations

import os

import pytest

from smspec.local.request import RunFailed
from smspec.local.run_directory import claim


def test_new_directory_is_made(tmp_path):
    directory = claim(str(tmp_path / "run" / "job"), "job")
    assert sorted(os.listdir(directory.root)) == ["logs", "run.json"]
    directory.release()


def test_earlier_run_is_replaced(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    first.host("algo-1").make()
    with open(first.path("model.tar.gz"), "w") as model:
        model.write("old")
    first.mark("job", "Completed")
    first.release()
    second = claim(str(tmp_path / "run"), "job")
    assert sorted(os.listdir(second.root)) == ["logs", "run.json"]
    second.release()


def test_foreign_directory_is_not_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunFailed, match="smspec did not create it") as refused:
        claim(str(tmp_path), "job")
    assert refused.value.exit_status == 1
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_foreign_file_in_a_run_directory_is_not_touched(tmp_path):
    claim(str(tmp_path / "run"), "job").release()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    with pytest.raises(RunFailed, match=r"contains `notes\.txt`"):
        claim(str(tmp_path / "run"), "job")
    assert sorted(os.listdir(tmp_path / "run")) == ["logs", "notes.txt", "run.json"]


def test_run_killed_at_its_first_step_is_replaced(tmp_path):
    (tmp_path / "run.json").write_text("")
    claim(str(tmp_path), "job").release()


def test_files_planted_by_a_script_are_removed(tmp_path):
    """A link in the place of a result would lead to a file of the author."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run").mkdir()
    directory = claim(str(tmp_path / "run"), "job")
    os.symlink(tmp_path / "mine", directory.path("summary.json"))
    with open(directory.vacant("summary.json"), "w") as file:
        file.write("summary")
    assert (tmp_path / "mine").read_text() == "mine"
    os.rename(tmp_path / "run", tmp_path / "moved")
    os.symlink(tmp_path, tmp_path / "run")
    with pytest.raises(RunFailed, match="the script replaced"):
        directory.vacant("mine")
    directory.release()


@pytest.mark.parametrize("content", ["[]", "{}", '{"kind": "other"}', "\0"])
def test_foreign_run_json_is_not_a_marker(tmp_path, content):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunFailed, match="smspec did not create it"):
        claim(str(tmp_path), "job")
    assert (tmp_path / "run.json").read_text() == content


def test_run_in_progress_is_not_replaced(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    with pytest.raises(RunFailed, match="a different run is using"):
        claim(str(tmp_path / "run"), "job")
    first.release()
    claim(str(tmp_path / "run"), "job").release()


@pytest.mark.parametrize("kept", ["", "there", "there/run"])
def test_discard_removes_parents_that_the_run_created(tmp_path, kept):
    (tmp_path / kept).mkdir(parents=True, exist_ok=True)
    claim(str(tmp_path / "there" / "run" / "job"), "job").discard()
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == {
        "": [],
        "there": ["there"],
        "there/run": ["there", "there/run"],
    }[kept]


def test_discard_keeps_foreign_files(tmp_path):
    directory = claim(str(tmp_path / "run" / "job"), "job")
    (tmp_path / "run" / "other").mkdir()
    directory.discard()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["other"]


def test_discard_removes_the_run_directory(tmp_path):
    directory = claim(str(tmp_path / "run"), "job")
    directory.host("algo-1").make()
    directory.discard()
    directory.release()
    assert os.listdir(tmp_path) == []


def test_replacing_does_not_follow_links(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("")
    directory = claim(str(tmp_path / "run"), "job")
    os.symlink(tmp_path / "precious", directory.path("hosts"))
    directory.release()
    claim(str(tmp_path / "run"), "job").release()
    assert (tmp_path / "precious" / "file").exists()


def test_interrupted_run_is_kept_for_the_same_job(tmp_path):
    def run(status):
        directory = claim(str(tmp_path / "run"), "job")
        directory.host("algo-1").make()
        restored = directory.restore("algo-1", "opt", "ml", "checkpoints")
        directory.forget_interrupted()
        with open(os.path.join(directory.host("algo-1").base, "checkpoints", "model"), "a") as file:
            file.write("x")
        directory.mark("job", status)
        directory.release()
        return restored

    assert [run(status) for status in ("Running", "Stopped", "Failed", "Completed", "Failed")] == [
        False,
        True,
        True,
        True,
        False,
    ]
    other = claim(str(tmp_path / "run"), "other")
    assert sorted(os.listdir(other.root)) == ["logs", "run.json"]
    other.release()


def test_discarded_run_restores_the_interrupted_one(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    first.host("algo-1").make()
    (tmp_path / "run/hosts/algo-1/opt/ml/checkpoints/model").write_text("x")
    first.release()
    second = claim(str(tmp_path / "run"), "job")
    second.host("algo-1").make()
    second.discard()
    second.release()
    assert (tmp_path / "run/hosts/algo-1/opt/ml/checkpoints/model").read_text() == "x"


def test_link_instead_of_checkpoints_is_not_followed(tmp_path):
    first = claim(str(tmp_path / "run"), "job")
    first.host("algo-1").make()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/precious").touch()
    (tmp_path / "run/hosts/algo-1/opt/ml/checkpoints").rmdir()
    (tmp_path / "run/hosts/algo-1/opt/ml/checkpoints").symlink_to(tmp_path / "elsewhere")
    first.release()
    second = claim(str(tmp_path / "run"), "job")
    second.host("algo-1").make()
    assert not second.restore("algo-1", "opt", "ml", "checkpoints")
    second.forget_interrupted()
    second.release()
    assert (tmp_path / "elsewhere/precious").exists()

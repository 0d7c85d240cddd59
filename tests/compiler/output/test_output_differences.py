"""Comparison of a directory with a build."""

import pytest

from smspec.output.atomic_file import OutputFailed
from smspec.output.writing import differences, write_tree
from smspec.plan import Upload
from smspec.render.tree_rendering import render_tree
from support.render.plan_samples import SOURCE_FILES, build_inputs, plan


@pytest.fixture
def tree(tmp_path):
    upload = Upload(kind="source", uri="s3://bucket/sourcedir.tar.gz", archive=True)
    return render_tree(plan(uploads=(upload,)), build_inputs(tmp_path / "made", SOURCE_FILES), "5" * 64)


@pytest.fixture
def out(tmp_path, tree):
    write_tree(tree, str(tmp_path / "job"))
    return tmp_path / "job"


def found(tree, out):
    return [str(difference) for difference in differences(tree, str(out))]


def test_equal_directory_has_no_difference(tree, out):
    assert found(tree, out) == []


def test_every_kind_of_difference_is_reported(tree, out):
    (out / "Dockerfile").write_text("FROM other\n")
    (out / "entrypoint.py").unlink()
    (out / "source/bin/go").chmod(0o644)
    (out / "source/train.py").chmod(0o755)
    (out / "notes.txt").touch()
    (out / "empty/deeper").mkdir(parents=True)
    (out / "run_plan.json").rename(out / "elsewhere.json")
    (out / "run_plan.json").symlink_to("elsewhere.json")
    (out / "upload/sourcedir.tar.gz").write_bytes(b"")
    assert found(tree, out) == [
        "Dockerfile: changed",
        "elsewhere.json: unlisted",
        "empty/deeper: unlisted",
        "entrypoint.py: missing",
        "notes.txt: unlisted",
        "run_plan.json: changed",
        "source/bin/go: changed",
        "source/train.py: changed",
        "upload/sourcedir.tar.gz: changed",
    ]


def test_changed_source_makes_the_directory_stale(tmp_path, tree, out):
    changed = build_inputs(tmp_path / "changed", {**SOURCE_FILES, "train.py": b"print('better')\n"})
    newer = render_tree(plan(), changed, "5" * 64)
    assert found(newer, out) == [
        "manifest.json: changed",
        "source/train.py: changed",
        "upload/sourcedir.tar.gz: unlisted",
    ]


def test_missing_directory_is_reported(tmp_path, tree):
    assert found(tree, tmp_path / "nowhere") == [f"{file.path}: missing" for file in tree.files]


def test_vanished_source_of_an_archive_is_reported(tmp_path, tree, out):
    (tmp_path / "made/source/train.py").unlink()
    with pytest.raises(OutputFailed, match=r"train\.py"):
        differences(tree, str(out))

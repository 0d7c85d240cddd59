"""A tree is written completely or not at all, and replaces no foreign file."""

import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from smspec.output.atomic_file import OutputFailed, OutputRefused
from smspec.output.writing import differences, write_temporary_tree, write_tree
from smspec.plan import Upload
from smspec.render.image_settings import EPOCH
from smspec.render.tree import CopiedFile, FileTree, GeneratedFile
from smspec.render.tree_rendering import render_tree
from support.render.plan_samples import SOURCE_FILES, build_inputs, image_plan, plan


@pytest.fixture
def tree(tmp_path):
    return render_tree(plan(), build_inputs(tmp_path / "made"), "5" * 64)


def contents(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def beside(directory):
    return sorted(path.name for path in directory.parent.iterdir())


def test_directory_contains_the_files_of_the_tree(tmp_path):
    upload = Upload(kind="source", uri="s3://bucket/sourcedir.tar.gz", archive=True)
    made = build_inputs(tmp_path / "made", SOURCE_FILES)
    tree = render_tree(plan(image=image_plan(), uploads=(upload,)), made, "5" * 64)
    out = tmp_path / "build/job"
    write_tree(tree, str(out))
    assert set(contents(out)) == {file.path for file in tree.files}
    assert contents(out)["source/bin/go"] == SOURCE_FILES["bin/go"]
    manifest = json.loads((out / "manifest.json").read_text())
    written = contents(out)
    del written["manifest.json"]
    assert manifest["files"] == {path: hashlib.sha256(written[path]).hexdigest() for path in written}
    assert beside(out) == ["job"]


def test_only_builds_are_synced_to_disk(tmp_path, tree, monkeypatch):
    """Each fsync waits for all that the disk has yet to write."""
    fsync, synced = os.fsync, []
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), fsync(descriptor)))
    write_temporary_tree(tree, str(tmp_path / "temporary"))
    assert not synced
    write_tree(tree, str(tmp_path / "job"))
    assert len(synced) > len(tree.files)
    assert contents(tmp_path / "temporary") == contents(tmp_path / "job")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux syncs one file system")
def test_many_files_are_synced_at_once(tmp_path, monkeypatch):
    many = {f"data/{number}.txt": b"x" for number in range(250)}
    tree = render_tree(plan(), build_inputs(tmp_path / "made", SOURCE_FILES | many), "5" * 64)
    fsync, synced = os.fsync, []
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), fsync(descriptor)))
    write_tree(tree, str(tmp_path / "job"))
    assert len(synced) == 1  # the directory above, after the rename
    assert set(contents(tmp_path / "job")) == {file.path for file in tree.files}


def test_temporary_tree_reports_write_errors(tmp_path, tree):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputFailed, match="cannot write"):
        write_temporary_tree(tree, str(tmp_path / "file"))


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_modes_do_not_depend_on_the_umask(tmp_path, umask):
    tree = render_tree(plan(), build_inputs(tmp_path / "made", SOURCE_FILES), "5" * 64)
    out = tmp_path / "job"
    before = os.umask(umask)
    try:
        write_tree(tree, str(out))
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o7777 for path in [out, *out.rglob("*")] if path.is_dir()} == {0o755}
    modes = {str(path.relative_to(out)): path.stat().st_mode & 0o7777 for path in out.rglob("*") if path.is_file()}
    assert {path for path, mode in modes.items() if mode == 0o755} == {"source/bin/go"}
    assert set(modes.values()) == {0o755, 0o644}


def test_smspec_tree_is_replaced(tmp_path, tree):
    out = tmp_path / "job"
    write_tree(tree, str(out))
    (out / "Dockerfile").write_text("changed by hand")
    (out / "source/train.py").unlink()
    other = render_tree(plan(), build_inputs(tmp_path / "other", {"other.py": b""}), "6" * 64)
    write_tree(other, str(out))
    assert set(contents(out)) == {file.path for file in other.files}
    assert beside(out) == ["job", "made", "other"]


def test_empty_directory_is_filled(tmp_path, tree):
    out = tmp_path / "job"
    out.mkdir()
    write_tree(tree, str(out))
    assert differences(tree, str(out)) == []


@pytest.mark.parametrize("stranger", ["notes.txt", "source/notes.txt", "empty", "link", ".hidden"])
def test_foreign_file_is_named_and_kept(tmp_path, tree, stranger):
    out = tmp_path / "job"
    write_tree(tree, str(out))
    if stranger == "empty":
        (out / stranger).mkdir()
    elif stranger == "link":
        (out / stranger).symlink_to("Dockerfile")
    else:
        (out / stranger).write_text("mine")
    before = contents(out)
    with pytest.raises(OutputRefused, match=f"refusing to overwrite `{out}/{stranger}`"):
        write_tree(tree, str(out))
    assert contents(out) == before
    assert beside(out) == ["job", "made"]


@pytest.mark.parametrize("manifest", [None, "{}", "[]", "not json", '{"files": {}}', '{"smspec": "1", "files": []}'])
def test_directory_without_a_manifest_is_foreign(tmp_path, tree, manifest):
    out = tmp_path / "job"
    out.mkdir()
    (out / "precious").write_text("data")
    if manifest is not None:
        (out / "manifest.json").write_text(manifest)
    with pytest.raises(OutputRefused):
        write_tree(tree, str(out))
    assert (out / "precious").read_text() == "data"


def test_directory_with_a_linked_manifest_is_foreign(tmp_path, tree):
    out = tmp_path / "job"
    write_tree(tree, str(out))
    (out / "manifest.json").rename(tmp_path / "manifest.json")
    (out / "manifest.json").symlink_to(tmp_path / "manifest.json")
    with pytest.raises(OutputRefused):
        write_tree(tree, str(out))


def test_file_in_the_way_is_not_replaced(tmp_path, tree):
    (tmp_path / "job").write_text("mine")
    with pytest.raises(OutputRefused, match="is a file"):
        write_tree(tree, str(tmp_path / "job"))
    assert (tmp_path / "job").read_text() == "mine"


def test_path_below_a_file_is_reported(tmp_path, tree):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputFailed, match="file"):
        write_tree(tree, str(tmp_path / "file/job"))


def test_link_to_a_directory_is_followed(tmp_path, tree):
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to("real")
    write_tree(tree, str(tmp_path / "alias"))
    assert (tmp_path / "alias").is_symlink()
    assert differences(tree, str(tmp_path / "real")) == []


def test_file_changed_since_listing_is_reported(tmp_path, tree):
    """The request and the tag name the old content: a build of the new one would be a lie."""
    out = tmp_path / "build/job"
    (tmp_path / "made/source/train.py").write_text("print('newer')\n")
    with pytest.raises(OutputFailed, match=r"train\.py` changed while"):
        write_tree(tree, str(out))
    assert not (tmp_path / "build").exists()


def test_file_removed_since_listing_is_reported(tmp_path, tree):
    (tmp_path / "made/source/train.py").unlink()
    out = tmp_path / "job"
    with pytest.raises(OutputFailed, match=r"train\.py`: no such file"):
        write_tree(tree, str(out))
    assert beside(out) == ["made"]


def test_remains_of_killed_builds_are_removed(tmp_path, tree):
    left = tmp_path / ".smspec-tmp-99999999-00/source"
    left.mkdir(parents=True)
    (left / "train.py").touch()
    write_tree(tree, str(tmp_path / "job"))
    assert beside(tmp_path / "job") == ["job", "made"]


def build_often(tree, out, times):
    for _ in range(times):
        write_tree(tree, out)


def test_concurrent_builds_do_not_disturb_each_other(tmp_path):
    out = tmp_path / "job"
    trees = [render_tree(plan(), build_inputs(tmp_path / str(n), {f"{n}.py": b"x"}), str(n)) for n in range(3)]
    context = multiprocessing.get_context("fork")
    builds = [context.Process(target=build_often, args=(tree, str(out), 15)) for tree in trees]
    for build in builds:
        build.start()
    whole = [{file.path for file in tree.files} for tree in trees]
    seen = 0
    while any(build.is_alive() for build in builds):
        descriptor = os.open(out, os.O_RDONLY | os.O_DIRECTORY) if out.exists() else None
        if descriptor is not None:
            # Through a descriptor, so that every look is at one directory; one that was replaced may be on its way out.
            names = set(os.listdir(descriptor))
            assert not names or names <= {path.partition("/")[0] for files in whole for path in files}
            os.close(descriptor)
            seen += 1
    for build in builds:
        build.join()
        assert build.exitcode == 0
    assert seen
    assert set(contents(out)) in whole
    assert beside(out) == ["0", "1", "2", "job"]


def test_ctrl_c_removes_the_unfinished_tree(tmp_path):
    """Interrupted while it copies a source file of 8 GiB of holes, which takes longer than the signal."""
    (tmp_path / "slow").touch()
    os.truncate(tmp_path / "slow", 8 << 30)
    script = (
        "import sys\n"
        "from smspec.output.writing import write_temporary_tree, write_tree\n"
        "from smspec.render.tree import CopiedFile, FileTree\n"
        "from smspec.source import ListedFile\n"
        "file = ListedFile(path='slow', origin=sys.argv[1], executable=False, size=1, sha256='0')\n"
        "write_tree(FileTree((CopiedFile(path='slow', file=file),)), sys.argv[2])\n"
    )
    out = tmp_path / "build/deep/job"
    process = subprocess.Popen([sys.executable, "-c", script, tmp_path / "slow", out], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("build/deep/.smspec-tmp-*/slow")):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert b"KeyboardInterrupt" in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slow"]


def test_system_without_exchange_renames_two_times(tmp_path, tree, monkeypatch):
    """Not Linux, or a file system that cannot swap two names."""
    monkeypatch.setattr("smspec.output.writing._RENAME_EXCHANGE", 1 << 30)  # a flag no kernel knows: EINVAL
    out = tmp_path / "job"
    write_tree(tree, str(out))
    other = render_tree(plan(), build_inputs(tmp_path / "other", {"other.py": b""}), "6" * 64)
    write_tree(other, str(out))
    assert differences(other, str(out)) == []
    assert beside(out) == ["job", "made", "other"]


def test_times_show_content_below_one_second(tmp_path):
    times = []
    for name, content in (("a", b"rate = 1e-3"), ("b", b"rate = 1e-4"), ("c", b"rate = 1e-3")):
        write_temporary_tree(FileTree((GeneratedFile(path="x", content=content),)), str(tmp_path / name))
        times.append((tmp_path / name / "x").stat().st_mtime_ns)
    assert times[0] == times[2] != times[1]
    assert {time // 10**9 for time in times} == {EPOCH}


def test_generated_file_may_be_executable(tmp_path):
    tree = FileTree((GeneratedFile(path="go", content=b"", executable=True),))
    write_tree(tree, str(tmp_path / "job"))
    assert os.access(tmp_path / "job/go", os.X_OK)


def test_equal_trees_have_equal_bytes(tmp_path):
    first = render_tree(plan(), build_inputs(tmp_path / "a", SOURCE_FILES), "5" * 64)
    second = render_tree(plan(), build_inputs(tmp_path / "b" / "deeper", SOURCE_FILES), "5" * 64)
    write_tree(first, str(tmp_path / "one"))
    write_tree(second, str(tmp_path / "two"))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert any(isinstance(file, CopiedFile) for file in first.files)


def test_foreign_directory_is_not_searched(tmp_path, tree):
    """It may be a home directory or the whole disk; what cannot be read in it is of no interest."""
    out = tmp_path / "job"
    (out / "a" / "deep").mkdir(parents=True)
    (out / "b").write_text("mine")
    with pytest.raises(OutputRefused, match=f"refusing to overwrite `{out}/a`"):
        write_tree(tree, str(out))


def test_source_that_becomes_a_fifo_is_reported(tmp_path):
    """A FIFO without a writer would be waited for without end."""
    made = build_inputs(tmp_path / "made", SOURCE_FILES)
    tree = render_tree(plan(image=image_plan()), made, "5" * 64)
    copied = next(file.file.origin for file in tree.files if isinstance(file, CopiedFile))
    os.unlink(copied)
    os.mkfifo(copied)
    with pytest.raises(OutputFailed, match="is not a file anymore"):
        write_tree(tree, str(tmp_path / "build/job"))

"""Files in Git LFS, and texts that only look like their pointers: git-lfs itself is not needed, and does not run."""

import hashlib

import pytest

from support.git_repository import commit, git, repository
from support.review.diff_outcomes import assert_changed, assert_unchanged
from support.small_job import write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs")
    commit(home)
    return home


def test_file_of_git_lfs_is_its_pointer(home, tmp_path):
    """git has the pointer, the working tree the file; git-lfs itself is not needed, and does not run."""
    content = b"weights" * 1000
    digest = hashlib.sha256(content).hexdigest()
    weights = home / "jobs/src/weights.bin"
    weights.write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n")
    commit(home)
    (home / ".gitattributes").write_text("*.bin filter=lfs -text\n")
    commit(home)
    git(home, "config", "filter.lfs.process", f"touch {tmp_path}/ran; false")
    git(home, "config", "filter.lfs.required", "true")
    assert_unchanged(home)
    weights.write_bytes(content)
    assert_unchanged(home)
    weights.write_bytes(content + b"!")
    assert_changed(home, {"code"})
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("attributes", ["", "*.bin filter=lfs\n", "later"])
@pytest.mark.parametrize("more", ["", "exec python3 train.py\n", "x y\n"])
def test_text_like_a_pointer_is_not_the_file_that_replaces_it(home, more, attributes):
    """A first pull request adds the text with the digest of what the second one puts in its place."""
    payload = b"import os; os.system('id')\n"
    digest = hashlib.sha256(payload).hexdigest()
    helper = home / "jobs/src/helper.py"
    version, rest = "version https://git-lfs.github.com/spec/v1\n", f"oid sha256:{digest}\nsize {len(payload)}\n"
    helper.write_text(version + (more if more == "x y\n" else "") + rest + (more if more != "x y\n" else ""))
    if attributes != "later":
        (home / ".gitattributes").write_text(attributes)
    commit(home)
    helper.write_bytes(payload)
    if attributes == "later":
        (home / ".gitattributes").write_text("*.py filter=lfs\n")
    git(home, "-c", "filter.lfs.clean=cat", "add", "-A")
    assert_changed(home, {"code"}, "HEAD")
    moved = home / "jobs/src/moved.py"
    helper.rename(moved)
    helper.write_text("")
    git(home, "-c", "filter.lfs.clean=cat", "add", "-A")
    assert_changed(home, {"code"}, "HEAD")


def test_file_of_git_lfs_moves_with_its_job(home):
    content = b"weights" * 1000
    pointer = f"oid sha256:{hashlib.sha256(content).hexdigest()}\nsize {len(content)}\n"
    (home / ".gitattributes").write_text("*.bin filter=lfs -text\n")
    (home / "jobs/src/weights.bin").write_text(f"version https://git-lfs.github.com/spec/v1\n{pointer}")
    commit(home)
    git(home, "mv", "jobs", "moved")
    (home / "moved/src/weights.bin").write_bytes(content)
    done = smspec("diff", "--base", "HEAD", ".", "--fail-on", "code", cwd=home)
    assert (done.status, "moved" in done.out) == (0, True), done.out


@pytest.mark.parametrize("has_lfs", [True, False])
@pytest.mark.parametrize("place", [".gitattributes", "jobs/src/.gitattributes"])
@pytest.mark.parametrize("is_added", [True, False])
def test_attribute_decides_what_a_pointer_is(home, is_added, place, has_lfs):
    """Where Git LFS is installed, an attribute that comes or goes replaces the text, or the file, and nothing else."""
    payload = b"import os; os.system('id')\n"
    helper = home / "jobs/src/helper.py"
    pointer = f"oid sha256:{hashlib.sha256(payload).hexdigest()}\nsize {len(payload)}\n"
    helper.write_text("version https://git-lfs.github.com/spec/v1\n" + pointer)
    (home / place).write_text("helper.py filter=lfs\n" if not is_added else "*.bin filter=lfs\n")
    git(home, "add", "-A")
    commit(home)
    (home / place).write_text("helper.py filter=lfs\n" if is_added else "*.bin filter=lfs\n")
    git(home, "add", ".gitattributes" if place == ".gitattributes" else place)
    if is_added and has_lfs:
        helper.write_bytes(payload)
    assert_changed(home, {"code"}, "HEAD")

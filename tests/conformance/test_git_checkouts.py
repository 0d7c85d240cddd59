"""Clones and working trees as users and CI make them: what has not changed is not reported, what has changed is."""

import json
import os
import shutil
import subprocess

import pytest

from support.git_repository import GIT_VERSION, IDENTITY, commit, git, repository
from support.review.diff_outcomes import assert_changed, assert_unchanged, kinds, rewrite
from support.small_job import BUILT, write_job
from support.smspec_command import smspec


@pytest.fixture
def home(tmp_path):
    home = repository(tmp_path / "home")
    write_job(home / "jobs", **{"src/notes.txt": "one\ntwo\n"})
    commit(home)
    return home


def edit(home, epochs=3):
    rewrite(home / "jobs/job.yaml", "epochs: 2", f"epochs: {epochs}")


def test_linked_working_tree_has_its_own_state(home, tmp_path):
    tree = tmp_path / "tree"
    git(home, "worktree", "add", "-q", "-b", "topic", str(tree))
    edit(home)
    assert_unchanged(tree, "main")
    edit(tree, 4)
    assert_changed(tree, {"hyperparameters"}, "main")


def test_bare_clone_with_working_trees_next_to_it(home, tmp_path):
    """The parent directory has a file `.git`, too, and no working tree."""
    top = tmp_path / "project"
    git(tmp_path, "clone", "-q", "--bare", str(home), str(top / ".bare"))
    (top / ".git").write_text("gitdir: ./.bare\n")
    git(top, "worktree", "add", "-q", "-b", "topic", "topic", "main")
    assert_unchanged(top / "topic", "main")
    edit(top / "topic")
    assert_changed(top / "topic", {"hyperparameters"}, "main")
    assert_changed(top, {"hyperparameters"}, "main", "topic/jobs")


def test_repository_that_is_kept_elsewhere(home, tmp_path):
    git(home, "init", "-q", f"--separate-git-dir={tmp_path / 'kept'}")
    assert (home / ".git").is_file()
    assert_unchanged(home)
    (home / ".git").unlink()
    (home / ".git").symlink_to(tmp_path / "kept")
    edit(home)
    assert_changed(home, {"hyperparameters"})


@pytest.fixture
def outer(home, tmp_path):
    """A repository with the other as its submodule `module`."""
    outer = repository(tmp_path / "outer")
    (outer / "README.md").write_text("outer\n")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(home), "module")
    commit(outer)
    return outer


def test_submodule_that_smspec_runs_in_has_its_own_state(outer):
    assert_unchanged(outer / "module")
    edit(outer / "module")
    assert_changed(outer / "module", {"hyperparameters"})
    assert_changed(outer / "module/jobs", {"hyperparameters"}, path=".")


def test_specs_of_a_submodule_are_compared(outer):
    write_job(outer / "z", BUILT.replace("name: small", "name: last"))
    base = commit(outer)
    assert smspec("validate", "--changed", base, ".", cwd=outer).err == (
        f"no changes since {base} affect any of 2 jobs\n"
    )
    done = smspec("diff", "--base", base, "--fail-on", "security", ".", cwd=outer)
    assert done == (0, "", "no differences\n")
    edit(outer / "module")
    git(outer / "module", *("-c", "user.name=a", "-c", "user.email=a@b"), "commit", "-q", "-a", "-m", "x")
    assert "checked 1 job" in smspec("validate", "--changed", base, ".", cwd=outer).err
    done = smspec("diff", "--base", base, "--format", "json", ".", cwd=outer)
    assert [(job["job"], job["status"]) for job in json.loads(done.out)] == [("small", "changed")]
    assert kinds(done) >= {"hyperparameters"}


def test_specs_of_a_submodule_without_its_old_commit_are_new(outer, tmp_path):
    """So it is in CI, which clones no history of submodules."""
    edit(outer / "module")
    shutil.copytree(outer / "module/jobs", outer / "module/.more/jobs")
    commit(outer / "module")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{outer}/module", str(tmp_path / "shallow"))
    shutil.rmtree(outer / "module")
    shutil.move(tmp_path / "shallow", outer / "module")
    done = smspec("diff", "--base", "main", "--format", "json", ".", cwd=outer)
    found = [(job["file"], job["status"]) for job in json.loads(done.out)]
    more = "module/.more/jobs/job.yaml"
    assert found == [(more, "changed"), ("module/jobs/job.yaml", "added"), (more, "added")]


@pytest.mark.parametrize("key", ["source", "extends"])
def test_part_of_a_job_in_a_submodule_is_compared(outer, key):
    (outer / "module/org.yaml").write_text("smspec: v1\ntags: {team: ads}\n")
    commit(outer / "module")
    text = BUILT.replace("source: src/", "source: ../module/jobs/src/")
    write_job(outer / "own", text.replace("smspec: v1\n", "smspec: v1\nextends: [../module/org.yaml]\n", 1))
    commit(outer)
    assert_unchanged(outer, path="own")
    rewrite(outer / "own/job.yaml", "epochs: 2", "epochs: 3")
    assert_changed(outer, {"hyperparameters"}, path="own")
    if key == "source":
        (outer / "module/jobs/src/train.py").write_text("print('other')\n")
    else:
        (outer / "module/org.yaml").write_text("smspec: v1\ntags: {team: search}\n")
    commit(outer / "module")
    assert_changed(outer, {"code" if key == "source" else "job"}, path="own")


def test_path_in_a_submodule_is_refused_with_the_way_out(outer):
    for words in (["diff", "--base", "main"], ["validate", "--changed", "main"]):
        done = smspec(*words, "module/jobs", cwd=outer)
        assert done == (
            3,
            "",
            f"smspec: `{outer}/module` is a git repository inside `{outer}`, which tracks it: "
            "run smspec there to use its history\n",
        )


def test_clone_that_the_outer_repository_does_not_track_is_used(home, tmp_path):
    """Home directories are often repositories themselves."""
    outer = repository(tmp_path / "dotfiles")
    (outer / ".bashrc").write_text("\n")
    commit(outer)
    git(outer, "clone", "-q", str(home), "work/project")
    assert_unchanged(outer, "main", "work/project/jobs")
    edit(outer / "work/project")
    assert_changed(outer, {"hyperparameters"}, "main", "work/project/jobs")


def test_shallow_clone_has_its_last_commit(home, tmp_path):
    first = git(home, "rev-parse", "HEAD")
    edit(home)
    commit(home)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", home.as_uri(), str(clone))
    assert_unchanged(clone)
    done = smspec("diff", "--base", first, "jobs", cwd=clone)
    assert done.status == 3 and "git fetch --unshallow" in done.err
    git(clone, "fetch", "-q", "--unshallow")
    assert_changed(clone, {"hyperparameters"}, first)


@pytest.mark.skipif(GIT_VERSION < (2, 36), reason="needs git 2.36")
def test_partial_clone_is_refused_with_what_to_run(home, tmp_path):
    first = git(home, "rev-parse", "HEAD")
    edit(home)
    commit(home)
    git(home, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=blob:none", home.as_uri(), str(clone))
    assert_unchanged(clone)
    done = smspec("diff", "--base", first, "jobs", cwd=clone)
    assert done.status == 3 and "run `git fetch --refetch --no-filter`" in done.err
    assert "checked 1 job" in smspec("validate", "--changed", first, "jobs", cwd=clone).err  # needs no contents
    git(clone, "fetch", "-q", "--refetch", "--no-filter")
    assert_changed(clone, {"hyperparameters"}, first)


@pytest.mark.skipif(GIT_VERSION < (2, 27), reason="needs git 2.27")
def test_clone_without_trees_is_refused_with_what_to_run(home, tmp_path):
    first = git(home, "rev-parse", "HEAD")
    edit(home)
    commit(home)
    git(home, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--filter=tree:0", home.as_uri(), str(clone))
    for words in (["diff", "--base", first], ["validate", "--changed", first]):
        done = smspec(*words, "jobs", cwd=clone)
        assert done.status == 3 and "run `git fetch --refetch --no-filter`" in done.err, done


@pytest.mark.skipif(GIT_VERSION < (2, 35), reason="needs git 2.35")
@pytest.mark.parametrize("has_cone", [True, False])
def test_sparse_checkout_lacks_no_file(home, has_cone):
    write_job(home / "other", BUILT.replace("name: small", "name: other"))
    commit(home)
    words = ["--cone"] if has_cone else ["--no-cone"]
    git(home, "sparse-checkout", "set", *words, "jobs")
    assert not (home / "other").exists()
    assert_unchanged(home)
    done = smspec("validate", "--changed", "HEAD", cwd=home)
    assert done.err == "no changes since HEAD affect any of 1 job\n"
    edit(home)
    assert_changed(home, {"hyperparameters"})


@pytest.mark.skipif(GIT_VERSION < (2, 37), reason="needs git 2.37")
def test_sparse_index_lacks_no_file(home):
    write_job(home / "other", BUILT.replace("name: small", "name: other"))
    commit(home)
    git(home, "sparse-checkout", "set", "--cone", "--sparse-index", "jobs")
    assert_unchanged(home)


@pytest.mark.skipif(GIT_VERSION < (2, 29), reason="needs git 2.29")
def test_sha256_repository(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    git(home, "init", "-q", "--object-format=sha256", "-b", "main", ".")
    write_job(home / "jobs")
    assert len(commit(home)) == 64
    for path in (home / "jobs").rglob("*"):
        path.touch()
    assert_unchanged(home)
    edit(home)
    assert_changed(home, {"hyperparameters"})


CONVERSIONS = {
    "core.autocrlf": (None, [("core.autocrlf", "true")]),
    "eol=crlf": ("* text eol=crlf\n", []),
    "text=auto": ("* text=auto\n", [("core.eol", "crlf")]),
    "eol=crlf for some files": ("*.txt eol=crlf\n", []),
}


@pytest.mark.parametrize("is_fresh", [True, False])
@pytest.mark.parametrize("conversion", CONVERSIONS)
def test_line_endings_that_git_converts_are_no_change(home, tmp_path, conversion, is_fresh):
    """`is_fresh`: git has written the files, and the index knows it; else the files were copied since."""
    attributes, settings = CONVERSIONS[conversion]
    if attributes:
        (home / ".gitattributes").write_text(attributes)
    commit(home)
    clone = tmp_path / "clone"
    words = [word for name, value in settings for word in ("-c", f"{name}={value}")]
    git(tmp_path, "clone", "-q", *words, str(home), str(clone))
    assert (clone / "jobs/src/notes.txt").read_bytes() == b"one\r\ntwo\r\n"
    if not is_fresh:
        shutil.copytree(clone, tmp_path / "copy", symlinks=True)
        clone = tmp_path / "copy"
        for path in (clone / "jobs").rglob("*"):
            os.utime(path, (1, 1))
    assert git(clone, "status", "--porcelain") == ""
    assert_unchanged(clone)
    (clone / "jobs/src/notes.txt").write_bytes(b"one\r\nTWO\r\n")
    assert_changed(clone, {"code"})


def test_line_endings_that_git_keeps_are_a_change(home):
    (home / "jobs/src/notes.txt").write_bytes(b"one\r\ntwo\r\n")
    assert_changed(home, {"code"})
    commit(home)
    assert_changed(home, {"code"}, "HEAD~1")


def test_line_endings_of_binary_files_are_a_change(home):
    (home / ".gitattributes").write_text("* text=auto\n*.bin -text\n")
    (home / "jobs/src/x.bin").write_bytes(b"one\n")
    commit(home)
    (home / "jobs/src/x.bin").write_bytes(b"one\r\n")
    assert_changed(home, {"code"})


def test_new_conversion_is_a_change(home):
    """What is in the working tree goes into the image: a shell script with other line endings does not start."""
    git(home, "checkout", "-q", "-b", "topic")
    (home / ".gitattributes").write_text("*.txt eol=crlf\n")
    commit(home)
    (home / "jobs/src/notes.txt").unlink()
    git(home, "checkout", "-q", "--", ".")
    assert b"\r\n" in (home / "jobs/src/notes.txt").read_bytes()
    assert_changed(home, {"code"}, "main")


def test_changed_mode_affects_a_job_where_git_sees_modes(home):
    (home / "jobs/src/train.py").chmod(0o755)
    assert_changed(home, {"code"})
    git(home, "config", "core.fileMode", "false")
    assert "no changes" in smspec("validate", "--changed", "HEAD", cwd=home).err


def test_file_in_place_of_a_link_is_a_change(home):
    (home / "jobs/src/link.py").symlink_to("train.py")
    commit(home)
    assert_unchanged(home)
    (home / "jobs/src/link.py").unlink()
    (home / "jobs/src/link.py").write_text("train.py")
    assert_changed(home, {"code"})


def test_directory_in_place_of_a_link_is_a_change(home, tmp_path):
    """A file behind a link is not what git tracks, even if it is equal."""
    shutil.move(home / "jobs/src", home / "elsewhere")
    (home / "jobs/src").symlink_to("../elsewhere")
    assert "checked 1 job" in smspec("validate", "--changed", "HEAD", "jobs", cwd=home).err


def test_unmerged_and_intended_files_are_changes(home):
    (home / "jobs/src/new.py").write_text("")
    git(home, "add", "-N", "jobs/src/new.py")
    assert_changed(home, {"code"})
    git(home, "rm", "-q", "-f", "jobs/src/new.py")
    for branch, epochs in (("left", 3), ("right", 4)):
        git(home, "checkout", "-q", "-b", branch, "main")
        edit(home, epochs)
        commit(home)
    with pytest.raises(subprocess.CalledProcessError):
        git(home, "merge", "left")
    git(home, "checkout", "-q", "--ours", "jobs/job.yaml")
    assert "checked 1 job" in smspec("validate", "--changed", "HEAD", cwd=home).err


@pytest.mark.parametrize("lacks", ["org/base.yaml", "other/job.yaml", "lib/src/train.py", "smspec.toml"])
def test_sparse_checkout_that_lacks_part_of_a_job_exits_3(home, lacks):
    for name, text in {"org/base.yaml": "smspec: v1\n", "smspec.toml": "require_vpc = false\n"}.items():
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(text)
    write_job(home / "other", BUILT.replace("name: small", "name: other"))
    shutil.copytree(home / "jobs/src", home / "lib/src")
    text = BUILT.replace("source: src/", "source: ../lib/src/")
    (home / "jobs/job.yaml").write_text(text.replace("smspec: v1\n", "smspec: v1\nextends: [../org/base.yaml]\n", 1))
    base = commit(home)
    (home / "other/job.yaml").write_text(BUILT.replace("name: small", "name: another"))
    commit(home)
    edit(home)
    git(home, "sparse-checkout", "set", "--no-cone", "/*", f"!/{lacks}")
    for command, option in (("diff", "--base"), ("validate", "--changed")):
        done = smspec(command, option, base, ".", cwd=home)
        assert (done.status, done.out) == (3, "")
        assert f"sparse checkout lacks `{lacks}`, a job spec or a part of one: run `git sparse-checkout" in done.err
    if lacks == "other/job.yaml":
        assert_changed(home, {"hyperparameters"}, base)


def test_split_index_is_read(home):
    git(home, "update-index", "--split-index")
    assert_unchanged(home)
    edit(home)
    assert_changed(home, {"hyperparameters"})


@pytest.mark.parametrize("name", ["with\nbreak", "with:colon", "with space", "ünï", "-dash", "*?[x]"])
def test_repository_in_a_directory_of_any_name(home, tmp_path, name):
    moved = home.rename(tmp_path / name)
    assert_unchanged(moved)
    edit(moved)
    assert_changed(moved, {"hyperparameters"})
    assert_changed(tmp_path, {"hyperparameters"}, path=f"./{name}/jobs")


def test_user_settings_stay_in_force(home, tmp_path, monkeypatch):
    """Files that the user ignores are not part of any change."""
    (tmp_path / "ignored").write_text("*.mine\n")
    (tmp_path / "settings").write_text(f'[core]\n\texcludesFile = "{tmp_path}/ignored"\n')
    (home / "jobs/src/x.mine").write_text("x")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    assert "no changes" in smspec("validate", "--changed", "HEAD", cwd=home).err
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", IDENTITY["GIT_CONFIG_GLOBAL"])
    assert "checked 1 job" in smspec("validate", "--changed", "HEAD", cwd=home).err

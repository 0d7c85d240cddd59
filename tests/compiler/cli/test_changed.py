"""`--changed REV`: which jobs a change affects, in real repositories."""

import json
import subprocess

import pytest

from support.git_repository import GIT_VERSION, commit, git, repository
from support.review.diff_outcomes import rewrite
from support.small_job import BUILT
from support.smspec_command import smspec

JOB = "smspec: v1\nname: {}\nextends: [../../{}.yaml]\nsource: src/\nentry_point: train.py\n"
BASE = (
    "smspec: v1\nrole: arn:aws:iam::111122223333:role/SageMakerTraining\nregion: us-west-2\n"
    "image: {base: python:3.12-slim}\nhosts: {instance_type: ml.c5.xlarge, count: 1, volume: 1GB}\n"
    "stopping: {max_runtime: 1h}\noutput: s3://example-models/out/\n"
)


@pytest.fixture
def home(tmp_path):
    """A repository with the jobs a and b on one base spec, and c on another, which extends a third."""
    home = repository(tmp_path / "home")
    (home / "one.yaml").write_text(BASE)
    (home / "top.yaml").write_text(BASE)
    (home / "two.yaml").write_text("smspec: v1\nextends: [top.yaml]\n")
    for name, base in (("a", "one"), ("b", "one"), ("c", "two")):
        write(home, name, base)
    (home / ".gitignore").write_text("build/\n*.log\n")
    commit(home)
    return home


def write(home, name, base):
    (home / f"jobs/{name}/src").mkdir(parents=True)
    (home / f"jobs/{name}/job.yaml").write_text(JOB.format(name, base))
    (home / f"jobs/{name}/src/train.py").write_text(f"print('{name}')\n")


def built(home, *words):
    done = smspec("build", "--changed", "HEAD", "--format", "json", *words, cwd=home)
    assert done.status == 0, done.err
    return "".join(report["job"] for report in json.loads(done.out))


def append(file, text="\n"):
    file.write_text((file.read_text() if file.exists() else "") + text)


CHANGES = {
    "nothing": (lambda home: None, ""),
    "a base spec": (lambda home: append(home / "one.yaml"), "ab"),
    "a base spec of a base spec": (lambda home: append(home / "top.yaml"), "c"),
    "a spec": (lambda home: append(home / "jobs/b/job.yaml"), "b"),
    "a source file": (lambda home: append(home / "jobs/c/src/train.py"), "c"),
    "a new source file": (lambda home: append(home / "jobs/c/src/new.py"), "c"),
    "a renamed source file": (lambda home: git(home, "mv", "jobs/a/src/train.py", "jobs/a/src/t.py") and None, "a"),
    "an ignored file": (lambda home: append(home / "jobs/a/src/x.log"), ""),
    "an unrelated file": (lambda home: append(home / "README.md"), ""),
    "the policy": (lambda home: append(home / "smspec.toml"), "abc"),
    "ignore rules of one source": (lambda home: append(home / "jobs/b/src/.gitignore"), "b"),
    "locked packages": (
        lambda home: (home / "smspec.lock.d").mkdir() or append(home / "smspec.lock.d/x.txt"),
        "abc",
    ),
    "a new job": (lambda home: write(home, "d", "one"), "d"),
    "what is only in the index": (
        lambda home: append(home / "one.yaml") or (git(home, "add", "-A") and None),
        "ab",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_affects_its_jobs(home, change):
    edit, affected = CHANGES[change]
    edit(home)
    if change == "a renamed source file":
        rewrite(home / "jobs/a/job.yaml", "train.py", "t.py")
    assert built(home) == affected


def test_requirements_of_an_overlay_affect_its_job(home):
    append(home / "jobs/a/job.yaml", "overlays: {dev: {image: {python_requirements: ../../dev.txt}}}\n")
    append(home / "dev.txt", "numpy==2.1.0\n")
    commit(home)
    append(home / "dev.txt", "scipy==1.14.0\n")
    assert built(home) == "a"


def test_source_behind_a_link_affects_its_job(home):
    (home / "shared").mkdir()
    append(home / "shared/train.py")
    (home / "jobs/a/src/train.py").unlink()
    (home / "jobs/a/src").rmdir()
    (home / "jobs/a/src").symlink_to("../../shared")
    commit(home)
    append(home / "shared/train.py")
    assert built(home) == "a"


def test_deleted_base_affects_the_jobs_that_extend_it(home):
    (home / "top.yaml").unlink()
    done = smspec("validate", "--changed", "HEAD", cwd=home)
    assert done.status == 1
    assert "SM140" in done.out
    assert "checked 1 job:" in done.err


def test_conflict_with_an_unchanged_job_is_reported(home):
    append(home / "jobs/a/job.yaml", "checkpoints: s3://example-checkpoints/shared/\n")
    commit(home)
    append(home / "jobs/c/job.yaml", "checkpoints: s3://example-checkpoints/shared/\n")
    done = smspec("validate", "--changed", "HEAD", "--format", "json", cwd=home)
    assert "SM702" in {finding["code"] for finding in json.loads(done.out)}
    assert {finding["file"] for finding in json.loads(done.out)} == {"jobs/c/job.yaml"}


def test_nothing_affected_is_reported(home):
    done = smspec("validate", "--changed", "HEAD", cwd=home)
    assert done == (0, "", "no changes since HEAD affect any of 3 jobs\n")


def test_specs_in_a_subdirectory_are_relative_to_it(home):
    append(home / "one.yaml")
    assert smspec("build", "--changed", "HEAD", "b", "c", cwd=home / "jobs").out == "build/b\n"


def test_unknown_revision_exits_3(home):
    done = smspec("build", "--changed", "nowhere", cwd=home)
    assert done.status == 3
    assert "no revision `nowhere`" in done.err


def test_revision_beyond_a_shallow_clone_exits_3(home, tmp_path):
    first = git(home, "rev-parse", "HEAD")
    append(home / "one.yaml")
    commit(home)
    subprocess.run(["git", "clone", "-q", "--depth=1", home.as_uri(), tmp_path / "shallow"], check=True)
    done = smspec("validate", "--changed", first, cwd=tmp_path / "shallow")
    assert done.status == 3
    assert "git fetch --unshallow" in done.err


EVIL = JOB.format("one", "one").replace("../../", "../") + "role: arn:aws:iam::111122223333:role/Admin\n"
ABSENT = {
    "a new spec": ("x/job.yaml", EVIL, True),
    "a spec that a search skips": (".x/job.yaml", EVIL, True),
    "a changed spec that a search skips": (".y/job.yaml", EVIL, True),
    "a spec with any name": ("x/job.conf", EVIL, True),
    "a spec in JSON": ("x/job.json", '{"smspec": "v1", "name": "x"}', True),
    "a spec in UTF-16": ("x/job.yaml", EVIL.encode("utf-16"), True),
    "a link": ("x/job", None, True),
    "another YAML file": ("x/service.yaml", "services: {}\n", False),
    "a text about specs": ("x/README.md", f"# Specs\n\nLike this:\n\n```yaml\n{EVIL}```\n", False),
    "data": ("x/data.bin", bytes(range(256)) * 9, False),
}


@pytest.mark.skipif(GIT_VERSION < (2, 35), reason="this git has no `sparse-checkout set --no-cone`")
@pytest.mark.parametrize("case", ABSENT)
def test_changed_spec_that_a_sparse_checkout_lacks_is_named(home, case):
    """Only git has it, so what it is comes from its object."""
    name, content, is_named = ABSENT[case]
    (home / ".y").mkdir()
    (home / ".y/job.yaml").write_text(JOB.format("one", "one").replace("../../", "../"))
    commit(home)
    file = home / name
    file.parent.mkdir(exist_ok=True)
    if content is None:
        file.symlink_to("../jobs/a/job.yaml")
    else:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    commit(home)
    git(home, "sparse-checkout", "set", "--no-cone", "/*", f"!/{file.parent.name}")
    assert not file.exists()
    for words in (("diff", "--base"), ("validate", "--changed")):
        done = smspec(*words, "HEAD~1", ".", cwd=home)
        assert done.status == (3 if is_named else 0), done
        assert (f"this sparse checkout lacks `{name}`" in done.err) is is_named
        assert smspec(*words, "HEAD~1", "jobs", cwd=home).status == 0


@pytest.mark.skipif(GIT_VERSION < (2, 35), reason="this git has no `sparse-checkout set --no-cone`")
def test_skipped_spec_that_a_sparse_checkout_lacks_is_named(home):
    (home / ".x").mkdir()
    (home / ".x/job.yaml").write_text(EVIL.replace("../one.yaml", "../hidden.yaml"))
    (home / "hidden.yaml").write_text(BASE)
    commit(home)
    append(home / "hidden.yaml", "tags: {a: b}\n")
    commit(home)
    git(home, "sparse-checkout", "set", "--no-cone", "/*", "!/.x")
    done = smspec("diff", "--base", "HEAD~1", ".", cwd=home)
    assert done.status == 3 and "this sparse checkout lacks `.x/job.yaml`" in done.err
    assert smspec("diff", "--base", "HEAD~1", "jobs", cwd=home).status == 0


def test_path_outside_the_repository_exits_3(home, tmp_path):
    (tmp_path / "job.yaml").write_text(BUILT)
    done = smspec("validate", "--changed", "HEAD", ".", "../job.yaml", cwd=home)
    assert done.status == 3
    assert "`../job.yaml` is not in the git repository" in done.err


def test_changed_does_not_apply_to_requests_and_fixes(home):
    assert smspec("validate", "--changed", "HEAD", "--fix", cwd=home).status == 2
    assert smspec("validate", "--changed", "HEAD", "--api-json", "-", cwd=home).status == 2


def test_build_writes_jobs_without_errors(home):
    append(home / "jobs/b/job.yaml", "outputs: x\n")
    done = smspec("build", ".", cwd=home)
    assert done.status == 1
    assert done.out == "build/a\nbuild/c\n"
    assert "SM204" in done.err
    assert not (home / "build/b").exists()


def test_lock_selects_affected_jobs(home):
    append(home / "jobs/b/job.yaml", "image: {base: python:3.11-slim}\n")
    digest = "sha256:" + "0" * 64
    done = smspec("lock", "--changed", "HEAD", "--digest", f"python:3.11-slim={digest}", cwd=home)
    assert done.status == 0, done.err
    assert "3.12" not in (home / "smspec.lock").read_text()


@pytest.mark.parametrize("value", ["../shared/", "src/"])
def test_files_of_a_set_variable_affect_its_job(home, value):
    """The value decides where the source is."""
    rewrite(home / "jobs/a/job.yaml", "source: src/", 'vars: {code: {default: src/}}\nsource: "${{ vars.code }}"')
    (home / "jobs/shared").mkdir()
    append(home / "jobs/shared/train.py", "print('shared')\n")
    commit(home)
    append(home / "jobs/shared/train.py", "print('more')\n")
    assert built(home, "--set", f"vars.code={value}") == ("a" if value == "../shared/" else "")


def test_uncommitted_change_in_a_submodule_counts(home, tmp_path):
    theirs = repository(tmp_path / "theirs")
    (theirs / "train.py").write_text("print('theirs')\n")
    commit(theirs)
    git(home, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(theirs), "lib")
    rewrite(home / "jobs/b/job.yaml", "source: src/", "source: ../../lib/")
    commit(home)
    assert built(home) == ""
    append(home / "lib/train.py")
    assert built(home) == "b"
    git(home / "lib", "checkout", "-q", ".")
    append(home / "lib/new.py")
    assert built(home) == "b"

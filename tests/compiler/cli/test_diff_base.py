"""`smspec diff --base`: specs compared with a git revision, in real repositories."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from support.git_repository import IDENTITY, commit, git, repository
from support.locked_packages import lock_packages
from support.review.diff_outcomes import change_of, jobs, kinds, rewrite
from support.small_job import BUILT, READY, write_job
from support.smspec_command import environment, smspec


@pytest.fixture
def home(tmp_path):
    """A repository with one job, which is committed."""
    directory = repository(tmp_path / "home")
    write_job(directory)
    commit(directory)
    return directory


@pytest.mark.parametrize(
    ("name", "target"),
    [("base.json", None), ("base", None), ("linked.yaml", "inner.txt"), ("far.yaml", "kept/../deep/inner.txt")],
)
def test_base_spec_may_have_any_name(tmp_path, name, target):
    home = repository(tmp_path / "home")
    spec = READY.replace("role: arn:aws:iam::111122223333:role/SageMakerTraining\n", f"extends: [../{name}]\n")
    write_job(home / "jobs/ctr", spec)
    (home / "jobs/more").write_text("smspec: v1\nrole: arn:aws:iam::111122223333:role/SageMakerTraining\n")
    for kept in ("kept", "deep"):
        (home / "jobs" / kept).mkdir()
        (home / "jobs" / kept / "file").touch()
    (home / "jobs" / (target or name)).write_text("smspec: v1\nextends: [more]\n")
    if target is not None:
        os.symlink(target, home / "jobs" / name)
    commit(home)
    (home / "README.md").write_text("x")
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert (done.status, done.out, done.err) == (0, "", "no differences\n")
    rewrite(home / "jobs/more", "role/SageMakerTraining", "role/Admin")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", cwd=home)
    assert (done.status, "role/Admin" in done.out) == (1, True)


def test_unchanged_revision_has_no_differences(home):
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert done == (0, "", "no differences\n")


def test_pointer_behind_a_link_to_a_directory_is_security(home):
    write_job(home / "jobs/ctr")
    (home / ".gitattributes").write_text("data/* filter=lfs\n")
    (home / "jobs/new").symlink_to("../data")
    commit(home)
    (home / "data").mkdir()
    (home / "data/job.yaml").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")
    done = smspec("diff", "--base", "HEAD", "--fail-on", "security", "jobs", cwd=home)
    assert "smspec: data/job.yaml: fails `security`: the filter `lfs` of git replaces this file" in done.err


def test_source_of_a_revision_is_compared(home):
    (home / "src/train.py").write_text("print('other')\n")
    (home / ".gitignore").write_text("*.log\n")
    (home / "src/noise.log").write_text("not source")
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    assert kinds(done) == {"image", "code", "job"}
    assert change_of(done, "code")["what"].startswith("`train.py` changed")


def test_locked_packages_of_a_revision_are_compared(home):
    """Each side has its own lock, with the files in smspec.lock.d."""
    rewrite(home / "job.yaml", "{base: ", "{python_packages: [numpy], base: ")
    lock_packages(home / "job.yaml", {"numpy": "2.1.0"})
    commit(home)
    assert smspec("diff", "--base", "HEAD", cwd=home) == (0, "", "no differences\n")
    lock_packages(home / "job.yaml", {"numpy": "2.2.0"})
    assert kinds(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)) == {"image", "job", "security"}


def test_bases_of_a_revision_are_those_of_the_revision(home):
    (home / "org").mkdir()
    (home / "org/base.yaml").write_text("smspec: v1\nretries: 1\n")
    (home / "job.yaml").write_text(BUILT + "extends: [org/base.yaml]\n")
    commit(home)
    (home / "org/base.yaml").write_text("smspec: v1\nretries: 2\n")
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "cost")
    assert (change["path"], change["file"], change["line"]) == ("retries", "org/base.yaml", 2)


def test_locked_packages_are_compared_by_version(home):
    spec = write_job(home, BUILT.replace('bookworm"}', 'bookworm", python_packages: [numpy, six, old]}'))
    lock_packages(spec, {"numpy": "2.1.0", "six": "1.16.0", "old": "1.0"})
    commit(home)
    lock_packages(spec, {"numpy": "2.2.0", "six": "1.16.0", "new": "3.0"})
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    found = [(c["path"], c["what"], c["old"], c["new"]) for job in jobs(done) for c in job["changes"]]
    packages = [change for change in found if "python packages" in change[1]]
    assert packages == [
        ("image.python_packages", f"python packages (`{name}`): is rebuilt", old, new)
        for name, old, new in (("new", None, "3.0"), ("numpy", "2.1.0", "2.2.0"), ("old", "1.0", None))
    ]
    text = smspec("diff", "--base", "HEAD", cwd=home).out
    assert "python packages (`numpy`): is rebuilt\n" in text and " 2.1.0 → 2.2.0\n" in text
    assert "| python packages (`numpy`): is rebuilt | `2.1.0` → `2.2.0` |" in (
        smspec("diff", "--base", "HEAD", "--format", "markdown", cwd=home).out
    )


def test_many_changed_packages_leave_room_for_other_changes(home):
    spec = write_job(home, BUILT.replace('bookworm"}', 'bookworm", python_packages: [p0]}'))
    lock_packages(spec, {f"p{number}": "1" for number in range(50)})
    commit(home)
    lock_packages(spec, {f"p{number}": "2" for number in range(50)})
    changes = jobs(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home))[-1]["changes"]
    packages = [change for change in changes if "python packages" in change["what"]]
    assert len(packages) == 21 and packages[-1]["what"] == "python packages, 30 more: is rebuilt"
    assert len(packages[-1]["old"]) == 30 and packages[-1]["new"][-1] == "p9 2"


def test_new_digest_of_a_base_names_the_base(home):
    for digit in "12":
        pins = {"python:3.12-slim-bookworm": f"sha256:{digit * 64}"}
        (home / "smspec.lock").write_text(json.dumps({"lock": 1, "images": pins, "requirements": {}}))
        if digit == "1":
            commit(home)
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "image")
    assert change["what"] == "base, `python:3.12-slim-bookworm` (new digest): is rebuilt"
    assert (change["old"], change["new"]) == ("sha256:111111111111", "sha256:222222222222")


def test_changed_default_changes_jobs_at_its_line(home):
    """A change of the policy alone changes no job."""
    (home / "smspec.toml").write_text("[defaults]\nretries = 1\n")
    commit(home)
    (home / "smspec.toml").write_text("max_hours = 9000\n[defaults]\nretries = 1\n")
    assert kinds(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)) == {"security"}
    (home / "smspec.toml").write_text("[defaults]\n\nretries = 2\n")
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "cost")
    assert (change["path"], change["file"], change["line"]) == ("retries", "smspec.toml", 3)
    (home / "smspec.toml").write_text("[defaults]\n")
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "cost")
    assert (change["file"], change["old"], change["new"]) == ("HEAD:smspec.toml", 1, None)


def test_invalid_defaults_are_reported_by_side(home):
    (home / "smspec.toml").write_text('[defaults]\nname = "x"\n')
    commit(home)
    assert smspec("diff", "--base", "HEAD", cwd=home).status == 0
    (home / "smspec.toml").unlink()
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert done.status == 2 and "HEAD:smspec.toml:2: SM754" in done.err + done.out


def test_removed_key_is_located_in_the_revision(home):
    rewrite(home / "job.yaml", "hyperparameters: {epochs: 2}\n", "")
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "hyperparameters")
    assert (change["file"], change["line"]) == ("HEAD:job.yaml", 9)


def test_added_removed_and_moved_jobs_are_listed(home):
    for name in ("gone", "moved"):
        write_job(home / name, BUILT.replace("name: small", f"name: {name}"))
    commit(home)
    (home / "gone/job.yaml").unlink()
    git(home, "mv", "moved", "elsewhere")
    write_job(home / "come", BUILT.replace("name: small", "name: come"))
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    told = {job["job"]: (job["status"], job["file"], job["old_file"]) for job in jobs(done)}
    assert told == {
        "come": ("added", "come/job.yaml", "come/job.yaml"),
        "moved": ("moved", "elsewhere/job.yaml", "HEAD:moved/job.yaml"),
        "gone": ("removed", "HEAD:gone/job.yaml", "HEAD:gone/job.yaml"),
    }
    assert done.status == 1
    for kind in ("security", "cost", "cost>20%", "job"):
        assert smspec("diff", "--base", "HEAD", "--fail-on", kind, cwd=home).status == 1, kind


def test_removed_spec_can_be_selected(home):
    (home / "job.yaml").unlink()
    assert jobs(smspec("diff", "--base", "HEAD", "--format", "json", "job.yaml", cwd=home))[0]["status"] == "removed"


def test_paths_are_relative_to_the_current_directory(home):
    write_job(home / "a", BUILT.replace("name: small", "name: a"))
    commit(home)
    rewrite(home / "a/job.yaml", "epochs: 2", "epochs: 3")
    rewrite(home / "job.yaml", "epochs: 2", "epochs: 3")
    assert [job["file"] for job in jobs(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home / "a"))] == [
        "job.yaml"
    ]


def test_faults_of_a_revision_name_the_revision(home):
    (home / "job.yaml").write_text(BUILT.replace("count: 1", "count: -1"))
    commit(home)
    write_job(home)
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert (done.status, done.out.partition("SM207")[0]) == (2, "small: not compared\n  HEAD:job.yaml:8: ")
    assert "--> HEAD:job.yaml:8:" in done.err


@pytest.mark.parametrize("key", ["extends: [org/base.yaml]", "source: nowhere/"])
def test_file_that_a_revision_lacks_has_its_path_there(home, key):
    """Not that of a temporary directory."""
    name = key.split(":")[0]
    text = BUILT if name == "extends" else BUILT.replace("source: src/\n", "")
    (home / "jobs").mkdir()
    (home / "jobs/job.yaml").write_text(text.replace("smspec: v1\n", f"smspec: v1\n{key}\n"))
    commit(home)
    (home / "jobs/job.yaml").unlink()
    write_job(home / "jobs")
    for words in ((), ("--format", "markdown"), ("--format", "json")):
        done = smspec("diff", "--base", "HEAD", *words, "jobs", cwd=home)
        assert done.status == 2 and "smspec-tmp" not in done.out + done.err
    assert name == "source" or "`HEAD:jobs/org/base.yaml`" in done.err


@pytest.mark.parametrize("revision", ["nowhere", "--help-me", ""])
def test_unknown_revision_exits_3(home, revision):
    done = smspec("diff", f"--base={revision}", cwd=home)
    assert done.status == 3
    assert "revision" in done.err


def test_missing_repository_exits_3(tmp_path):
    write_job(tmp_path)
    assert smspec("diff", "--base", "HEAD", cwd=tmp_path).status == 3


def test_missing_git_exits_3(home, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert (done.status, done.err) == (3, "smspec: cannot find `git` on PATH\n")


def test_diff_runs_in_a_git_hook(home, tmp_path):
    """git gives a hook GIT_DIR and, for a commit of some files, an index of its own."""
    hook = home / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"#!/bin/sh\nenv | grep ^GIT_ > {tmp_path}/variables\n"
        f"'{sys.executable}' -m smspec diff --base HEAD > {tmp_path}/out\ntrue\n"
    )
    hook.chmod(0o755)
    rewrite(home / "job.yaml", "epochs: 2", "epochs: 3")
    git(home, "commit", "-q", "-m", "x", "job.yaml")
    assert "GIT_INDEX_FILE" in (tmp_path / "variables").read_text()
    assert (tmp_path / "out").read_text().startswith("small: changes hyperparameters (`epochs`)")


def test_ctrl_c_removes_temporary_files(home, tmp_path):
    """A `git` that does not answer gives time for the signal."""
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text(
        '#!/bin/sh\ncase "$*" in *ls-tree*) touch $WAITING; sleep 60;; esac\nexec /usr/bin/git "$@"\n'
    )
    (slow / "git").chmod(0o755)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    waiting = tmp_path / "waiting"
    changes = {"PATH": f"{slow}:{os.environ['PATH']}", "TMPDIR": str(scratch), "WAITING": str(waiting), **IDENTITY}
    process = subprocess.Popen(
        [sys.executable, "-m", "smspec", "diff", "--base", "HEAD"],
        cwd=home,
        env=environment(**changes),
        start_new_session=True,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not waiting.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) == 130
    assert list(scratch.iterdir()) == []
    process.stderr.close()


def test_path_outside_the_repository_is_reported(home, tmp_path):
    write_job(tmp_path / "elsewhere")
    done = smspec("diff", "--base", "HEAD", ".", "../elsewhere", cwd=home)
    assert done.status == 3
    assert "`../elsewhere` is not in the git repository" in done.err


STRICT = 'required_tags = ["team"]\nrequire_vpc = true\nallow_ignores = false\n[rules]\nSM332 = "error"\n'


def test_job_violating_the_policy_is_compared(home):
    """`validate` enforces the policy; `diff` reports the changes."""
    (home / "smspec.toml").write_text(STRICT)
    rewrite(home / "job.yaml", "{epochs: 2}\n", "{epochs: 3}\nchecks: {ignore: [{rule: SM740, because: so}]}\n")
    assert smspec("validate", cwd=home).status == 1
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    assert (done.status, done.err) == (1, "")
    assert change_of(done, "hyperparameters")["new"] == "3"
    assert smspec("diff", "job.yaml", "job.yaml", cwd=home).status == 0


@pytest.mark.parametrize(("level", "status"), [("error", 2), ("warning", 1), ("off", 1)])
def test_finding_lowered_by_policy_does_not_prevent_diff(home, level, status):
    """A key in another region is an error, SM477."""
    (home / "smspec.toml").write_text(f'[rules]\nSM477 = "{level}"\n')
    commit(home)
    key = "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    rewrite(home / "job.yaml", "output: s3://models/small/", f"output: {{s3: s3://models/small/, kms_key: '{key}'}}")
    assert smspec("diff", "--base", "HEAD", cwd=home).status == status


def test_faulty_policy_of_a_revision_hides_no_change(home):
    (home / "smspec.toml").write_text("required_tag = []\n")
    commit(home)
    (home / "smspec.toml").write_text("required_tags = []\n")
    rewrite(home / "job.yaml", "epochs: 2", "epochs: 3")
    assert kinds(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)) == {
        *("hyperparameters", "job", "security")
    }


def test_script_rejecting_its_arguments_is_compared(home):
    (home / "src/train.py").write_text("import argparse\nargparse.ArgumentParser().parse_args()\n")
    assert smspec("validate", cwd=home).status == 1
    assert kinds(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)) == {"image", "code", "job"}


def test_unchanged_faulty_spec_is_not_reported(home):
    """A spec without changes does not stop the review of another."""
    write_job(home / "faulty", BUILT.replace("count: 1", "count: -1"))
    commit(home)
    assert smspec("diff", "--base", "HEAD", cwd=home) == (0, "", "no differences\n")
    (home / "faulty/src/train.py").write_text("print('touched')\n")
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert done.status == 2
    assert "--> faulty/job.yaml:8:44" in done.err
    assert "--> HEAD:faulty/job.yaml:8:44" in done.err


def test_unreadable_spec_is_reported(home):
    (home / "smspec.lock").write_text("{}")
    commit(home)
    (home / "src/train.py").write_text("print('other')\n")
    assert smspec("diff", "--base", "HEAD", cwd=home).status == 2


@pytest.mark.parametrize("name", ["smspec.lock", "requirements.txt", "base.yaml", "src/train.py", "src/.gitignore"])
def test_every_input_of_a_spec_is_compared(home, name):
    spec = BUILT.replace('bookworm"}', 'bookworm", python_requirements: requirements.txt}')
    write_job(home, spec + "extends: [base.yaml]\n")
    digests = ["sha256:" + digit * 64 for digit in "ab"]
    lock = '{"lock": 1, "images": {"python:3.12-slim-bookworm": "%s"},'
    states = {
        "smspec.lock": [lock % digest + ' "requirements": {}}' for digest in digests],
        "requirements.txt": ["numpy==2.1.0\n", "numpy==2.2.0\n"],
        "base.yaml": ["smspec: v1\n", "smspec: v1\nretries: 1\n"],
        "src/train.py": ["print(1)\n", "print(2)\n"],
        "src/.gitignore": ["\n", "notes.txt\n"],
        "src/notes.txt": ["for me\n", "for me\n"],
    }
    for path, (old, _) in states.items():
        (home / path).write_text(old)
    commit(home)
    assert smspec("diff", "--base", "HEAD", cwd=home) == (0, "", "no differences\n")
    (home / name).write_text(states[name][1])
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    assert done.status == 1, done.err
    assert "job" in kinds(done)

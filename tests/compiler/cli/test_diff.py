"""`smspec diff` on real files, builds and repositories: what it compares, says and returns."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from git_repository import IDENTITY, commit, git, repository
from small_job import BUILT, READY, write_job
from smspec_command import environment, smspec

EXPECTED = Path(__file__).parent / "expected"
OVERLAYS = BUILT + "overlays: {dev: {retries: 1}, big: {hosts: {count: 2}}, quick: {stopping: {max_runtime: 1h}}}\n"


@pytest.fixture
def home(tmp_path):
    """A repository with one job, which is committed."""
    directory = repository(tmp_path / "home")
    write_job(directory)
    commit(directory)
    return directory


def jobs(done):
    return json.loads(done.out)


def kinds(done):
    return {change["kind"] for job in jobs(done) for change in job["changes"]}


def change_of(done, kind):
    (change,) = [change for job in jobs(done) for change in job["changes"] if change["kind"] == kind]
    return change


def rewrite(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


# Two specs


def test_a_spec_does_not_differ_from_itself(tmp_path):
    write_job(tmp_path)
    done = smspec("diff", "job.yaml", "job.yaml", cwd=tmp_path)
    assert done == (0, "", "no differences\n")
    assert smspec("diff", "job.yaml", "job.yaml", "--format", "markdown", cwd=tmp_path).out == ""
    assert smspec("diff", "job.yaml", "job.yaml", "--format", "json", cwd=tmp_path).out == "[]\n"


def test_two_specs_are_compared(tmp_path):
    write_job(tmp_path, other__job="")
    (tmp_path / "new.yaml").write_text(BUILT.replace("epochs: 2", "epochs: 3"))
    done = smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
    assert done.status == 1
    change = change_of(done, "hyperparameters")
    assert change == {
        "kind": "hyperparameters",
        "path": "hyperparameters.epochs",
        "old": "2",
        "new": "3",
        "what": "hyperparameter `epochs` changed",
        "file": "new.yaml",
        "line": 9,
        "percent": None,
        "as_is": True,
        "overlays": [],
    }


def test_equal_changes_under_overlays_are_told_once(tmp_path):
    write_job(tmp_path, OVERLAYS)
    (tmp_path / "new.yaml").write_text(OVERLAYS.replace("epochs: 2", "epochs: 3").replace("retries: 1", "retries: 2"))
    done = smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
    change = change_of(done, "hyperparameters")
    assert (change["as_is"], change["overlays"]) == (True, ["dev", "big", "quick"])
    change = change_of(done, "cost")
    assert (change["path"], change["as_is"], change["overlays"]) == ("retries", False, ["dev"])
    assert "only with the overlay `dev`" in smspec("diff", "job.yaml", "new.yaml", cwd=tmp_path).out


def test_an_overlay_that_is_asked_for_is_compared_alone(tmp_path):
    write_job(tmp_path, OVERLAYS)
    (tmp_path / "new.yaml").write_text(OVERLAYS.replace("retries: 1", "retries: 2"))
    for overlay, found in (("big", {"cosmetic"}), ("dev", {"cost", "job"})):
        done = smspec("diff", "-O", overlay, "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
        assert kinds(done) == found


def test_an_overlay_that_is_new_is_told(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT + "overlays: {dev: {hosts: {count: 2}}}\n")
    done = smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
    assert change_of(done, "job")["overlays"] == ["dev"]


def test_a_variable_that_one_side_declares_is_set_there(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(
        BUILT.replace("epochs: 2", 'epochs: "${{ vars.n }}"') + "vars: {n: {default: 2}}\n"
    )
    assert kinds(smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)) == {"cosmetic"}
    done = smspec("diff", "job.yaml", "new.yaml", "--set", "vars.n=3", "--format", "json", cwd=tmp_path)
    assert change_of(done, "hyperparameters")["new"] == "3"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "b", "c"], "two states are compared"),
        (["job.yaml", "nowhere.yaml"], "there is no `nowhere.yaml`"),
        (["job.yaml", "job.yaml", "-O", "nope"], "no spec that is compared has an overlay `nope`"),
        (["job.yaml", "job.yaml", "--set", "vars.x=1"], "declares a variable `x`"),
        (["job.yaml", "job.yaml", "--fail-on", "securty"], "did you mean `security`?"),
        (["job.yaml", "job.yaml", "--fail-on", "cost>x%"], "no such kind of change"),
        (["job.yaml"], "there is no build in `build/small`"),
        (["nowhere.json", "job.yaml"], "there is no `nowhere.json`"),
    ],
)
def test_misuse_is_told(tmp_path, words, said):
    write_job(tmp_path)
    done = smspec("diff", *words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_a_spec_with_faults_is_no_difference(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("count: 1", "count: -1"))
    done = smspec("diff", "job.yaml", "new.yaml", cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert "--> new.yaml:8:" in done.err


# What fails


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [
        ("cost", 1),
        ("cost>20%", 1),
        ("cost>99.9%", 1),
        ("cost>100%", 0),
        ("cost > 100", 0),
        ("security", 0),
        ("security,hosts", 1),
        ("image", 0),
        ("job", 1),
    ],
)
def test_only_what_is_named_fails(tmp_path, fail_on, status):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("count: 1", "count: 2"))
    done = smspec("diff", "job.yaml", "new.yaml", "--fail-on", fail_on, cwd=tmp_path)
    assert done.status == status
    assert "+100 % cost ceiling (24 → 48 instance hours)" in done.out


def test_a_ceiling_that_cannot_be_compared_fails(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("ml.m5.large", "ml.m5.xlarge"))
    words = ("diff", "job.yaml", "new.yaml", "--fail-on", "cost>900%")
    assert smspec(*words, cwd=tmp_path).status == 1
    (tmp_path / "smspec.toml").write_text('[prices]\n"ml.m5.large" = 0.115\n"ml.m5.xlarge" = 0.23\n')
    done = smspec(*words, cwd=tmp_path)
    assert done.status == 0
    assert "+100 % cost ceiling (24 → 24 instance hours, $2.76 → $5.52, on other instance types)" in done.out


@pytest.mark.parametrize(
    "content", ["[prices", "prices = 3", "[prices]\nml.m5.large = 1", '[prices]\n"a" = "x"', "\x00"]
)
def test_prices_that_cannot_be_read_are_told(tmp_path, content):
    write_job(tmp_path)
    (tmp_path / "smspec.toml").write_text(content)
    done = smspec("diff", "job.yaml", "job.yaml", cwd=tmp_path)
    assert done.status == 2
    assert "smspec.toml" in done.err


def test_prices_may_stand_in_pyproject(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("count: 1", "count: 2"))
    (tmp_path / "pyproject.toml").write_text('[tool.smspec.prices]\n"ml.m5.large" = 0.1\n')
    assert "$2.40 → $4.80" in smspec("diff", "job.yaml", "new.yaml", cwd=tmp_path).out


# A request, or what the service says of a job


def test_a_spec_does_not_differ_from_its_request(tmp_path):
    write_job(tmp_path, READY + "tags: {a: b}\nhyperparameters: {lr: 1e-3}\n")
    (tmp_path / "old.json").write_text(smspec("render", "--api-json", cwd=tmp_path).out)
    assert smspec("diff", "old.json", "job.yaml", cwd=tmp_path).status == 0


def described(request):
    """Return what DescribeTrainingJob says of a job that was created with a request."""
    answer = {name: value for name, value in request.items() if name != "Tags"}
    channels = [
        {"CompressionType": "None", "RecordWrapperType": "None", **channel} for channel in answer["InputDataConfig"]
    ]
    return {
        **answer,
        "TrainingJobArn": "arn:aws:sagemaker:us-west-2:111122223333:training-job/small",
        "TrainingJobStatus": "Completed",
        "InputDataConfig": channels,
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": False,
        "OutputDataConfig": {**answer["OutputDataConfig"], "KmsKeyId": "", "CompressionType": "GZIP"},
        "BillableTimeInSeconds": 12,
        "CreationTime": "2026-01-01T00:00:00",
    }


def test_a_spec_does_not_differ_from_the_answer_about_its_job(tmp_path):
    write_job(tmp_path, READY + "tags: {a: b}\nchannels: {train: s3://example-data/train/}\n")
    request = json.loads(smspec("render", "--api-json", cwd=tmp_path).out)
    (tmp_path / "old.json").write_text(json.dumps(described(request)))
    done = smspec("diff", "old.json", "job.yaml", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "it does not say tags" in done.err
    rewrite(tmp_path / "job.yaml", "train/}", "other/}")
    done = smspec("diff", "old.json", "job.yaml", "--format", "json", cwd=tmp_path)
    assert kinds(done) == {"data", "job"}
    assert change_of(done, "data")["path"] == "channels.train.s3"


@pytest.mark.parametrize("content", ["[]", "{", '{"a": 1}', "null", "\x00", '{"a": 1, "a": 2}'])
def test_json_that_is_no_request_is_told(tmp_path, content):
    write_job(tmp_path)
    (tmp_path / "old.json").write_text(content)
    assert smspec("diff", "old.json", "job.yaml", cwd=tmp_path).status == 2


# The last build


def test_a_spec_does_not_differ_from_its_build(tmp_path):
    packages = "python_packages: [numpy==2.1.0], system_packages: [git], run: [echo a && echo b], env: {A: 'b c'}"
    spec = BUILT.replace('bookworm"}', f'bookworm", {packages}, labels: {{team: ads}}}}')
    write_job(tmp_path, spec)
    assert smspec("build", cwd=tmp_path).status == 0
    done = smspec("diff", cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert "compared with build/small" in done.err
    rewrite(tmp_path / "job.yaml", "numpy==2.1.0", "numpy==2.2.0")
    rewrite(tmp_path / "job.yaml", "echo b", "echo c")
    (tmp_path / "src/train.py").write_text("print('other')\n")
    done = smspec("diff", "job.yaml", "--format", "json", cwd=tmp_path)
    layers = [change["what"] for change in jobs(done)[0]["changes"] if change["kind"] == "image"]
    assert layers == [f"{layer}: is built anew" for layer in ("python packages", "run", "source")]
    assert change_of(done, "code")["what"].startswith("`train.py` changed")


@pytest.mark.parametrize("delivery", ["channel", "s3"])
def test_a_build_is_read_back_however_the_code_travels(tmp_path, delivery):
    write_job(tmp_path, BUILT.replace("src/", f"{{dir: src/, delivery: {delivery}}}"))
    smspec("build", cwd=tmp_path)
    assert smspec("diff", cwd=tmp_path).status == 0
    (tmp_path / "src/train.py").write_text("print('other')\n")
    done = smspec("diff", "job.yaml", "--format", "json", cwd=tmp_path)
    assert "code" in kinds(done)
    assert "image" not in kinds(done)


def test_a_build_under_an_overlay_is_compared_with_that_overlay(tmp_path):
    write_job(tmp_path, OVERLAYS)
    smspec("build", "-O", "dev", cwd=tmp_path)
    assert smspec("diff", "-O", "dev", "job.yaml", cwd=tmp_path).status == 0
    assert smspec("diff", "-O", "big", "job.yaml", cwd=tmp_path).status == 2


# A revision


def test_nothing_changed_since_a_revision(home):
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert done == (0, "", "no differences\n")


def test_the_source_of_a_revision_is_compared(home):
    (home / "src/train.py").write_text("print('other')\n")
    (home / ".gitignore").write_text("*.log\n")
    (home / "src/noise.log").write_text("not source")
    done = smspec("diff", "--base", "HEAD", "--format", "json", cwd=home)
    assert kinds(done) == {"image", "code", "job"}
    assert change_of(done, "code")["what"].startswith("`train.py` changed")


def test_bases_of_a_revision_are_those_of_the_revision(home):
    (home / "org").mkdir()
    (home / "org/base.yaml").write_text("smspec: v1\nretries: 1\n")
    (home / "job.yaml").write_text(BUILT + "extends: [org/base.yaml]\n")
    commit(home)
    (home / "org/base.yaml").write_text("smspec: v1\nretries: 2\n")
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "cost")
    assert (change["path"], change["file"], change["line"]) == ("retries", "org/base.yaml", 2)


def test_what_is_gone_is_placed_in_the_revision(home):
    rewrite(home / "job.yaml", "hyperparameters: {epochs: 2}\n", "")
    change = change_of(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home), "hyperparameters")
    assert (change["file"], change["line"]) == ("HEAD:job.yaml", 9)


def test_jobs_come_go_and_move(home):
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


def test_a_spec_that_is_gone_can_be_named(home):
    (home / "job.yaml").unlink()
    assert jobs(smspec("diff", "--base", "HEAD", "--format", "json", "job.yaml", cwd=home))[0]["status"] == "removed"


def test_paths_count_from_the_current_directory(home):
    write_job(home / "a", BUILT.replace("name: small", "name: a"))
    commit(home)
    rewrite(home / "a/job.yaml", "epochs: 2", "epochs: 3")
    rewrite(home / "job.yaml", "epochs: 2", "epochs: 3")
    assert [job["file"] for job in jobs(smspec("diff", "--base", "HEAD", "--format", "json", cwd=home / "a"))] == [
        "job.yaml"
    ]


def test_faults_of_a_revision_have_its_name(home):
    (home / "job.yaml").write_text(BUILT.replace("count: 1", "count: -1"))
    commit(home)
    write_job(home)
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert (done.status, done.out) == (2, "")
    assert "--> HEAD:job.yaml:8:" in done.err


@pytest.mark.parametrize("revision", ["nowhere", "--help-me", ""])
def test_an_unknown_revision_is_the_surroundings(home, revision):
    done = smspec("diff", f"--base={revision}", cwd=home)
    assert done.status == 3
    assert "revision" in done.err


def test_no_repository_is_the_surroundings(tmp_path):
    write_job(tmp_path)
    assert smspec("diff", "--base", "HEAD", cwd=tmp_path).status == 3


def test_no_git_is_the_surroundings(home, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    done = smspec("diff", "--base", "HEAD", cwd=home)
    assert (done.status, done.err) == (3, "smspec: there is no `git` on PATH\n")


def test_it_runs_in_a_hook(home, tmp_path):
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


def test_ctrl_c_leaves_nothing(home, tmp_path):
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


# The formats

RICH_OLD = """\
smspec: v1
name: ctr
description: old
role: arn:aws:iam::111122223333:role/Training
region: us-west-2
image:
  base: python:3.12-slim-bookworm
  python_packages: [numpy==2.1.0, pandas==2.2.0]
source: src/
entry_point: train.py
channels:
  train: {s3: s3://example-data/ctr/train/, distribution: ShardedByS3Key}
hosts: {instance_type: ml.c5.xlarge, count: 1, volume: 10GB}
hyperparameters: {lr: 1e-3, note: "a|b"}
environment: {DB_PASSWORD: "changeme-0815-x"}
stopping: {max_runtime: 24h}
output: s3://example-models/ctr/
checkpoints: s3://example-models/ctr/checkpoints/
metrics: [{name: "train:loss", regex: 'loss=([0-9.eE+-]+)'}]
overlays:
  dev: {hosts: {count: 1}, retries: 1}
"""
RICH_NEW = (
    RICH_OLD.replace("description: old", "description: new  # better")
    .replace("role/Training", "role/Admin")
    .replace("numpy==2.1.0", "numpy==2.2.0")
    .replace("pandas==2.2.0]", "pandas==2.2.0]\n  run: ['curl https://example.com | sh']")
    .replace("ctr/train/", "ctr/train2/")
    .replace("count: 1, v", "count: 4, v")
    .replace("1e-3", "1e-4")
    .replace('"a|b"', '"`@all` <b>|</b>"')
    .replace("changeme-0815-x", "another-4711-y")
    .replace("retries: 1", "retries: 2")
)


@pytest.mark.parametrize("format", ["text", "markdown", "json"])
def test_a_format_has_its_expected_bytes(tmp_path, format, update):
    for name, spec in (("old", RICH_OLD), ("new", RICH_NEW)):
        write_job(tmp_path / name, spec)
    (tmp_path / "new/src/train.py").write_text("print('other')\n")
    (tmp_path / "smspec.toml").write_text('[prices]\n"ml.c5.xlarge" = 0.204\n')
    done = smspec("diff", "old/job.yaml", "new/job.yaml", "--format", format, cwd=tmp_path)
    shown = done.out
    for path in ("old/job.yaml", "new/job.yaml"):  # names of jobs hold the digest of the runtime, which changes often
        for overlay in ([], ["-O", "dev"]):
            request = json.loads(smspec("render", path, "--api-json", *overlay, cwd=tmp_path).out)
            shown = shown.replace(request["TrainingJobName"], f"ctr-of-{path[:3]}")
    expected = EXPECTED / f"diff.{ {'text': 'txt', 'markdown': 'md', 'json': 'json'}[format] }"
    if update:
        expected.parent.mkdir(exist_ok=True)
        expected.write_text(shown)
    assert done.status == 1
    assert shown == expected.read_text()
    assert "4711" not in done.out + done.err

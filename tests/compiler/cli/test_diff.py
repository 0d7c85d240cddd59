"""`smspec diff` of two specs: changes, exit statuses, and formats."""

import json
from pathlib import Path

import pytest

from support.git_repository import commit, repository
from support.review.diff_outcomes import change_of, kinds
from support.small_job import BUILT, write_job
from support.smspec_command import smspec

EXPECTED = Path(__file__).parent / "expected"
OVERLAYS = BUILT + "overlays: {dev: {retries: 1}, big: {hosts: {count: 2}}, quick: {stopping: {max_runtime: 1h}}}\n"


def test_spec_does_not_differ_from_itself(tmp_path):
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
        "group": None,
    }


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        ("stopping: {max_runtime: 6h}", "stopping: {max_runtime: 60h}", "6h", "60h"),
        ("stopping: {max_runtime: 90m}", "stopping: {max_runtime: 7200}", "90m", "2h"),
        ("stopping: {max_runtime: 90m}", "", "90m", "1d"),
        ("hosts: {volume: 10GB}", "hosts: {volume: 1000GB}", "10GB", "1000GB"),
    ],
)
def test_values_are_shown_as_they_are_written(before, after, old, new, tmp_path):
    base = BUILT.replace("volume: 10GB", "volume: 20GB")
    for name, change in (("old", before), ("new", after)):
        write_job(tmp_path)
        text = f"{base}overlays: {{x: {{{change}}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    done = smspec("diff", "-O", "x", "old.yaml", "new.yaml", cwd=tmp_path)
    assert f"{old} → {new}\n" in done.out


def test_equal_changes_under_overlays_are_merged(tmp_path):
    write_job(tmp_path, OVERLAYS)
    (tmp_path / "new.yaml").write_text(OVERLAYS.replace("epochs: 2", "epochs: 3").replace("retries: 1", "retries: 2"))
    done = smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
    change = change_of(done, "hyperparameters")
    assert (change["as_is"], change["overlays"]) == (True, ["dev", "big", "quick"])
    change = change_of(done, "cost")
    assert (change["path"], change["as_is"], change["overlays"]) == ("retries", False, ["dev"])
    assert "only with the overlay `dev`" in smspec("diff", "job.yaml", "new.yaml", cwd=tmp_path).out


def test_selected_overlay_is_compared_alone(tmp_path):
    write_job(tmp_path, OVERLAYS)
    (tmp_path / "new.yaml").write_text(OVERLAYS.replace("retries: 1", "retries: 2"))
    for overlay, found in (("big", {"cosmetic"}), ("dev", {"cost", "job"})):
        done = smspec("diff", "-O", overlay, "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
        assert kinds(done) == found


def test_new_overlay_is_reported(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT + "overlays: {dev: {hosts: {count: 2}}}\n")
    done = smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)
    assert change_of(done, "job")["overlays"] == ["dev"]


def test_variable_that_one_side_declares_is_set_there(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(
        BUILT.replace("epochs: 2", 'epochs: "${{ vars.n }}"') + "vars: {n: {default: 2}}\n"
    )
    assert kinds(smspec("diff", "job.yaml", "new.yaml", "--format", "json", cwd=tmp_path)) == {"hyperparameters"}
    done = smspec("diff", "job.yaml", "new.yaml", "--set", "vars.n=2", "--format", "json", cwd=tmp_path)
    assert kinds(done) == {"cosmetic"}
    done = smspec("diff", "job.yaml", "new.yaml", "--set", "vars.n=3", "--format", "json", cwd=tmp_path)
    assert change_of(done, "hyperparameters")["new"] == "3"


def test_value_that_one_spec_does_not_take_is_left_out_there(tmp_path):
    """CI passes one `--set` to all: a spec whose `enum` lacks the value must not end the comparison of the others."""
    variable = BUILT.replace("count: 1", 'count: "${{ vars.n }}"') + "vars: {n: {default: 1, enum: [1, 2]}}\n"
    repository(tmp_path)
    for name in ("a", "b", "c"):
        write_job(tmp_path / name, variable.replace("name: small", f"name: {name}"))
    commit(tmp_path)
    for name in ("a", "b"):
        written = (tmp_path / name / "job.yaml").read_text().replace("epochs: 2", "epochs: 3")
        (tmp_path / name / "job.yaml").write_text(written.replace("[1, 2]", "[1, 2, 3]") if name == "a" else written)
    done = smspec("diff", "--base", "HEAD", ".", "--set", "vars.n=3", cwd=tmp_path)
    assert done.status == 1
    reason = "is compared without --set vars.n=3: `n` is one of `1`, `2`"
    assert done.err.splitlines() == [f"`b/job.yaml` {reason}", f"`HEAD:a/job.yaml` {reason}"]
    assert "1 → 3" in done.out
    (tmp_path / "a" / "job.yaml").write_text(variable.replace("name: small", "name: a"))
    done = smspec("diff", "--base", "HEAD", ".", "--set", "vars.n=3", cwd=tmp_path)
    assert (done.status, done.out, done.err) == (2, "", "smspec: --set vars.n=3: `n` is one of `1`, `2`\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a", "b", "c"], "expected two paths"),
        (["job.yaml", "nowhere.yaml"], "cannot find `nowhere.yaml`"),
        (["job.yaml", "job.yaml", "-O", "nope"], "none of the compared specs has an overlay `nope`"),
        (["job.yaml", "job.yaml", "--set", "vars.x=1"], "declares `vars.x`"),
        (["job.yaml", "job.yaml", "--fail-on", "securty"], "did you mean `security`?"),
        (["job.yaml", "job.yaml", "--fail-on", "cost>x%"], "no such kind of change"),
        (["job.yaml"], "no build to compare with in `build/small`"),
        (["nowhere.json", "job.yaml"], "cannot find `nowhere.json`"),
    ],
)
def test_bad_arguments_exit_2(tmp_path, words, said):
    write_job(tmp_path)
    done = smspec("diff", *words, cwd=tmp_path)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_faulty_spec_is_not_compared(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("count: 1", "count: -1"))
    done = smspec("diff", "job.yaml", "new.yaml", cwd=tmp_path)
    title = "`hosts.count` is `-1`; the minimum is 1"
    assert (done.status, done.out) == (2, f"small: not compared\n  new.yaml:8: SM207: {title}\n")
    assert "--> new.yaml:8:" in done.err


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
def test_only_selected_kinds_fail(tmp_path, fail_on, status):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("count: 1", "count: 2"))
    done = smspec("diff", "job.yaml", "new.yaml", "--fail-on", fail_on, cwd=tmp_path)
    assert done.status == status
    assert "+100 % cost ceiling (24 → 48 instance hours)" in done.out


def test_incomparable_cost_ceiling_fails(tmp_path):
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
def test_unreadable_prices_are_reported(tmp_path, content):
    write_job(tmp_path)
    (tmp_path / "smspec.toml").write_text(content)
    done = smspec("diff", "job.yaml", "job.yaml", cwd=tmp_path)
    assert done.status == 2
    assert "smspec.toml" in done.err


def test_prices_may_be_in_pyproject(tmp_path):
    write_job(tmp_path)
    (tmp_path / "new.yaml").write_text(BUILT.replace("count: 1", "count: 2"))
    (tmp_path / "pyproject.toml").write_text('[tool.smspec.prices]\n"ml.m5.large" = 0.1\n')
    assert "$2.40 → $4.80" in smspec("diff", "job.yaml", "new.yaml", cwd=tmp_path).out


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
def test_format_has_its_expected_bytes(tmp_path, format, update):
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
    assert not [secret for secret in ("0815", "4711") if secret in done.out + done.err]

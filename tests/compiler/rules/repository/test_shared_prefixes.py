"""Outputs and checkpoints shared by several jobs."""

import pytest

from smspec.rules.suppressions import UNUSED
from support.spec.repository_jobs import codes, job, reported

CTR = "checkpoints: s3://ckpt/ctr/\n"


def test_shared_output_prefix_is_reported(tmp_path):
    found = reported(tmp_path, a=job("a", "output: s3://models/x/\n"), b=job("b", "output: {s3: s3://models/x}\n"))
    assert [(one.code, one.file, one.line) for one in found] == [("SM701", "b.yaml", 6)]
    assert found[0].message == "`b` and `a` share the `output` prefix"


def test_output_prefix_from_a_base_is_accepted(tmp_path):
    base = "smspec: v1\noutput: s3://models/team/\n"
    extends = "extends: [base.yaml]\n# output: the base's\n"
    assert codes(tmp_path, base=base, a=job("a", extends), b=job("b", extends)) == []


def test_output_prefix_of_three_jobs_is_accepted(tmp_path):
    assert codes(tmp_path, **{name: job(name, "output: s3://models/team/\n") for name in "abc"}) == []


def test_nested_outputs_are_accepted(tmp_path):
    assert codes(tmp_path, a=job("a", "output: s3://models/\n"), b=job("b", "output: s3://models/b/\n")) == []


def test_overlays_may_share_the_output_of_their_job(tmp_path):
    assert codes(tmp_path, a=job("a", "overlays: {dev: {retries: 1}, prod: {retries: 2}}\n")) == []


@pytest.mark.parametrize(
    "other", ["checkpoints: s3://ckpt/ctr\n", "api: {CheckpointConfig: {S3Uri: s3://ckpt/ctr/}}\n"]
)
def test_shared_checkpoint_prefix_is_reported(other, tmp_path):
    """The request decides: `api` may set the prefix too."""
    found = reported(tmp_path, a=job("a", CTR), b=job("b", other))
    assert [(one.code, one.file) for one in found] == [("SM702", "b.yaml")]


def test_overlay_setting_a_shared_checkpoint_is_reported(tmp_path):
    found = reported(tmp_path, a=job("a", CTR), b=job("b", f"overlays:\n  prod:\n    {CTR}"))
    assert [(one.code, one.file, one.line) for one in found] == [("SM702", "b.yaml", 9)]


def test_every_further_job_is_reported_at_its_line(tmp_path):
    found = reported(tmp_path, **{name: job(name, CTR) for name in "abcd"})
    assert [(one.code, one.file) for one in found] == [("SM702", f"{name}.yaml") for name in "bcd"]


def test_shared_base_checkpoints_are_reported_once(tmp_path):
    extends = "extends: [base.yaml]\n"
    found = reported(tmp_path, base=f"smspec: v1\n{CTR}", **{name: job(name, extends) for name in "abcdef"})
    assert [(one.code, one.file, one.line) for one in found] == [("SM702", "base.yaml", 2)]
    assert found[0].message == "`a`, `b`, `c` and 3 more share the checkpoint prefix `s3://ckpt/ctr/`"


@pytest.mark.parametrize(
    "inner", ["checkpoints: s3://ckpt/ctr/b/\n", "output: s3://ckpt/ctr/\n", "tensorboard: s3://ckpt/ctr/tb/\n"]
)
def test_checkpoints_containing_other_outputs_are_reported(inner, tmp_path):
    found = reported(tmp_path, a=job("a", CTR), b=job("b", inner))
    assert [(one.code, one.file) for one in found] == [("SM703", "a.yaml")]
    assert "`b`" in found[0].message


@pytest.mark.parametrize("other", ["checkpoints: s3://ckpt/ctr-2/\n", "checkpoints: s3://ckpt2/ctr/\n"])
def test_prefixes_with_a_common_beginning_are_distinct(other, tmp_path):
    assert codes(tmp_path, a=job("a", CTR), b=job("b", other)) == []


def test_output_next_to_checkpoints_is_accepted(tmp_path):
    assert codes(tmp_path, a=job("a", "output: s3://m/a/\ncheckpoints: s3://m/a/ckpt/\n")) == []
    assert codes(tmp_path, a=job("a", "output: s3://m/a/out/\ncheckpoints: s3://m/a/\n"), b=job("b")) == []


@pytest.mark.parametrize(
    "change",
    [
        "hosts: {instance_type: ml.m5.4xlarge}",
        "stopping: {max_runtime: 1h}",
        "spot: {max_wait: 30h}",
        "tags: {stage: dev}",
        "checkpoints: null",
        "{checkpoints: s3://ckpt/dev/, hyperparameters: {epochs: 1}}",
    ],
)
def test_overlay_changing_infrastructure_may_resume(change, tmp_path):
    change = change if change.startswith("{") else "{" + change + "}"
    spec = job("a", f"{CTR}hyperparameters: {{epochs: 9}}\noverlays:\n  dev: {change}\n")
    assert codes(tmp_path, a=spec) == []


@pytest.mark.parametrize("change", ["hyperparameters: {epochs: 1}", "channels: {train: s3://data/sample/}"])
def test_overlay_that_changes_training_reuses_checkpoints(change, tmp_path):
    key = change.partition(":")[0]
    more = f"hyperparameters: {{epochs: 9}}\nchannels: {{train: s3://data/all/}}\noverlays:\n  dev: {{{change}}}\n"
    (found,) = reported(tmp_path, a=job("a", CTR + more))
    assert (found.code, found.file, found.line) == ("SM704", "a.yaml", 7)
    assert found.message == f"the overlay `dev` changes `{key}`, but keeps `checkpoints` of the job without it"


def test_overlays_of_one_file_are_compared(tmp_path):
    spec = job("a", f"{CTR}overlays:\n  dev: {{hyperparameters: {{epochs: 1}}}}\n")
    assert codes(tmp_path, "a.yaml", a=spec) == ["SM704"]
    assert codes(tmp_path, "a.yaml", "-O", "dev", a=spec) == []


def test_single_file_has_no_unused_cross_spec_ignores(tmp_path):
    ignored = "checks: {ignore: [{rule: SM702, because: the other file says so}]}\n"
    spec = job("a", f"{CTR}{ignored}overlays:\n  dev: {{tags: {{stage: dev}}}}\n")
    assert codes(tmp_path, "a.yaml", a=spec) == []
    assert codes(tmp_path, a=spec) == [UNUSED.code]


def test_many_overlays_make_one_finding(tmp_path):
    overlays = "".join(f"  o{number}: {{hyperparameters: {{seed: {number}}}}}\n" for number in range(6))
    (found,) = reported(tmp_path, a=job("a", f"{CTR}overlays:\n{overlays}"))
    assert found.message.startswith("the overlays `o0`, `o1`, `o2` and 3 more change `hyperparameters`")


def test_selected_overlays_are_compared_alone(tmp_path):
    a = job("a", f"{CTR}overlays:\n  dev: {{hyperparameters: {{epochs: 1}}, checkpoints: s3://ckpt/dev/}}\n")
    b = job("b", "overlays:\n  dev: {checkpoints: s3://ckpt/dev/}\n")
    assert codes(tmp_path, ".", "-O", "dev", a=a, b=b) == ["SM702"]
    assert codes(tmp_path, a=a, b=b) == ["SM702"]


@pytest.mark.parametrize("inner", ["checkpoints: s3://ckpt/exp-10\n", "checkpoints: s3://ckpt/exp-1.old/x/\n"])
def test_checkpoint_prefix_is_compared_as_text(inner, tmp_path):
    """S3 has no directories: `exp-1` is a prefix of `exp-10/`, `exp-1/` is not."""
    found = reported(tmp_path, a=job("a", "checkpoints: s3://ckpt/exp-1\n"), b=job("b", inner))
    assert [(one.code, one.file) for one in found] == [("SM703", "a.yaml")]
    assert codes(tmp_path, a=job("a", "checkpoints: s3://ckpt/exp-1/\n"), b=job("b", inner)) == []


def test_bucket_is_a_whole_name(tmp_path):
    assert codes(tmp_path, a=job("a", "checkpoints: s3://ckpt\n"), b=job("b", "checkpoints: s3://ckpt-2/x/\n")) == []
    assert codes(tmp_path, a=job("a", "channels: {x: s3://d}\n"), b=job("b", "channels: {x: s3://d-2/x/}\n")) == []


@pytest.mark.parametrize("key", ["channels: {other: s3://d/train-old/}\n", "checkpoints: s3://d/train.ckpt/\n"])
def test_channel_that_matches_data_of_another_job_is_reported(key, tmp_path):
    found = reported(tmp_path, a=job("a", "channels: {x: s3://d/train}\n"), b=job("b", key))
    assert [(one.code, one.file) for one in found] == [("SM709", "a.yaml")]
    assert codes(tmp_path, a=job("a", "channels: {x: s3://d/train/}\n"), b=job("b", key)) == []


def test_manifest_of_a_channel_is_one_object(tmp_path):
    manifest = "channels: {x: {s3: s3://d/m, s3_data_type: ManifestFile}}\n"
    assert codes(tmp_path, a=job("a", manifest), b=job("b", "channels: {x: s3://d/m-2/}\n")) == []

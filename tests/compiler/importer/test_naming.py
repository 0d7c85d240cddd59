"""The name of a spec is the constant part of the job name."""

import pytest

from smspec.importer.imported import names, slug
from smspec.plan import training_job_name

REQUEST = {"RoleArn": "arn:aws:iam::111122223333:role/SageMakerTraining", "Tags": [{"Key": "a", "Value": "b"}]}


@pytest.mark.parametrize(
    ("job_name", "name"),
    [
        ("ctr-linear", "ctr-linear"),
        ("CTR-Linear", "ctr-linear"),
        ("xgb-2026-01-01-00-00-00", "xgb"),
        ("xgb-2026-01-01-00-00-00-123", "xgb"),
        ("notebook2026-01-01-00-00-00", "notebook"),
        ("xgb-20260101", "xgb"),
        ("xgb-20260101-101500", "xgb"),
        ("xgb-20260101T101500", "xgb"),
        ("xgb-1772360100", "xgb"),
        ("xgb-1772360100123", "xgb"),
        ("xgb-0a1b2c3d4e", "xgb"),
        ("xgb-9d2c0a64-3f0e-4b7a-9d5e-0123456789ab", "xgb"),
        ("xgb-2026-01-01-10-00-00-0a1b2c3", "xgb"),
        ("resnet-50", "resnet-50"),
        ("facade", "facade"),
        ("job-deadbeef", "job-deadbeef"),
        ("v2-2026", "v2-2026"),
        ("20260101", "20260101"),
        ("a--b", "a-b"),
        ("a" * 63, "a" * 48),
        (("a" * 47) + "-b", "a" * 47),
        ("Train the model!", "train-the-model"),
        ("東京", "imported"),
        ("", "imported"),
    ],
)
def test_slug_excludes_generated_endings(job_name, name):
    assert slug(job_name) == name


def test_name_derived_from_the_spec_is_omitted():
    named = training_job_name("ctr-linear", REQUEST)
    assert names(named, "", {**REQUEST, "TrainingJobName": named}) == {"name": "ctr-linear"}


def test_unrelated_digest_stays_in_an_exact_name():
    assert names("ctr-linear-0123456789", "", REQUEST) == {"name": "ctr-linear", "job_name": "ctr-linear-0123456789"}


def test_unnamed_job_is_named_after_its_source():
    assert names(None, "Train it", REQUEST) == {"name": "train-it"}

"""Names of jobs are unique in an account and a region."""

import pytest

from support.spec.repository_jobs import codes, job, reported

REGIONS = ("region: us-west-2\n", "region: eu-west-1\n")
ACCOUNTS = ('account: "111122223333"\n', 'account: "444455556666"\n')


def test_two_specs_of_one_name_are_reported(tmp_path):
    found = reported(tmp_path, a=job("ctr", "output: s3://m/a/\n"), b=job("ctr", "output: s3://m/b/\n"))
    assert [(one.code, one.file, one.line) for one in found] == [("SM705", "b.yaml", 2)]


def test_third_job_of_a_name_is_reported_too(tmp_path):
    found = reported(tmp_path, **{file: job("ctr", f"output: s3://m/{file}/\n") for file in "abc"})
    assert [(one.code, one.file) for one in found] == [("SM705", "b.yaml"), ("SM705", "c.yaml")]


@pytest.mark.parametrize("key", ["", "job_name: nightly\n"])
@pytest.mark.parametrize("places", [REGIONS, ACCOUNTS])
def test_equal_names_in_other_accounts_or_regions_are_fine(key, places, tmp_path):
    a, b = (job("ctr", f"{place}{key}output: s3://m/{n}/\n") for n, place in enumerate(places))
    assert codes(tmp_path, a=a, b=b) == []


def test_unknown_region_matches_any(tmp_path):
    a, b = (job("ctr", f"{place}output: s3://m/{n}/\n") for n, place in enumerate((REGIONS[0], "")))
    assert codes(tmp_path, a=a, b=b) == ["SM705"]


@pytest.mark.parametrize("key", ["job_name: nightly\n", "api: {TrainingJobName: nightly}\n"])
def test_two_jobs_of_one_job_name_are_reported(key, tmp_path):
    found = reported(tmp_path, a=job("a", "job_name: nightly\n"), b=job("b", key))
    assert [(one.code, one.file, one.line) for one in found] == [("SM706", "b.yaml", 7)]


def test_overlays_may_share_the_name_of_their_job(tmp_path):
    assert codes(tmp_path, a=job("a", "job_name: nightly\noverlays: {dev: {retries: 1}}\n")) == []


def test_overwritten_model_is_reported(tmp_path):
    """In two regions both jobs may run; the prefix is one for all regions."""
    a, b = (job("ctr", f"{region}job_name: nightly\noutput: s3://m/ctr/\n") for region in REGIONS)
    assert codes(tmp_path, a=a, b=b) == ["SM707"]

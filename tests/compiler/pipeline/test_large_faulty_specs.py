"""Checks skipped for too large or too faulty specs are reported in a note."""

import pytest

from support.spec.independent_faults import found, lay_out

NOTE = ("SM148", "note", ("smspec",))
BUCKET = ("SM454", "error", ("output", "s3"))
COUNT = ("SM203", "error", ("hosts", "count"))
FAULTY = {"hosts": "{instance_type: ml.m5.xlarge, count: two, volume: 50GB}", "output": "s3://Example_Models/ctr/"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return lay_out(tmp_path_factory.mktemp("jobs"))


def environment(size):
    return "{" + ", ".join(f"N{number}: {number}" for number in range(size)) + "}"


def test_comments_do_not_count_as_size(directory):
    reported = found(directory, more={**FAULTY, "retries": "2 # " + "x" * 100_000})
    assert {BUCKET, COUNT} <= reported
    assert NOTE not in reported


def test_hundreds_of_keys_keep_all_checks(directory):
    assert {BUCKET, COUNT} <= found(directory, more={**FAULTY, "environment": environment(800)})


def test_thousands_of_keys_end_other_checks_with_a_note(directory):
    reported = found(directory, more={**FAULTY, "environment": environment(5000)})
    assert {COUNT, NOTE} <= reported
    assert BUCKET not in reported


def test_unknown_values_in_a_large_job_end_other_checks(directory):
    packages = ", ".join(f"'package-{number}==${{{{ vars.gone }}}}'" for number in range(6000))
    reported = found(directory, more={**FAULTY, "image": f"{{base: python, python_packages: [{packages}]}}"})
    assert {code for code, _, _ in reported} == {"SM125", "SM148"}


def test_too_many_errors_end_other_checks_with_a_note(directory):
    channels = ", ".join(f"c{number}: {{s3: s3://example-data/, input_mode: fast}}" for number in range(60))
    reported = found(directory, more={**FAULTY, "channels": f"{{{channels}}}"})
    assert {COUNT, NOTE} <= reported
    assert BUCKET not in reported


def test_too_many_overlays_keep_the_checks_of_the_spec(directory):
    overlays = "{" + ", ".join(f"o{number}: {{retries: {number}}}" for number in range(200)) + "}"
    assert {COUNT, BUCKET, NOTE} <= found(directory, more={**FAULTY, "overlays": overlays})


def test_large_spec_without_errors_has_no_note(directory):
    metrics = ", ".join(f"{{name: m{number}, regex: 'm{number}=([0-9]+)'}}" for number in range(40))
    packages = ", ".join(f"package-{number}==1.0" for number in range(6000))
    image = f'{{base: "python:3.12@sha256:{"1" * 64}", python_packages: [{packages}]}}'
    assert found(directory, more={"image": image, "metrics": f"[{metrics}]"}) == set()

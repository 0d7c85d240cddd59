"""Checks between specs: selection, expected findings, and faulty specs."""

import json

import pytest

from support.smspec_command import smspec
from support.spec.repository_jobs import codes, job, reported

CTR = "checkpoints: s3://ckpt/ctr/\n"


def ignoring(rule, at=""):
    return f"checks: {{ignore: [{{rule: {rule}, at: '{at}', because: it goes on with the other}}]}}\n"


@pytest.mark.parametrize("words", [["."], ["a.yaml", "b.yaml"], ["b.yaml", "."]])
def test_several_specs_are_compared(words, tmp_path):
    assert codes(tmp_path, *words, a=job("a", CTR), b=job("b", CTR)) == ["SM702"]


def test_single_spec_is_not_compared(tmp_path):
    assert codes(tmp_path, "b.yaml", a=job("a", CTR), b=job("b", CTR)) == []


@pytest.mark.parametrize("at", ["", "checkpoints", "checkpoints.s3"])
def test_expected_findings_of_a_spec_are_not_reported(at, tmp_path):
    assert codes(tmp_path, a=job("a", CTR), b=job("b", CTR + ignoring("SM702", at))) == []


def test_ignores_of_the_other_spec_do_not_count(tmp_path):
    found = reported(tmp_path, a=job("a", CTR + ignoring("SM702")), b=job("b", CTR))
    assert [(one.code, one.file) for one in found] == [("SM331", "a.yaml"), ("SM702", "b.yaml")]


def test_ignores_of_a_base_apply_to_its_jobs(tmp_path):
    base = f"smspec: v1\n{CTR}{ignoring('SM702')}"
    extends = "extends: [base.yaml]\n"
    assert codes(tmp_path, base=base, **{name: job(name, extends) for name in "abc"}) == []


@pytest.mark.parametrize("at", ["output", "checkpoints.local"])
def test_ignore_at_another_path_is_unused(at, tmp_path):
    found = codes(tmp_path, a=job("a", CTR), b=job("b", CTR + ignoring("SM702", at)))
    assert sorted(found) == ["SM331", "SM702"]


@pytest.mark.parametrize("code", ["SM543", "SM552"])
def test_ignore_of_what_only_check_finds_is_not_unused(code, tmp_path):
    assert codes(tmp_path, a=job("a", ignoring(code)), b=job("b", "")) == []


def test_cross_spec_ignore_of_a_single_spec_is_not_unused(tmp_path):
    """Its reason may lie in a spec that is not looked at."""
    assert codes(tmp_path, "b.yaml", a=job("a", CTR), b=job("b", CTR + ignoring("SM702"))) == []


def test_spec_with_other_errors_is_compared_too(tmp_path):
    (tmp_path / "a.yaml").write_text(job("a", CTR + "api: {NoSuchMember: 1}\n"))
    (tmp_path / "b.yaml").write_text(job("b", CTR))
    records = json.loads(smspec("validate", ".", "--format", "json", cwd=tmp_path).out)
    assert "SM702" in {record["code"] for record in records}
    assert {record["file"] for record in records if record["severity"] == "error"} == {"a.yaml", "b.yaml"}


def test_note_shows_the_line_of_the_other_spec(tmp_path):
    codes(tmp_path, a=job("a", CTR), b=job("b", CTR))
    out = smspec("validate", ".", cwd=tmp_path).out
    assert "= note: prefix of `a`\n  --> a.yaml:7:14\n   |\n 7 | checkpoints: s3://ckpt/ctr/\n" in out

"""Base specs without users."""

import pytest

from support.spec.repository_jobs import codes, job, reported

BASE = "smspec: v1\nretries: 1\n"


def test_base_without_users_is_reported(tmp_path):
    found = reported(tmp_path, a=job("a", "extends: [used.yaml]\n"), used=BASE, org__unused=BASE)
    assert [(one.code, one.file, one.line) for one in found] == [("SM708", "org/unused.yaml", 1)]


def test_last_of_a_chain_of_unused_bases_is_reported(tmp_path):
    found = reported(tmp_path, a=job("a"), first=BASE, second=f"{BASE}extends: [first.yaml]\n")
    assert [(one.code, one.file) for one in found] == [("SM708", "second.yaml")]


def test_base_used_through_another_directory_is_used(tmp_path):
    (tmp_path / ".git").mkdir()
    specs = {
        "jobs__a": job("a", "extends: [../org/all.yaml]\n"),
        "org__all": f"{BASE}extends: [../jobs/common.yaml]\n",
        "jobs__common": BASE,
        "jobs__other": BASE,
    }
    assert [one.file for one in reported(tmp_path, "jobs", **specs)] == ["jobs/other.yaml"]


@pytest.mark.parametrize(
    "specs",
    [
        {"jobs__a": job("a", "extends: [../org/all.yaml]\n"), "org__all": BASE},  # outside what may be read
        {"jobs__a": job("a", "extends: [bsae.yaml]\n")},
        {"jobs__a": job("a", "extends: bases.yaml\n")},
        {"jobs__a": job("a", "extends: [broken.yaml]\n"), "jobs__broken": "smspec: v1\na: [\n"},
        {"jobs__a": job("a"), "jobs__broken": "smspec: v1\na: [\n"},
    ],
    ids=["outside", "missing", "malformed", "broken", "broken job"],
)
def test_unread_file_may_extend_every_base(specs, tmp_path):
    assert codes(tmp_path, "jobs", **specs, jobs__base=BASE) == []


@pytest.mark.parametrize("words", [["a.yaml", "b.yaml"], ["a.yaml", "b.yaml", "base.yaml"], ["a.yaml", "base.yaml"]])
def test_unused_bases_are_reported_only_for_directories(words, tmp_path):
    """With only some files named, other files may extend the base."""
    assert codes(tmp_path, *words, a=job("a"), b=job("b"), base=BASE) == []


def test_circular_bases_have_one_error(tmp_path):
    specs = {"a": job("a"), "b": f"{BASE}extends: [c.yaml]\n", "c": f"{BASE}extends: [b.yaml]\n"}
    assert codes(tmp_path, **specs) == []


def test_base_for_other_repositories_ignores_the_rule(tmp_path):
    ignore = "checks: {ignore: [{rule: SM708, because: the repository of the search team extends it}]}\n"
    assert codes(tmp_path, a=job("a"), base=BASE + ignore) == []
    assert codes(tmp_path, a=job("a", "extends: [base.yaml]\n"), base=BASE + ignore) == ["SM331"]

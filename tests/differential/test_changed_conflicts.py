"""Conflicts of a changed spec with one that a search of the texts must not miss, among specs without any."""

import pytest

from smspec.pipeline.affected_specs import affected_by
from smspec.pipeline.changed_result import changed_result, discovered_specs
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import narrowed_result, validate_specs
from smspec.workspace.git import repository_of
from smspec.workspace.working_tree import ChangedFiles
from support.git_repository import commit, repository

ROLE = "arn:aws:iam::111122223333:role/Training"


def job(name="", *lines, output="", role=ROLE, region="us-west-2"):
    """Return a spec. A name or an output that is not given must be in the lines, or in a base spec."""
    image = f"111122223333.dkr.ecr.{region}.amazonaws.com/x@sha256:{'0' * 64}"
    given = [f"name: {name}"] * bool(name) + [f"output: {output}"] * bool(output)
    hosts = "hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}"
    text = ["smspec: v1", *given, f"role: {role}", f"image: {image}", f"region: {region}", hosts, *lines]
    return "\n".join(text) + "\n"


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    """Check a repository of some files after one more line in `a/job.yaml`, in both ways: (codes, fast, whole)."""

    def check(files):
        more = {f"pad/p{number}/job.yaml": job(f"p{number}", output=f"s3://pad/{number}/") for number in range(40)}
        for place, text in {**more, **files}.items():
            path = tmp_path / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        repository(tmp_path)
        commit(tmp_path)
        with open(tmp_path / "a/job.yaml", "a") as file:
            file.write("tags: {owner: ml}\n")
        monkeypatch.chdir(tmp_path)
        cache = InputCache()
        found, changed = discovered_specs(["."], cache), ChangedFiles(repository_of("."), "HEAD")
        affected = affected_by(changed, found.jobs, {}, cache)
        result = changed_result(found, affected, changed.touches, cache)
        whole = narrowed_result(validate_specs(["."], None, {}, InputCache()), affected, changed.touches)
        return {one.code for one in whole.diagnostics}, result and result.diagnostics, whole.diagnostics

    return check


def test_conflict_ends_the_search(outcome):
    codes, found, expected = outcome(
        {
            "a/job.yaml": job("ctr", output="s3://one/"),
            "b/job.yaml": job("ctr", output="s3://two/"),
        }
    )
    assert codes == {"SM705"}
    assert found == expected

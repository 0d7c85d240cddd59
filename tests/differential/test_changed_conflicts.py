"""Conflicts of a changed spec with one that a search of the texts must not miss, among specs without any."""

import re
import time

import pytest

from smspec.cli import main
from smspec.pipeline import changed_result as module
from smspec.pipeline.affected_specs import affected_by
from smspec.pipeline.changed_result import changed_result, discovered_specs, few_specs
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.searched_text import searched
from smspec.pipeline.validation_result import narrowed_result, validate_specs
from smspec.workspace.git import repository_of
from smspec.workspace.working_tree import ChangedFiles
from support.git_repository import commit, repository

ROLE = "arn:aws:iam::111122223333:role/Training"
OTHER_ACCOUNT = "arn:aws:iam::444455556666:role/Training"
SHARED = "smspec: v1\noutput: s3://shared/o/\n"


def job(name="", *lines, output="", role=ROLE, region="us-west-2"):
    """Return a spec. A name or an output that is not given must be in the lines, or in a base spec."""
    image = f"111122223333.dkr.ecr.{region}.amazonaws.com/x@sha256:{'0' * 64}"
    given = [f"name: {name}"] * bool(name) + [f"output: {output}"] * bool(output)
    hosts = "hosts: {instance_type: ml.m5.large, count: 1, volume: 10GB}"
    text = ["smspec: v1", *given, f"role: {role}", f"image: {image}", f"region: {region}", hosts, *lines]
    return "\n".join(text) + "\n"


def by_a_glance(changed):
    """Return the result for what changed in the current directory if most specs are only glanced at, or None."""
    cache = InputCache()
    few = few_specs(["."], changed, cache)
    if few is None:
        return None
    untouched, found = few
    return changed_result(found, affected_by(changed, found.jobs, {}, cache), changed.touches, cache, untouched)


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
        glanced = by_a_glance(changed)
        assert glanced is None or glanced.diagnostics == whole.diagnostics
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


NAMES = {
    "key": ("environment: {&a fixed : x}", "job_name: *a"),
    "key in a block": ("environment:", "  &a fixed: x", "api: {TrainingJobName: *a}"),
    "escape": ('job_name: "fi\\x78ed"',),
    "variable over two lines": (
        "vars: {n: {default: ed}, m: {default: fi}}",
        'job_name: "${{',
        '  vars.m }}x${{ vars.n }}"',
    ),
    "variable in a block": ("vars: {n: {default: fi}}", "job_name: |-", "  ${{", "  vars.n }}xed"),
}


@pytest.mark.parametrize("lines", NAMES.values(), ids=NAMES)
def test_name_is_found_however_it_is_written(outcome, lines):
    codes, found, expected = outcome(
        {
            "a/job.yaml": job("one", "job_name: fixed", output="s3://one/"),
            "b/job.yaml": job("two", *lines, output="s3://two/"),
        }
    )
    assert codes == {"SM706"}
    assert found in (None, expected)


ADDRESSES = {
    "key": ("environment:", "  &a s3://keep/x/: x", "output: *a"),
    "variable over two lines": ("vars: {s: {default: s3}}", 'output: "${{', '  vars.s }}://keep/x/"'),
    "variable in a block": ("vars: {s: {default: s3}}", "output: |-", "  ${{", "  vars.s }}://keep/x/"),
}


@pytest.mark.parametrize("lines", ADDRESSES.values(), ids=ADDRESSES)
def test_address_is_found_however_it_is_written(outcome, lines):
    codes, found, expected = outcome(
        {
            "a/job.yaml": job("one", output="s3://keep/x"),
            "b/job.yaml": job("two", *lines),
        }
    )
    assert codes == {"SM701"}
    assert found in (None, expected)


def of_base(name, *lines, base="../base.yaml", **values):
    return job(name, f"extends: [{base}]", *lines, **values)


VARIABLE = ("vars: {j: {default: fixed}}", "job_name: ${{ vars.j }}")
NAMED_TWICE = {
    "variable": (of_base("u1", *VARIABLE), of_base("u2", "job_name: fixed", role=OTHER_ACCOUNT)),
    "api": (
        of_base("u1", "vars: {j: {default: fixed}}", 'api: {TrainingJobName: "${{ vars.j }}"}'),
        of_base("u2", "job_name: fixed", role=OTHER_ACCOUNT),
    ),
    "base spec": (of_base("u1", base="../inner.yaml"), of_base("u2", base="../inner.yaml", role=OTHER_ACCOUNT)),
}


@pytest.mark.parametrize("specs", NAMED_TWICE.values(), ids=NAMED_TWICE)
def test_base_shows_conflicts_of_unchanged_specs(outcome, specs):
    many = {f"m{number}/job.yaml": of_base(f"m{number}") for number in range(6)}
    inner = "smspec: v1\nextends: [base.yaml]\njob_name: fixed\n"
    codes, found, expected = outcome(
        {
            "base.yaml": SHARED,
            "inner.yaml": inner,
            "a/job.yaml": of_base("one"),
            **many,
            "u1/job.yaml": specs[0],
            "u2/job.yaml": specs[1],
        }
    )
    assert "SM707" in codes
    assert found in (None, expected)


def test_output_may_be_a_variable_too(outcome, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 1)
    many = {f"m{number}/job.yaml": of_base(f"m{number}") for number in range(6)}
    codes, found, expected = outcome(
        {
            "base.yaml": "smspec: v1\noutput: &o s3://shared/o/\nvars: {w: {default: *o}}\n",
            "a/job.yaml": job("one", output="s3://shared/o"),
            **many,
            "u/job.yaml": of_base("two", "checkpoints: ${{ vars.w }}", output="s3://two/"),
        }
    )
    assert "SM703" in codes
    assert found == expected


LONG = 200_000
LONG_TEXTS = {
    "word": "a" * LONG,
    "dollars": "$" * LONG,
    "variables without an end": "${{" * LONG,
    "variables with blanks": "${{ " * LONG,
    "addresses": "s3://" * LONG,
    "quotes": "'" * LONG,
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS)
def test_long_text_is_searched_in_linear_time(text):
    start = time.process_time()
    assert searched(f"a: {text}\nb: x${{{{ vars.x }}}}").beginnings[-1:] == ("x",)
    assert time.process_time() - start < 5


def test_hidden_base_keeps_its_name(tmp_path, monkeypatch, capsys):
    repository(tmp_path)
    base = tmp_path / "a/.hidden/base.yaml"
    base.parent.mkdir(parents=True)
    base.write_text("smspec: v1\n")
    (tmp_path / "a/job.yaml").write_text(job("one", "extends: [.hidden/base.yaml]", output="s3://one/"))
    commit(tmp_path)
    base.write_text("smspec: v1\nunknown: 1\n")
    monkeypatch.chdir(tmp_path / "a")
    assert main(["validate", "--changed", "HEAD", ".."]) == 1
    assert re.findall(r"--> (\S+base\.yaml)", capsys.readouterr().out) == ["../a/.hidden/base.yaml"]

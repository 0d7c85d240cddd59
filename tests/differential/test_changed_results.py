"""What `validate --changed` checks because of a change, against a check of all specs that is narrowed to it."""

import os
import shutil

import pytest

from smspec.diagnostics import InvalidInput
from smspec.pipeline import affected_specs
from smspec.pipeline.affected_specs import affected_by
from smspec.pipeline.changed_result import changed_result, discovered_specs
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import NoJobs, find_job_specs
from smspec.pipeline.validation_result import narrowed_result, validate_specs
from smspec.source.frozen import replace
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml import decode_bytes, read
from smspec.spec.yaml.plain_text import plain_text
from smspec.workspace.git import repository_of
from smspec.workspace.working_tree import ChangedFiles
from support.git_repository import commit, repository
from support.spec.changed_repositories import write_changed_repository
from support.spec.spec_repository import write_repository

SEEDS = range(24)


@pytest.fixture(params=SEEDS)
def changed(request, tmp_path, monkeypatch):
    """The files that changed in a generated repository, which is the current directory."""
    monkeypatch.chdir(write_changed_repository(tmp_path / "home", request.param))
    return ChangedFiles(repository_of("."), "HEAD")


def by_parsing(changed, specs, cache):
    """Return the affected specs without a quick look at their texts."""
    reach = {affected_specs._reach(path) for path in changed.paths if affected_specs._is_for_all_below(path)}
    return tuple(path for path in specs if affected_specs._is_affected(path, changed, reach, {}, cache))


def test_texts_show_the_specs_that_parsing_shows(changed):
    try:
        jobs = find_job_specs(["."], InputCache()).jobs
    except NoJobs:
        return
    cache = InputCache()
    found = discovered_specs(["."], cache)
    assert found == find_job_specs(["."], InputCache())
    assert affected_by(changed, jobs, {}, cache) == by_parsing(changed, jobs, InputCache())


def test_result_for_changes_is_that_of_a_check_of_all(changed):
    cache = InputCache()
    try:
        whole = validate_specs(["."], None, {}, InputCache())
    except (InvalidInput, OptionError):
        return
    found = discovered_specs(["."], cache)
    affected = affected_by(changed, found.jobs, {}, cache)
    result = changed_result(found, affected, changed.touches, cache)
    expected = narrowed_result(whole, affected, changed.touches)
    if result is not None:
        shown = {
            span.file for one in expected.diagnostics for span in (one.span, *(n.span for n in one.notes if n.span))
        }
        texts = {text.name: text for text in result.texts}
        assert {text for text in whole.texts if text.name in shown} == {texts[name] for name in shown if name in texts}
        assert replace(result, texts=(), extended=()) == replace(expected, texts=(), extended=())


def test_plain_texts_mean_what_the_parser_reads(changed):
    for path in filter(lambda name: name.endswith((".yaml", ".yml")), repository_of(".").tracked()):
        content = open(path, "rb").read() if os.path.isfile(path) else b""
        text = plain_text(content)
        if text is not None:
            assert list(text.values) == [key.text for key, _ in read(decode_bytes(path, content)).root.entries]


def test_one_changed_spec_leaves_others_unparsed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_repository(tmp_path, 60)
    shutil.rmtree(tmp_path / ".git")
    repository(tmp_path)
    commit(tmp_path)
    changed_job = "jobs/team-05/job-0015/job.yaml"
    with open(changed_job, "a") as file:
        file.write("tags: {owner: ml}\n")
    cache = InputCache()
    found, changed = discovered_specs(["."], cache), ChangedFiles(repository_of("."), "HEAD")
    assert affected_by(changed, found.jobs, {}, cache) == (changed_job,)
    result = changed_result(found, (changed_job,), changed.touches, cache)
    assert result is not None
    assert result.specs == 1
    parsed = {path for path in cache.touched if path.endswith("/job.yaml")}
    assert len(parsed) < 6

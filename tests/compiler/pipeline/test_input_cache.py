"""Jobs that share a cache: each is gathered as if it were alone."""

from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import gather_all

FILES = {
    "org": "environment: {A: org, B: org}\ntags: {a: null, company: example}\noverlays: {dev: {tags: {stage: org}}}",
    "team": "extends: [org.yaml]\nenvironment: {A: team}",
    "one": "name: one\nextends: [team.yaml]\nenvironment: {A: null}",
    "two": "name: two\nextends: [team.yaml]\nenvironment: {B: two}\noverlays: {dev: {tags: {company: null, x: null}}}",
    "other_order": "name: other\nextends: [org.yaml, team.yaml]",
    "more": "name: more\nextends: [team.yaml, last.yaml]",
    "last": "environment: {A: last}\noverlays: {dev: null}",
    "partial": "name: partial\nextends: [team.yaml, missing.yaml]\nenvironment: {A: null}",
    "alone": "name: alone\nenvironment: {A: alone}",
}


def test_jobs_with_shared_bases_are_merged_as_on_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / f"{name}.yaml").write_text(f"smspec: v1\n{text}\n")
    shared = InputCache()
    jobs = ("one", "partial", "two", "more", "other_order", "alone", "one", "two")
    for job in jobs:
        together = dict(gather_all(f"{job}.yaml", cache=shared))
        assert together == dict(gather_all(f"{job}.yaml", cache=InputCache()))
        assert None in together
    environments = {
        job: dict(gather_all(f"{job}.yaml", cache=shared))[None].document.node(("environment",)) for job in jobs
    }
    assert {job: {key.text: value.text for key, value in node.entries} for job, node in environments.items()} == {
        "one": {"B": "org"},
        "partial": {"A": "null"},
        "two": {"A": "team", "B": "two"},
        "more": {"A": "last", "B": "org"},
        "other_order": {"A": "team", "B": "org"},
        "alone": {"A": "alone"},
    }

"""A job without one of its bases is checked where no base matters; a note reports the rest."""

import functools
import json
import random
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import check_spec
from smspec.source import SourceText, to_data
from smspec.spec.yaml import read
from support.spec import job_samples
from support.spec.independent_faults import FAULTS, NEEDS, found, lay_out

pytestmark = pytest.mark.slow

NOTE = ("SM147", "note")
EXPLORES = not settings.default.derandomize

# Name → the code, what `extends` is, and what is in base.yaml.
BASES = {
    "missing": ("SM140", "[gone.yaml]", None),
    "not YAML": ("SM101", "[base.yaml]", "smspec: v1\nhosts: {count: 1\n"),
    "key twice": ("SM106", "[base.yaml]", "smspec: v1\nretries: 1\nretries: 2\n"),
    "circle": ("SM141", "[base.yaml]", "smspec: v1\nextends: [job.yaml]\n"),
    "missing behind another": ("SM140", "[base.yaml]", "smspec: v1\nextends: [gone.yaml]\nregion: Oregon\n"),
    "outside": ("SM145", "[../../outside.yaml]", None),
    "no spec": ("SM122", "[base.yaml]", "retries: 1\n"),
    "no list": ("SM121", "base.yaml", "smspec: v1\n"),
    "chosen by a variable": ("SM121", "['${{ vars.base }}.yaml']", None),
}

# A base may have what is missing; of the script and of what takes it nothing is reported.
MAY_HIDE = {*NEEDS, "check ignored in vain", "channel without data", "missing role", "missing output", "no base"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    place = tmp_path_factory.mktemp("jobs")
    (place / ".git").mkdir()
    return lay_out(place)


def keys(directory, base):
    _, extends, text = BASES[base]
    (directory / "base.yaml").unlink(missing_ok=True)
    if text is not None:
        (directory / "base.yaml").write_text(text)
    return {"extends": extends, "checks": "{ignore: []}"}


@pytest.mark.parametrize("base", BASES)
def test_missing_base_is_the_only_error_of_a_valid_job(directory, base):
    reported = found(directory, more=keys(directory, base))
    assert {(code, severity) for code, severity, _ in reported} == {(BASES[base][0], "error"), NOTE}


@pytest.fixture(scope="module")
def with_base(directory):
    """Return a function from a fault to what is reported of it in a job without bases."""
    return functools.cache(lambda fault: found(directory, fault))


@pytest.mark.parametrize("base", BASES)
def test_other_faults_are_reported_as_with_the_base(directory, with_base, base):
    more = keys(directory, base)
    alone = found(directory, more=more)
    for fault in random.Random(base).sample(sorted(FAULTS), len(FAULTS) if EXPLORES else 8):
        expected = with_base(fault)
        both = found(directory, fault, more=more)
        assert alone - both == set()
        assert both - expected - alone == set(), f"{fault}: false"
        hidden = {one for one in expected - both if one[0] != "SM331"}
        assert fault in MAY_HIDE or hidden == set(), f"{fault}: hidden"


def test_ignored_check_may_be_in_the_missing_base(directory):
    """Of an entry of `checks.ignore` only an unknown rule is certain."""
    more = keys(directory, "missing")
    more["checks"] = "{ignore: [{rule: SM320, because: of the base}, {rule: SM999, because: of nothing}]}"
    assert [path for code, _, path in found(directory, more=more) if code == "SM331"] == [
        ("checks", "ignore", 1, "rule")
    ]


def right_jobs():
    """Yield the right examples of the explanations as data, whole jobs around them."""
    for code in explained_codes():
        fences = re.findall(r"```yaml\n(.*?)```", explanation(code), re.DOTALL)
        if code[:3] in ("SM3", "SM4") and len(fences) == 2:
            data = to_data(read(SourceText(code, fences[1])).root)
            yield pytest.param({**READY, **data}, id=code)


READY = {
    "smspec": "v1",
    "name": "ctr",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "output": "s3://example-models/ctr/",
    "image": job_samples.IMAGE_URI,
    "hosts": {"instance_type": "ml.m5.large", "count": 1, "volume": "10GB"},
    "region": "us-west-2",
}
SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*/job.yaml"))


def parallel_map(data, chance, *, of_a_job=True):
    """Return two parts of a job, the second of which can be in a base."""
    own, base = {}, {}
    for key, value in data.items():
        fate = chance.random()
        if of_a_job and key in ("smspec", "name"):
            own[key] = value
        elif isinstance(value, dict) and value and fate < 0.4:
            for part, of_it in zip((own, base), parallel_map(value, chance, of_a_job=False), strict=True):
                if of_it:
                    part[key] = of_it
        else:
            (base if fate < 0.7 else own)[key] = value
    return own, base


def codes(job):
    return {d.code for d in check_spec(str(job), None, {}, InputCache()).diagnostics}


def holds_without_its_base(data, job):
    """Check a job with parts in a base: when that has an unknown variable, is not YAML, or is not there."""
    own, base = parallel_map(data, random.Random(json.dumps(data)))
    if not base:
        return
    job.write_text(json.dumps({**own, "extends": ["org.yaml"]}))
    org = job.with_name("org.yaml")
    whole = json.dumps({"smspec": "v1", **base})
    org.write_text(whole)
    with_it = codes(job)
    org.write_text(json.dumps({"smspec": "v1", **base, "description": "${{ vars.gone }}"}))
    assert codes(job) - with_it <= {"SM125"}
    org.write_text(whole[:-1])
    assert codes(job) - with_it == {"SM101", "SM147"}
    org.unlink()
    assert codes(job) - with_it == {"SM140", "SM147"}


@pytest.mark.parametrize("data", [*right_jobs()])
def test_example_without_its_base_has_no_false_error(data, tmp_path):
    (tmp_path / ".git").mkdir()
    lay_out(tmp_path)
    holds_without_its_base(data, tmp_path / "job.yaml")


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.parent.name)
def test_spec_without_its_base_has_no_false_error(spec, tmp_path):
    (tmp_path / ".git").mkdir()
    shutil.copytree(spec.parents[1], tmp_path / "specs")
    job = tmp_path / "specs" / spec.parent.name / "job.yaml"
    holds_without_its_base(to_data(read(SourceText("", spec.read_text())).root), job)

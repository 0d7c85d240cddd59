"""A build is stale exactly when its files change, whatever the spelling of the spec."""

import functools
import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smspec.output.contents import expected_digest, in_order_of_making
from smspec.pipeline.compilation import Compiled, compile_spec, compiled_digest
from smspec.pipeline.inputs import gather
from smspec.render.tree_rendering import render_tree
from smspec.source import SourceText, to_data
from smspec.spec.yaml import read

ROOT = Path(__file__).parents[3]
SPECS = sorted((ROOT / "specs").glob("*/job.yaml"))
SEEN = ("tags", "hyperparameters", "environment", "channels")
"""Mappings whose order the request shows."""


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Return a copy of every example, to be written over."""
    place = tmp_path_factory.mktemp("specs")
    for spec in SPECS:
        shutil.copytree(spec.parent, place / spec.parent.name)
    return place


def compiled_spec(spec):
    compiled = compile_spec(gather(str(spec)))
    assert isinstance(compiled, Compiled), compiled.diagnostics
    return compiled


def tree(spec):
    """Return {path: digest} of all files of a build."""
    return tree_of(compiled_spec(spec))


def tree_of(compiled):
    built = render_tree(compiled.plan, compiled.inputs.build_inputs, compiled_digest(compiled.plan))
    digests = {}
    for file in in_order_of_making(built.files):
        digests[file.path] = expected_digest(file, digests)
    return digests


@functools.cache
def original(name):
    """Return the compilation of an example, and its tree."""
    compiled = compiled_spec(ROOT / "specs" / name / "job.yaml")
    return compiled, tree_of(compiled)


def content(spec):
    return to_data(read(SourceText("job.yaml", spec.read_text())).root)


def shuffled(draw, value, path=()):
    """Return the same mapping with its keys in another order, wherever no order is seen."""
    if not isinstance(value, dict):
        return value
    keys = list(value) if path[:1] and path[0] in SEEN and len(path) == 1 else draw(st.permutations(list(value)))
    return {key: shuffled(draw, value[key], (*path, key)) for key in keys}


def spelled(draw, data):
    """Return YAML for data: flow or block, quotes of either kind, comments, other spellings of booleans."""
    style = draw(st.sampled_from(["json", "block", "flow", "quoted"]))
    if style == "json":
        text = json.dumps(data, indent=draw(st.sampled_from([None, 1, 4])))
    else:
        text = yaml.safe_dump(
            data,
            sort_keys=False,
            default_flow_style={"block": False, "flow": True, "quoted": None}[style],
            width=draw(st.sampled_from([40, 10_000])),
            allow_unicode=True,
        )
    if style == "block":
        comment = draw(st.sampled_from(["", "# a comment\n", "\n\n"]))
        text = comment + text.replace(": true\n", draw(st.sampled_from([": True\n", ": TRUE  # yes\n"]))) + comment
    return text


plain_tree = functools.cache(tree)


@pytest.mark.parametrize("name", [spec.parent.name for spec in SPECS])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_rewritten_job_builds_the_same_tree(places, name, data):
    written = ROOT / "specs" / name / "job.yaml"
    job = shuffled(data.draw, content(written))
    job["description"] = data.draw(st.sampled_from(["one", "another"]))
    job.pop("overlays", None)
    # A number keeps its spelling on its way into the request, so `1e-3` and `0.001` are two jobs.
    plain = places / name / "plain.yaml"
    if not plain.exists():
        plain.write_text(json.dumps(content(written)))
    spec = places / name / "job.yaml"
    base = places / name / "base.yaml"
    base.unlink(missing_ok=True)
    if data.draw(st.booleans()):
        # Some keys move to a base: an order that is seen stays, for these keys move whole.
        moved = data.draw(st.lists(st.sampled_from(sorted(job.keys() - {"smspec", "name"})), unique=True))
        base.write_text(spelled(data.draw, {"smspec": "v1", **{key: job.pop(key) for key in moved}}))
        job["extends"] = ["base.yaml"]
    spec.write_text(spelled(data.draw, job))
    assert tree(spec) == plain_tree(plain)


def test_moved_job_builds_the_same_tree(tmp_path):
    shutil.copytree(ROOT / "specs/script-mode", tmp_path / "deep/er")
    assert tree(tmp_path / "deep/er/job.yaml") == tree(ROOT / "specs/script-mode/job.yaml")


CHANGES = {
    "retries": {"retries": 7},
    "host": {"hosts": {"instance_type": "ml.m5.4xlarge", "count": 3, "volume": "77GB"}},
    "tag": {"tags": {"team": "other"}},
    "output": {"output": "s3://other-models/x/"},
    "api": {"api": {"RemoteDebugConfig": {"EnableRemoteDebug": True}}},
    "name": {"name": "another-name"},
    "environment": {"environment": {"A": "b"}},
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [spec.parent.name for spec in SPECS])
def test_changed_job_has_a_different_digest(places, name, change):
    spec = places / name / "other.yaml"
    spec.write_text(json.dumps({**content(ROOT / "specs" / name / "job.yaml"), **CHANGES[change]}))
    before, tree_before = original(name)
    after = compiled_spec(spec)
    assert tree_of(after)["manifest.json"] != tree_before["manifest.json"]
    assert compiled_digest(after.plan) != compiled_digest(before.plan)


def test_changed_script_has_a_different_digest(places):
    spec = places / "script-mode/job.yaml"
    shutil.copy(ROOT / "specs/script-mode/job.yaml", spec)
    before = compiled_digest(compile_spec(gather(str(spec))).plan)
    script = places / "script-mode/src/train.py"
    script.write_text(script.read_text() + os.linesep)
    assert compiled_digest(compile_spec(gather(str(spec))).plan) != before

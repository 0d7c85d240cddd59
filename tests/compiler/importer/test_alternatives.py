"""A state machine of `hosts.any_of` is imported as that: rendered again, it is the same state machine."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.importer.imported import RequestNotFound
from smspec.importer.sources import imported
from smspec.importer.spec_writer import write_spec
from smspec.pipeline.compilation import Compiled, compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.render.step_functions import step_functions
from smspec.render.tree import NothingToRender
from smspec.source import SourceText
from support.examples import at_most
from support.smspec_command import smspec

JOB = {
    "smspec": "v1",
    "name": "nightly",
    "role": "arn:aws:iam::111122223333:role/Training",
    "region": "us-west-2",
    "image": "111122223333.dkr.ecr.us-west-2.amazonaws.com/nightly:1",
    "stopping": {"max_runtime": "6h"},
    "output": "s3://example-models/nightly/",
    "checkpoints": "s3://example-models/nightly/checkpoints/",
}
TWO = [{"instance_type": "ml.g5.2xlarge", "count": 1}, {"instance_type": "ml.m5.large", "count": 2, "volume": "9GB"}]

items = st.fixed_dictionaries(
    {
        "instance_type": st.sampled_from(["ml.g5.2xlarge", "ml.g6.2xlarge", "ml.g4dn.xlarge"]),
        "count": st.integers(1, 3),
    },
    optional={
        "volume": st.sampled_from(["10GB", "50GB"]),
        "spot": st.sampled_from([{"max_wait": "8h"}, {"max_wait": "2d"}]),
    },
)
jobs = st.builds(
    lambda hosts, listed, rest: {**JOB, **rest, "hosts": {**hosts, "any_of": listed}},
    st.fixed_dictionaries({}, optional={"keep_alive": st.none()}),
    st.lists(items, min_size=2, max_size=4, unique_by=lambda item: json.dumps(item, sort_keys=True)),
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.sampled_from(["n", "nightly-2026", "n" * 48, "of-20260131"]),
            "hyperparameters": st.just({"epochs": 3, "a.$": "y"}),
            "environment": st.sampled_from([{"K": "{% v %}"}, {"K": "v"}]),
            "retries": st.integers(1, 3),
            "tags": st.just({"team": "search"}),
            "stopping": st.sampled_from([{"max_runtime": "8h"}, {"max_runtime": "1h"}]),
            "api": st.just({"EnableNetworkIsolation": True}),
        },
    ),
)


def payloads(text):
    compiled = compile_spec(in_memory_inputs(SourceText("job.yaml", text)))
    return [dict(each.payload) for each in compiled.plan.requests] if isinstance(compiled, Compiled) else None


def machine(job):
    sent = payloads(json.dumps(job))
    if sent is None:
        return None
    try:
        return json.loads(step_functions(sent).text)
    except NothingToRender:
        return None  # two of its strings are expressions, one in either language


@settings(max_examples=at_most(60), deadline=None)
@given(jobs)
def test_imported_state_machine_renders_the_same(job):
    rendered = machine(job)
    if rendered is None:
        return  # the alternatives are invalid, as with two that are the same job
    written = write_spec(imported(rendered))
    assert json.loads(step_functions(payloads(written.text)).text) == rendered
    assert written.not_imported == ()


def test_properties_are_tried_on_valid_jobs():
    assert machine({**JOB, "hosts": {"any_of": TWO}})["States"]["Train2"]
    assert machine({**JOB, "hosts": {"any_of": [*TWO, {**TWO[0], "spot": {"max_wait": "8h"}}]}})["States"]["Train3"]


def test_command_prints_the_alternatives(tmp_path):
    (tmp_path / "machine.json").write_text(json.dumps(machine({**JOB, "hosts": {"any_of": TWO}})), encoding="utf-8")
    done = smspec("import", "machine.json", cwd=tmp_path)
    assert done.status == 0, done.err
    assert done.out.startswith("# Imported from a Step Functions state machine with 2 alternatives.")
    assert "  any_of:\n    - instance_type: ml.g5.2xlarge\n      count: 1\n" in done.out


def changed(change):
    rendered = machine({**JOB, "hosts": {"any_of": TWO}})
    change(rendered["States"])
    return rendered


def test_change_of_all_alternatives_is_imported():
    def change(states):
        for name in ("Train1", "Train2"):
            states[name]["Parameters"]["Environment"] = {"A": "1"}

    written = write_spec(imported(changed(change)))
    first, second = payloads(written.text)
    assert first["Environment"] == second["Environment"] == {"A": "1"}
    assert "name: nightly\n" in written.text and "job_name" not in written.text


def test_change_of_one_alternative_is_reported():
    with pytest.raises(RequestNotFound, match="alternatives 1 and 2 differ in `Environment`"):
        imported(changed(lambda states: states["Train2"]["Parameters"].update(Environment={"A": "1"})))


def test_value_that_no_alternative_can_have_is_reported():
    def change(states):
        states["Train2"]["Parameters"]["ResourceConfig"]["InstanceCount"] = "two"

    with pytest.raises(RequestNotFound, match="the alternatives differ in `api`"):
        write_spec(imported(changed(change)))


@pytest.mark.parametrize("names", [("x-0123456789-a1", "y-0123456789-a2"), ("x-0123456789-a2", "x-0123456789-a1")])
def test_states_with_other_names_are_not_alternatives(names):
    def change(states):
        for state, name in zip(("Train1", "Train2"), names, strict=True):
            states[state]["Parameters"]["TrainingJobName.$"] = f"States.Format('{name}-{{}}', $.run.id)"

    with pytest.raises(RequestNotFound, match="creates 2 training jobs"):
        imported(changed(change))

"""What was found about one job changes nothing about another job, however much the two share."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.diagnostics import InvalidInput
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.source import SourceText
from smspec.source.frozen import ByContent, ByIdentity
from support.spec.key_changes import CHANGES, changed

PATCHES = (
    {},
    {"StoppingCondition": {"MaxWaitTimeInSeconds": 7200}, "EnableManagedSpotTraining": True},
    {"ResourceConfig": {"InstanceCount": 3, "VolumeKmsKeyId": None}, "Tags": [{"Key": "a", "Value": "b"}]},
    {"AlgorithmSpecification": {"MetricDefinitions": None}, "InputDataConfig": None, "Environment": {"B": "\0"}},
    {"VpcConfig": {"Subnets": ["subnet-1"]}, "OutputDataConfig": None, "Unknown": [1]},
)
SPECS = st.builds(
    lambda start, more, patch, name: json.dumps(with_changes(start, more) | {"api": patch, "name": name}),
    st.sampled_from(sorted(CHANGES)),
    st.lists(st.sampled_from(sorted(CHANGES)), max_size=3),
    st.sampled_from(PATCHES),
    st.sampled_from(("ctr", "bert")),
)


def with_changes(start, more):
    spec, value = CHANGES[start]
    spec = changed(spec, start, value)
    for key in more:
        try:
            spec = changed(spec, key, CHANGES[key][1])
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            continue  # the other key has another form here
    return spec


def outcome(text):
    try:
        return repr(compile_spec(in_memory_inputs(SourceText("job.yaml", text))))
    except InvalidInput as rejected:
        return repr(rejected.diagnostics)


@pytest.fixture(scope="module")
def alone():
    """Return the outcome of a spec if nothing is remembered, not even from its own start."""

    def found(text):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ByIdentity, "of", lambda self, subject, value, find: find())
            patch.setattr(ByIdentity, "of_all", lambda self, subject, objects, find: find())
            patch.setattr(ByContent, "of", lambda self, subject, value, find: find(value))
            return outcome(text)

    return found


@settings(deadline=None, max_examples=25)
@given(st.lists(SPECS, min_size=2, max_size=5))
def test_jobs_that_share_work_are_compiled_as_each_alone(alone, texts):
    assert [outcome(text) for text in (*texts, *texts)] == [alone(text) for text in texts] * 2

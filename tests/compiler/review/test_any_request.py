"""Any two requests can be compared and shown, even malformed ones."""

import copy
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.review.comparison import Comparison, State, reviewed
from smspec.review.fail_on import records
from smspec.review.markdown import markdown
from smspec.review.text import text
from smspec.review.version import version_of_request
from smspec.service.job_costs import PriceBook
from support.examples import at_most

WHOLE = {
    "TrainingJobName": "job-0123456789",
    "HyperParameters": {"lr": "1", "sagemaker_smspec": '{"epochs":5}', "sagemaker_program": "a.py"},
    "AlgorithmSpecification": {
        "TrainingImage": "a/b:1",
        "TrainingInputMode": "Pipe",
        "MetricDefinitions": [{"Name": "a", "Regex": "b"}],
        "ContainerEntrypoint": ["a", "b"],
    },
    "RoleArn": "arn:aws:iam::111122223333:role/a",
    "InputDataConfig": [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3Uri": "s3://a", "S3DataDistributionType": "ShardedByS3Key"}},
            "ShuffleConfig": {"Seed": 1},
        },
        {"ChannelName": "code", "DataSource": {"FileSystemDataSource": {"FileSystemId": "fs-1"}}},
    ],
    "OutputDataConfig": {"S3OutputPath": "s3://b", "KmsKeyId": ""},
    "ResourceConfig": {
        "InstanceType": "ml.m5.large",
        "InstanceCount": 1,
        "KeepAlivePeriodInSeconds": 60,
        "InstanceGroups": [{"InstanceGroupName": "a", "InstanceType": "ml.m5.large", "InstanceCount": 1}],
    },
    "StoppingCondition": {"MaxRuntimeInSeconds": 60, "MaxWaitTimeInSeconds": 60},
    "EnableManagedSpotTraining": True,
    "RetryStrategy": {"MaximumRetryAttempts": 1},
    "CheckpointConfig": {"S3Uri": "s3://c", "LocalPath": "/a"},
    "Environment": {"A": "b"},
    "Tags": [{"Key": "a", "Value": "b"}],
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.just(10**400) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


def places(value):
    """Yield every (holder, key) of a tree."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


@st.composite
def requests(draw):
    """A request of which some parts are anything."""
    request = copy.deepcopy(WHOLE)
    for _ in range(draw(st.integers(0, 3))):
        holder, key = draw(st.sampled_from(list(places(request))))
        if draw(st.booleans()):
            holder[key] = draw(ANYTHING)
        else:
            del holder[key]
    return request


def state(request, file):
    version = version_of_request(request, None, None, is_whole=True)
    return State(file=file, place="", versions={None: version}, faults={})


@given(requests(), requests())
@settings(max_examples=at_most(300))
def test_any_two_requests_are_compared(old, new):
    found = reviewed(state(old, "old.json"), state(new, "new.json"), PriceBook())
    listed = Comparison(reviews=(found,) if found else ())
    assert json.loads(records(listed)) is not None
    assert bool(text(listed)) == bool(markdown(listed)) == bool(listed.reviews)
    same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    assert not (same and listed.reviews)

"""The spec of any request renders the same request, or unsupported members are listed."""

import json

import pytest
from hypothesis import HealthCheck, assume, given, settings

from smspec.diagnostics import InvalidInput
from smspec.diagnostics.unseen import lookalike, unseen_in_name
from smspec.importer.request_equality import differences
from smspec.spec.shape import shape_findings
from support.examples import at_most
from support.service.imported_requests import changed_paths, imported
from support.service.request_strategies import HOSTILE, anything, requests
from support.spec.job_samples import document

pytestmark = pytest.mark.slow

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def is_readable(text):
    """Return whether every name in a spec can be seen; the imported spec is rejected if it cannot."""
    try:
        document(text)
    except InvalidInput as rejected:
        assert {one.code for one in rejected.diagnostics} <= {"SM103", "SM115"}
        return False
    return True


def named(lost, path):
    """Return whether a difference is at, above, or below a member that is reported as lost."""
    return any(part.path[: len(path)] == path or path[: len(part.path)] == part.path for part in lost)


@settings(max_examples=at_most(400), **SLOW)
@given(requests())
def test_request_of_the_model_round_trips(request):
    written = imported(request)
    assume(is_readable(written.text))
    assert changed_paths(written.text, written.request) == []
    assert [p for p in differences(written.request, request) if not named(written.not_imported, p)] == []


@settings(max_examples=at_most(400), **SLOW)
@given(anything())
def test_other_requests_round_trip_or_have_faults(request):
    written = imported(request)
    assume(is_readable(written.text))
    if shape_findings(document(written.text)) == []:
        assert changed_paths(written.text, written.request) == []
    assert [p for p in differences(written.request, request) if not named(written.not_imported, p)] == []


SEEN = tuple(text for text in HOSTILE if not unseen_in_name(text) and lookalike(text) is None)


def test_hostile_texts_survive_in_every_text_member():
    request = {
        "TrainingJobName": "hostile",
        "RoleArn": "arn:aws:iam::111122223333:role/SageMakerTraining",
        "AlgorithmSpecification": {
            "TrainingImage": "${{ image }}",
            "TrainingInputMode": "File",
            "ContainerEntrypoint": list(SEEN),
            "MetricDefinitions": [{"Name": word, "Regex": word} for word in SEEN],
        },
        "HyperParameters": {word: word for word in SEEN if "${{" not in word},
        "Environment": {f"V{index}": word for index, word in enumerate(SEEN)},
        "Tags": [{"Key": word, "Value": word} for word in SEEN if "${{" not in word],
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/", "KmsKeyId": "${{"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
        "StoppingCondition": {},
        "DebugHookConfig": {"HookParameters": {word: word for word in SEEN if "${{" not in word}},
        "InputDataConfig": [
            {
                "ChannelName": word,
                "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": f"s3://bucket/{word}"}},
                "ContentType": word,
            }
            for word in SEEN
            if "${{" not in word
        ],
    }
    written = imported(request)
    assert written.not_imported == ()
    assert changed_paths(written.text, request) == []


def test_each_hostile_hyperparameter_round_trips():
    for word in SEEN:
        for sent in (word, json.dumps(word)):
            request = {
                "OutputDataConfig": {"S3OutputPath": "s3://bucket/"},
                "RoleArn": "arn:aws:iam::111122223333:role/SageMakerTraining",
                "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
                "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
                "HyperParameters": {"x": sent},
            }
            written = imported(request)
            assert changed_paths(written.text, request) == [], sent

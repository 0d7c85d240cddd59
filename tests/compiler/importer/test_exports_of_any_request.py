"""What `render` makes of any request for another tool is imported as the same request."""

import json

import pytest
from hypothesis import HealthCheck, assume, given, settings

from smspec.importer.request_equality import differences
from smspec.importer.sources import imported
from smspec.render.batch import service_job_text
from smspec.render.step_functions import step_functions
from smspec.render.terraform import terraform
from smspec.render.tree import NothingToRender
from smspec.spec.model import Queue
from support.examples import at_most
from support.render.terraform_files import plan_of
from support.service.request_strategies import requests

pytestmark = pytest.mark.slow

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


def without_name(request):
    return {name: value for name, value in request.items() if name != "TrainingJobName"}


def without_empty_lists(value):
    """Return a request as Terraform can express it: a list of no blocks is no block."""
    if isinstance(value, dict):
        return {name: without_empty_lists(inner) for name, inner in value.items() if inner != []}
    return [without_empty_lists(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=at_most(200), **SLOW)
@given(requests())
def test_terraform_resource_is_the_same_request(request):
    keys = [tag["Key"] for tag in request.get("Tags", ())]
    assume(len(keys) == len(set(keys)))  # tags are a mapping there, and SageMaker accepts each key once
    found = imported(plan_of(terraform("job", request).text))
    assert list(differences(without_empty_lists(found.request), without_empty_lists(request))) == []
    assert found.variables == ()


@settings(max_examples=at_most(200), **SLOW)
@given(requests())
def test_service_job_and_machine_are_the_same_request(request):
    found = imported(json.loads(service_job_text(request, Queue(name="queue")).text))
    tags = {tag["Key"]: tag for tag in request.get("Tags", ())}  # of AWS Batch, each key once
    asked = {member: value for member, value in request.items() if member != "Tags"}
    assert list(differences(found.request, {**asked, **({"Tags": [*tags.values()]} if tags else {})})) == []
    try:
        machine = step_functions([request])
    except NothingToRender:
        return
    found = imported(json.loads(machine.text))
    assert list(differences(without_name(found.request), without_name(request))) == []

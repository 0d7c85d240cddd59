"""Rules handle missing members and members of any type without an exception."""

import copy

import pytest

from smspec.service.request import Request
from smspec.service.request_rules import rule_findings
from smspec.service.shapes import pinned_model
from smspec.source import dotted
from support.service import api_samples

MODEL = pinned_model()
PATHS = [path for path, _ in MODEL.walk()]
JUNK = (None, True, 0, -1, 10**30, 0.5, "", "x", "arn:", "ml.", [], [None], [[]], [{}], {}, {"": None}, {"x": [1]})


def request_with(path):
    """Return a request in which ``path`` is filled, what holds it, and under which key."""
    request = api_samples.small_request()
    holder, key = api_samples.fill(request, path)
    return request, holder, key


@pytest.mark.parametrize("path", PATHS, ids=dotted)
def test_junk_value_does_not_crash_the_rules(path):
    request, holder, key = request_with(path)
    for junk in JUNK:
        holder[key] = junk
        before = copy.deepcopy(request)
        for region in (None, "cn-north-1"):
            assert all(found.message for found in rule_findings(Request(payload=request, region=region)))
        assert request == before


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_junk_request_does_not_crash_the_rules(junk):
    payload = dict.fromkeys(MODEL.root.members, junk)
    assert all(found.message for found in rule_findings(Request(payload=payload, region="us-west-2")))

"""The request as a JSON file."""

import json

from smspec.plan import RequestPlan
from smspec.render import request_json
from support.render.plan_samples import PAYLOAD


def test_request_is_ascii_in_api_order():
    text = request_json(RequestPlan(payload=PAYLOAD, origins={}))
    assert json.loads(text) == PAYLOAD
    assert list(json.loads(text)) == list(PAYLOAD)
    assert text.isascii()
    assert text.startswith('{\n  "TrainingJobName"')
    assert text.endswith("}\n")

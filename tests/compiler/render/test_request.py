"""The request as a file."""

import json

from smspec.plan.plan import RequestPlan
from smspec.render.request import request_json
from support.render.plan_samples import PAYLOAD


def test_request_keeps_the_order_of_the_api_and_is_ascii():
    text = request_json(RequestPlan(payload=PAYLOAD, origins={}))
    assert json.loads(text) == PAYLOAD
    assert list(json.loads(text)) == list(PAYLOAD)
    assert text.isascii()
    assert text.startswith('{\n  "TrainingJobName"')
    assert text.endswith("}\n")

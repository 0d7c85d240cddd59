"""A certain secret in a request is reported wherever it is, in a value or in a name."""

import pytest

from smspec.service.request_rules import request_findings
from smspec.service.shapes import pinned_model
from support.service.api_samples import changed, fill, small_request

KEY = f"AKIA{'ZQ3D' * 4}"
MODEL = pinned_model()
STRINGS = [path for path, shape in MODEL.walk() if shape.kind == "string" and not shape.enum]
MAPS = [path for path, shape in MODEL.walk() if shape.kind == "map"]


def codes(request):
    return [finding.code for finding in request_findings(request)]


def named(paths):
    return pytest.mark.parametrize("path", paths, ids=[".".join(map(str, path)) for path in paths])


@named(STRINGS)
def test_key_in_any_string_is_reported(path):
    request = small_request()
    holder, name = fill(request, path)
    assert "SM616" not in codes(request)
    holder[name] = KEY
    assert codes(request).count("SM616") == 1


@named(MAPS)
def test_key_as_a_name_in_any_map_is_reported(path):
    request = small_request()
    holder, name = fill(request, path)
    holder[name] = {KEY: next(iter(holder[name].values()))}
    assert codes(request).count("SM616") == 1


NEWER = {
    "of the request": {"Newer": KEY},
    "in a list": {"Newer": [[KEY]]},
    "in structures": {"Newer": {"A": [{"B": KEY}]}},
    "name": {"Newer": {KEY: {"A": 1}}},
    "name with null": {"Newer": {KEY: None}},
    "named like a command": {"Newer": {"ContainerArguments": [KEY]}},
}


@pytest.mark.parametrize("members", NEWER.values(), ids=NEWER)
def test_key_in_a_newer_member_is_reported(members):
    assert "SM616" in codes(changed(**members))

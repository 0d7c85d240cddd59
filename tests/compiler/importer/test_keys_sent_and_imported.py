"""Every key reaches its member of the request, is its origin, and is imported from it."""

import pytest

from smspec.plan.request_planning import make_plan
from smspec.source import to_data
from smspec.spec.decoding import decode
from support.service.imported_requests import imported
from support.spec.job_samples import build_inputs, document
from support.spec.key_changes import CHANGES, changed, row_of

MEMBERS = [key for key in CHANGES if row_of(key).member]


def planned(written):
    """Return the request of a spec. Its shape may lack something: this is about one key."""
    return make_plan(decode(document(written)), build_inputs("train.py", "reader.py")).request


def found(payload, row):
    """Return the paths of a request that a member represents."""
    places = [()]
    for step in row.steps:
        places = [(*place, part) for place in places for part in parts(at(payload, place), step)]
    return places


def parts(value, step):
    if step == "*":
        return range(len(value)) if isinstance(value, list) else list(value)
    return [step] if isinstance(value, dict) and step in value else []


def at(value, path):
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize("key", MEMBERS)
def test_key_is_sent_and_imported(key):
    row = row_of(key)
    spec, value = CHANGES[key]
    written = changed(spec, key, value)
    request = planned(written)
    places = found(request.payload, row)
    assert places, f"`{row.path}` is written, and `{row.member}` is not sent"
    path = tuple(int(step) if step.isdigit() else step for step in key.split("."))
    origins = {origin for place, origin in request.origins.items() if any(place[: len(p)] == p for p in places)}
    assert any(origin[: len(path)] == path for origin in origins), f"`{row.member}` does not lead back to `{row.path}`"
    spec = to_data(document(imported(request.payload).text).root)
    assert key_in(spec, row), f"`{row.member}` is sent, and import does not make `{row.path}` of it"
    assert not found(spec.get("api", {}), row)


def key_in(spec, row):
    holders = [spec]
    for step in row.path.split("."):
        holders = [holder[part] for holder in holders for part in parts(holder, step)]
    return holders

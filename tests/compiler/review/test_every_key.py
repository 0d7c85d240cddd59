"""Every change of a key has the kind in its row; only keys without effect are cosmetic."""

import copy
import json

import pytest

from smspec.review.fail_on import decode_fail_on
from smspec.review.job_review import compared
from smspec.review.kinds import KINDS
from smspec.review.settable import is_of_variables
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import kinds, version
from support.spec import job_samples, sent_keys
from support.spec.key_changes import CHANGES, changed, row_of

SAME_FILES = {"source.dir", "source.ignore"}
"""The code is that of other files, which here are the same."""

GROUP = {"name": "b", "instance_type": "ml.p4d.24xlarge", "count": 1}


@pytest.mark.parametrize("key", CHANGES)
def test_change_of_a_key_has_its_kind(key):
    spec, value = CHANGES[key]
    old = version({name: there for name, there in spec.items() if there is not None})
    new = version(changed(spec, key, value), requirements=b"numpy\n" if "requirements" in key else None)
    found = kinds(old, new)
    kind = "cosmetic" if key in SAME_FILES else row_of(key).kind
    assert kind in found
    assert (found == {"cosmetic"}) == (kind == "cosmetic")
    assert not kinds(new, new)


@pytest.mark.parametrize(("keys", "_payload"), sent_keys.KEYS)
def test_key_that_reaches_the_request_is_not_cosmetic(keys, _payload):
    plain = job_samples.spec(channels=None)
    found = kinds(version(plain), version({**plain, **keys}))
    assert found - {"cosmetic"}
    assert found <= set(KINDS)


def places(value, path=()):
    """Yield the path of each value that can be a variable."""
    if isinstance(value, dict | list) and value:
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, step))
    elif not isinstance(value, dict | list):
        yield path


def replaced(spec, path, value):
    spec = copy.deepcopy(spec)
    around = spec
    for step in path[:-1]:
        around = around[step]
    around[path[-1]] = value
    return spec


@pytest.mark.parametrize("key", [key for key in CHANGES if row_of(key).kind not in ("", "cosmetic")])
def test_value_that_becomes_a_variable_has_the_kind_of_its_key(key):
    """With the default it is the same job; CI may give another value, which no one has compared."""
    spec, value = CHANGES[key]
    whole = {name: there for name, there in changed(spec, key, value).items() if there is not None}
    steps = tuple(key.split("."))
    mine = [path for path in places(whole) if tuple(map(str, path[: len(steps)])) == steps and path[0] != "api"]
    old = version({**whole, "vars": {"x": {"default": "1"}}})
    for path in mine:
        was = whole
        for step in path:
            was = was[step]
        if was is None:
            continue
        new = version({**replaced(whole, path, "${{ vars.x }}"), "vars": {"x": {"default": was}}})
        assert row_of(key).kind in kinds(old, new) or row_of(".".join(map(str, path))).kind in kinds(old, new)
        assert kinds(new, old) - {"cosmetic"}
        assert not kinds(new, new)


def test_variable_in_the_ceiling_fails_a_limit_of_cost():
    old = version({**job_samples.PLAIN, "vars": {"n": {"default": 1}}})
    hosts = {**job_samples.PLAIN["hosts"], "count": "${{ vars.n }}"}
    new = version(
        {**job_samples.PLAIN, "hosts": hosts, "vars": {"n": {"default": job_samples.PLAIN["hosts"]["count"]}}}
    )
    changes = compared(old, new, PriceBook())
    assert any(decode_fail_on(["cost>20%"]).matches(change) for change in changes)
    assert not any(decode_fail_on(["cost>20%"]).matches(change) for change in compared(new, new, PriceBook()))


def test_item_that_others_move_is_unchanged():
    arguments = ["--a", "${{ vars.a }}"]
    written = {**job_samples.PLAIN, "vars": {"a": {"default": "1"}}, "entry_point": {"script": "train.py"}}
    old = version({**written, "entry_point": {"script": "train.py", "args": arguments}})
    new = version({**written, "entry_point": {"script": "train.py", "args": ["--b", *arguments]}})
    assert not any(is_of_variables(change) for change in compared(old, new, PriceBook()))


MOVED = {
    "hosts": (
        {"hosts": {"groups": [{"name": "a", "instance_type": "ml.m5.large", "count": "V"}, GROUP]}},
        {"hosts": {"groups": [{"name": "a", "instance_type": "ml.m5.large", "count": 1}, {**GROUP, "count": "V"}]}},
    ),
    "image": (
        {"entry_point": {"script": "train.py", "args": ["--epochs", "V", "--lr", "1"]}},
        {"entry_point": {"script": "train.py", "args": ["--epochs", "1", "--lr", "V"]}},
    ),
}


@pytest.mark.parametrize("kind", MOVED)
def test_variable_that_moves_to_another_item_is_a_change(kind):
    def side(keys):
        text = json.dumps({**job_samples.PLAIN, **keys, "vars": {"v": {"default": 1}}})
        return version(text.replace('"V"', '"${{ vars.v }}"'))

    old, new = map(side, MOVED[kind])
    assert kind in kinds(old, new) and kind in kinds(new, old)

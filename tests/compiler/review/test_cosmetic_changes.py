"""Rewriting a job causes cosmetic changes only."""

import functools
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from smspec.review.job_review import compared
from smspec.service.job_costs import PriceBook
from smspec.spec.yaml.events import meaning
from support.review.job_reviews import kinds, version
from support.spec import job_samples

ROOT = Path(__file__).parents[3]
SPECS = sorted((ROOT / "specs").glob("*/job.yaml"))
ORDER_COUNTS = {"channels"}


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_example_does_not_differ_from_itself(path):
    text = path.read_text()
    assert compared(version(text), version(text), PriceBook()) == ()


def rewritten(data, node, name=""):
    """Write a tree otherwise: keys of mappings in another order, but for those whose order is sent; styles, quotes."""
    if isinstance(node, yaml.MappingNode):
        if name not in ORDER_COUNTS:
            node.value = data.draw(st.permutations(node.value))
        for key, value in node.value:
            rewritten(data, key)
            rewritten(data, value, key.value)
        node.flow_style = data.draw(st.booleans())
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            rewritten(data, item)
        node.flow_style = data.draw(st.booleans())
    elif node.style or isinstance(meaning(node.value), str):
        node.style = data.draw(st.sampled_from(["'", '"']))
    return node


def commented(data, text):
    """Return YAML with comments and empty lines between some of its lines."""
    lines = []
    for line in text.splitlines():
        lines += data.draw(st.sampled_from([[], [""], ["# a remark"], ["    # further in"]]))
        lines.append(line)
    return "\n".join([*lines, ""])


version_of_text = functools.cache(version)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
@given(data=st.data())
@settings(max_examples=25)
def test_rewritten_job_changes_cosmetically(path, data):
    text = path.read_text()
    tree = rewritten(data, yaml.compose(text, Loader=yaml.SafeLoader))
    new = commented(data, yaml.serialize(tree, width=4000, Dumper=yaml.SafeDumper))
    assert kinds(version_of_text(text), version(new)) <= {"cosmetic"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"hosts": {"instance_type": "ml.m5.large", "count": 1, "volume": "50GB"}},
            {"hosts": {"instance_type": "ml.m5.large", "count": 1, "volume": 50}},
        ),
        ({"stopping": {"max_runtime": "6h"}}, {"stopping": {"max_runtime": "360m"}}),
        ({"entry_point": "train.py"}, {"entry_point": {"script": "train.py"}}),
        ({"description": "a"}, {"description": "b"}),
        ({"tags": {"a": "1", "b": "2"}}, {"tags": {"b": "2", "a": "1"}}),
        ({"environment": {"A": "1", "B": "2"}}, {"environment": {"B": "2", "A": "1"}}),
    ],
)
def test_different_spelling_is_cosmetic(before, after):
    assert kinds(version(**before), version(**after)) == {"cosmetic"}


def test_quotes_around_a_text_are_cosmetic():
    text = json.dumps(job_samples.spec())
    old = text.replace('"ctr-linear"', "ctr-linear")
    assert kinds(version(old), version(text)) == {"cosmetic"}


def test_quotes_around_a_number_are_a_change():
    assert "hyperparameters" in kinds(version(hyperparameters={"a": 1}), version(hyperparameters={"a": "1"}))


def test_different_order_of_channels_changes_the_request():
    channels = {"a": {"s3": "s3://example-data/a/"}, "b": {"s3": "s3://example-data/b/"}}
    changes = compared(version(channels=channels), version(channels=dict(reversed(channels.items()))), PriceBook())
    assert {change.kind for change in changes} == {"job"}


@pytest.mark.parametrize(
    "api",
    [
        {"VpcConfig": None},
        {"OutputDataConfig": {"KmsKeyId": None}},
        {"VpcConfig": {"Subnets": ["subnet-0bb"]}, "EnableNetworkIsolation": None},
    ],
)
def test_null_that_removes_a_member_is_not_cosmetic(api):
    spec = {
        "network": {"subnets": ["subnet-0aa"], "security_groups": ["sg-0aa"], "isolation": True},
        "output": {"s3": "s3://example-models/ctr/", "kms_key": "alias/models"},
    }
    found = kinds(version(**spec), version(**spec, api=api))
    assert "security" in found
    assert "cosmetic" not in found


def test_null_that_removes_nothing_is_cosmetic():
    assert kinds(version(), version(api={"VpcConfig": None})) == {"cosmetic"}


@pytest.mark.parametrize("patterns", [["!.env"], ["*.csv"], []])
def test_other_ignored_files_of_a_source_are_code(patterns):
    """A file that git does not have may be there where the job is submitted: the listings here are equal."""
    old = {"source": {"dir": "src/", "ignore": ["secrets.json"]}, "checkpoints": "s3://example-checkpoints/ctr/"}
    new = {**old, "source": {"dir": "src/", "ignore": patterns}}
    assert kinds(version(**old), version(**new)) == {"code"}
    assert "code" in kinds(version(**old), version(**new, environment={"A": "1"}))


READY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/ctr:1"


def test_account_of_the_repository_is_not_cosmetic():
    """It is a part of the image's address, whose change is listed."""
    image = {"base": "python:3.12", "repository": "ctr"}
    old, new = (version(image=image, account=account) for account in ("111122223333", "444455556666"))
    assert kinds(old, new) >= {"security", "image"}
    assert "cosmetic" not in kinds(old, new)


def test_account_without_a_repository_has_no_effect():
    old, new = (
        version(image=READY, source=None, entry_point=None, account=a) for a in ("111122223333", "444455556666")
    )
    assert [change.what for change in compared(old, new, PriceBook())] == ["has no effect"]

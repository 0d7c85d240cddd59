"""Keys are put in order; comments go with them, and nothing else changes."""

import re
from collections import Counter

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from smspec.diagnostics import InvalidInput
from smspec.source import SourceText
from smspec.spec.key_order import in_order, part_of
from support.examples import at_most
from support.spec.job_documents import whole_job
from support.spec.written_specs import written_specs

JOBS = st.sets(st.sampled_from(sorted(whole_job())), min_size=2, max_size=9).map(
    lambda kept: {key: value for key, value in whole_job().items() if key in kept}
)


def ordered(text):
    return in_order(SourceText("job.yaml", text))


def comments(text):
    return Counter(re.findall(r"# ?(?:\w.*|\$.*|- item)", text.replace("\r", "")))


@settings(max_examples=at_most(400), suppress_health_check=[HealthCheck.too_slow])
@given(JOBS.flatmap(written_specs))
def test_only_the_order_changes_and_only_once(text):
    result = ordered(text)
    assert ordered(result.text) == result
    before, after = yaml.safe_load(text), yaml.safe_load(result.text)
    assert after == before
    assert comments(result.text) == comments(text)
    assert result.text.count("\r\n") == text.count("\r\n")
    assert result.text.count("\n") == text.count("\n")
    for key in ("channels", "hyperparameters", "environment", "tags"):
        assert list(after.get(key, ())) == list(before.get(key, ()))
    if not result.kept:
        assert list(after) == sorted(before, key=part_of)  # stable


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: a # one\nsmspec: v1 # two\n", "smspec: v1 # two\nname: a # one\n"),
        (
            "# of the file\n\n# of it\nname: a\n# other\nsmspec: v1\n",
            "# of the file\n\n# other\nsmspec: v1\n# of it\nname: a\n",
        ),
        (
            "# yaml-language-server: $schema=x\nname: a\nsmspec: v1\n",
            "# yaml-language-server: $schema=x\nsmspec: v1\nname: a\n",
        ),
        ("name: a\nsmspec: v1", "smspec: v1\nname: a"),
        ("name: a\r\nsmspec: v1", "smspec: v1\r\nname: a"),
        ("hosts:\n  count: 1\n  # volume: 1\nname: a\n", "name: a\nhosts:\n  count: 1\n  # volume: 1\n"),
        ("metrics:\n- regex: b\n  name: a\n", "metrics:\n- name: a\n  regex: b\n"),
        ("metrics:\n# of the item\n-  regex: b\n   name: a\n", "metrics:\n# of the item\n-  name: a\n   regex: b\n"),
        ("overlays:\n  dev:\n    retries: 1\n    name: a\n", "overlays:\n  dev:\n    name: a\n    retries: 1\n"),
        ("unknown: 1\nname: a\nsmspec: v1\n", "smspec: v1\nname: a\nunknown: 1\n"),
        ("---\nname: a\nsmspec: v1\n...\n", "---\nsmspec: v1\nname: a\n...\n"),
        ("description: |\n  a\n\n  # text\nsmspec: v1\n", "smspec: v1\ndescription: |\n  a\n\n  # text\n"),
        ("'name': a\n\"smspec\": v1\n", "\"smspec\": v1\n'name': a\n"),
        ("hosts: {count: 1,\n  instance_type: b}\nname: a\n", "name: a\nhosts: {count: 1,\n  instance_type: b}\n"),
    ],
)
def test_lines_move_with_their_comments(before, after):
    assert ordered(before).text == after


@pytest.mark.parametrize(
    "text",
    [
        "tags: &a {b: c}\nenvironment: *a\n",
        "hosts:\n  <<: {count: 1}\n  instance_type: a\n",
        "hosts: {count: 1, instance_type: a}\n",
        "hyperparameters:\n  name: a\n  epochs: 1\n  count: 2\n",
        "channels:\n  val: {s3: a}\n  train: {s3: b}\n",
        "api:\n  hosts: 1\n  name: 2\n",
        "? name\n: a\n? smspec\n: v1\n",
        "name: a\r\nsmspec: v1\n",
    ],
)
def test_text_stays_where_order_matters_or_is_unclear(text):
    assert ordered(text).text == text


def test_alias_never_precedes_its_anchor():
    text = "overlays:\n  dev:\n    tags: &a\n      b: c\nenvironment: *a\nname: d\nsmspec: v1\n"
    result = ordered(text)
    assert result.text == text
    assert result.kept == (1,)


def test_one_mapping_that_cannot_move_does_not_stop_the_others():
    text = "hosts:\n  count: 1\n  instance_type: a\noverlays:\n  dev:\n    tags: &a\n      b: c\nenvironment: *a\n"
    result = ordered(text)
    assert (
        result.text
        == "hosts:\n  instance_type: a\n  count: 1\noverlays:\n  dev:\n    tags: &a\n      b: c\nenvironment: *a\n"
    )
    assert result.kept == (1,)


def test_large_list_is_ordered_below_a_fixed_top_level():
    head = "overlays:\n  dev:\n    tags: &a\n      b: c\nenvironment: *a\nmetrics:\n"
    items = range(60)
    text = head + "".join(f"- regex: r{number}\n  name: n{number}\n" for number in items) + "name: d\n"
    result = ordered(text)
    assert result.text == head + "".join(f"- name: n{n}\n  regex: r{n}\n" for n in items) + "name: d\n"
    assert result.kept == (1,)


def test_kept_final_line_breaks_stay_part_of_the_value():
    text = "description: |+\n  a\n\n\nname: b\nsmspec: v1\n"
    result = ordered(text)
    assert yaml.safe_load(result.text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    "text",
    ["a: [", "- a\n", "a: 1\n---\nb: 1\n", "a: 1\na: 2\n", "", "name:\tb\n\t- c\n", "name: a\x85smspec: v1", "a\rb"],
)
def test_broken_text_is_rejected(text):
    with pytest.raises(InvalidInput):
        ordered(text)


@settings(max_examples=at_most(200))
@given(
    st.text(st.sampled_from("ab:#-?|>&*{}[]'\" \n\r\t\x85é,"), max_size=40).map(
        lambda end: "name: a\nsmspec: v1\n" + end
    )
)
def test_any_text_is_rejected_or_keeps_its_values(text):
    try:
        result = ordered(text)
    except InvalidInput:
        return
    assert yaml.safe_load(result.text) == yaml.safe_load(text)
    assert ordered(result.text) == result
    assert sorted(result.text) == sorted(text)

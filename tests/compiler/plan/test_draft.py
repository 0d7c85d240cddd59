"""Patches follow RFC 7396 and keep the origin of every member; hyperparameters survive encoding and decoding."""

import copy
import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smspec.plan.draft import Draft, encoded
from smspec.service.patterns import matches
from smspec.spec.model import Hyperparameter
from support.spec import job_samples

NAMES = st.sampled_from("abc")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("xy"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
PATCHES = st.dictionaries(NAMES, JSON, max_size=3)


def merge_patch(target, patch):
    """The pseudocode of RFC 7396, section 2."""
    if not isinstance(patch, dict):
        return patch
    target = target if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = merge_patch(target.get(name), value)
    return target


def drafted(members):
    draft = Draft()
    for name, value in members.items():
        draft.put((name,), value, ("written", name))
    return draft


def paths_of(value, path=()):
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key), inner
        yield from paths_of(inner, (*path, key))


@given(PATCHES, PATCHES)
def test_patch_follows_rfc_7396(members, patch):
    draft = drafted(members)
    before, written = copy.deepcopy(draft.members), copy.deepcopy(patch)
    draft.patch(patch, ("api",))
    assert draft.members == merge_patch(before, copy.deepcopy(patch))
    assert patch == written


def origin(draft, path):
    return next((draft.origins[path[:size]] for size in range(len(path), 0, -1) if path[:size] in draft.origins), ())


@given(PATCHES, PATCHES)
def test_only_patched_members_originate_in_the_patch(members, patch):
    draft = drafted(members)
    draft.patch(patch, ("api",))
    merged = dict(paths_of(draft.members))
    for path, value in paths_of(patch):
        inside_a_list = any(isinstance(step, int) for step in path)
        if value is None and not inside_a_list:
            assert path not in merged
            assert origin(draft, path) == ("api", *path)
        elif not isinstance(value, dict) or inside_a_list:
            assert origin(draft, path) == ("api", *path)
    for path in merged:
        known = origin(draft, path)
        assert known == ("api", *path) or known[0] == "written"
        patched = dict(paths_of(patch))
        if known[0] == "written":
            assert path not in patched or isinstance(patched[path], dict)


def test_patched_names_are_forgotten():
    draft = drafted({"a": {"b": "x"}})
    draft.names |= {("a", "b"), ("a", "c")}
    draft.patch({"a": {"b": "y"}}, ("api",))
    assert draft.names == {("a", "c")}


def decode(text):
    """Decode JSON like the toolkits of SageMaker and the smspec runtime, and keep other text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def sent(value, encoding="json", text=""):
    return encoded(Hyperparameter(name="x", value=value, text=text), encoding)


TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "",
            " ",
            "5",
            " 5 ",
            "1e3",
            "true",
            "True",
            "null",
            "NaN",
            "-Infinity",
            '"x"',
            '"',
            "[1]",
            "{}",
            "a\nb",
            "\x85",
        ]
    ),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)


@given(VALUES, st.sampled_from(["json", "json_strings"]))
@example("[" * 100_000, "json")
@example("007", "json")
@example("\u2028", "json")
@example(-0.0, "json")
@example({"a": ["\u0085\u2028\u2029", "größe"]}, "json_strings")
def test_script_decodes_what_was_written(value, encoding):
    text = sent(value, encoding)
    decoded = decode(text)
    assert decoded == value
    assert type(decoded) is type(value)
    assert matches(".*", text), "the API takes no line break"


@given(TEXTS)
def test_json_strings_quotes_every_string(text):
    assert json.loads(sent(text, "json_strings")) == text


WRITTEN = [
    ("lr: 1e-3", "1e-3"),
    ("lr: 0.10", "0.10"),
    ("lr: -0", "-0"),
    ("lr: .5", "0.5"),
    ("lr: 5.", "5.0"),
    ("lr: +5", "5"),
    ("lr: .inf", "Infinity"),
    ("lr: .nan", "NaN"),
    ("lr: 012", "012"),
    ("lr: 1_000", "1_000"),
    ("lr: yes", "yes"),
    ("lr: true", "true"),
    ("lr: 'true'", '"true"'),
    ("lr: '5'", '"5"'),
    ("lr: adam", "adam"),
    ("lr: 'two words'", "two words"),
    ("lr: ''", ""),
    ("lr: |\n    a\n    b", '"a\\nb\\n"'),
    ("lr: [256, 64]", "[256, 64]"),
    ("lr: {a: [1, null, x]}", '{"a": [1, null, "x"]}'),
    ("lr: größe", "größe"),
    ("lr: [größe]", '["größe"]'),
]
RAW = {
    "lr: .5": ".5",
    "lr: 5.": "5.",
    "lr: +5": "+5",
    "lr: .inf": ".inf",
    "lr: .nan": ".nan",
    "lr: 'true'": "true",
    "lr: '5'": "5",
    "lr: |\n    a\n    b": "a\nb\n",
}


def written(yaml, encoding):
    text = f"""
smspec: v1
name: job
role: arn:aws:iam::111122223333:role/x
image: example/ready
hosts: {{instance_type: ml.m5.large, count: 1}}
output: s3://example-models/x/
hyperparameter_encoding: {encoding}
hyperparameters:
  {yaml}
"""
    (hyperparameter,) = job_samples.decoded(text).hyperparameters
    return encoded(hyperparameter, encoding)


@pytest.mark.parametrize(("yaml", "text"), WRITTEN, ids=[yaml for yaml, _ in WRITTEN])
def test_author_spelling_survives_where_json_agrees(yaml, text):
    assert written(yaml, "json") == text
    assert written(yaml, "raw") == RAW.get(yaml, text)


def test_nan_survives_decoding():
    assert math.isnan(decode(sent(math.nan, text=".nan")))

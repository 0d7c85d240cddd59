"""`smspec explain` and `smspec schema`."""

import json

import pytest

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.diagnostics.quoting import seen
from smspec.spec.schema import keys_in
from support.smspec_command import smspec


def test_every_code_is_explained():
    assert [code for code in explained_codes() if smspec("explain", code) != (0, seen(explanation(code)), "")] == []


def test_explain_ignores_case():
    assert smspec("explain", "sm204").out == smspec("explain", "SM204").out


@pytest.mark.parametrize("key", ["hosts.instance_type", "channels.train.input_mode", "channels.*.input_mode", "smspec"])
def test_keys_are_explained(key):
    done = smspec("explain", key)
    assert done.status == 0
    assert done.out.startswith("# ")


def test_unknown_topic_exits_2():
    for topic in ("", "..", "/etc/passwd", "SM", "\0", "[", "a" * 5000):
        done = smspec("explain", topic)
        assert (done.status, done.out) == (2, ""), topic


def test_schema_is_json_and_ends_with_a_newline():
    done = smspec("schema")
    assert json.loads(done.out)["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert done.out.endswith("}\n")


def test_without_a_topic_families_and_keys_are_listed():
    lines = smspec("explain").out.splitlines()
    assert len(lines) < 60
    assert {code[:3] for code in explained_codes()} == {line[2:5] for line in lines if line.startswith("  SM")}
    assert {f"  {key}" for key in keys_in(())} <= set(lines)


def test_families_list_every_code():
    listed = [
        line.partition(":")[0]
        for family in sorted({code[:3] for code in explained_codes()})
        for line in smspec("explain", family.lower()).out.splitlines()
    ]
    assert listed == list(explained_codes())


@pytest.mark.parametrize(
    ("word", "keys", "codes"),
    [
        ("checkpoint", {"checkpoints", "checkpoints.local"}, {"SM703"}),
        ("PIPEFAIL", set(), {"SM542"}),
        ("local", {"channels.*.local"}, set()),
    ],
)
def test_word_is_searched(word, keys, codes):
    done = smspec("explain", word)
    lines = done.out.splitlines()
    assert (done.status, done.err) == (0, "")
    assert {f"  {key}" for key in keys} <= set(lines)
    assert codes <= {line.strip().partition(":")[0] for line in lines}


def test_word_that_nothing_contains_is_unknown():
    assert smspec("explain", "qqqzzz") == (2, "", smspec("explain", "qqqzzz").err)
    assert "unknown code or key `qqqzzz`" in smspec("explain", "qqqzzz").err


def test_help_of_a_command():
    assert smspec("help", "explain") == smspec("explain", "--help")
    assert smspec("help") == smspec("--help")
    assert "unknown command `explian`; did you mean `explain`?" in smspec("help", "explian").err

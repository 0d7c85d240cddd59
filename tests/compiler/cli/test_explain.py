"""`smspec explain` and `smspec schema`."""

import json

import pytest

from smspec.diagnostics.explanation import explained_codes, explanation
from smspec.diagnostics.quoting import seen
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


def test_without_a_topic_all_are_listed():
    lines = smspec("explain").out.splitlines()
    codes = explained_codes()
    assert [line.partition(":")[0] for line in lines[: len(codes)]] == list(codes)
    assert {"hosts.instance_type", "channels.*.input_mode"} <= set(lines[len(codes) :])


def test_help_of_a_command():
    assert smspec("help", "explain") == smspec("explain", "--help")
    assert smspec("help") == smspec("--help")
    assert "unknown command `explian`; did you mean `explain`?" in smspec("help", "explian").err

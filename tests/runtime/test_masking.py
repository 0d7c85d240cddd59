"""Secrets by name and value, and their masking."""

import json
import shlex
from urllib.parse import quote, quote_plus, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.secret_formats import written_secrets
from smspec_runtime.failure import failure_text, refusal_text
from smspec_runtime.masking import (
    fetched_values,
    is_secret,
    masked_command,
    masked_text,
    secret_arguments,
    secret_values,
    secret_variables,
)
from smspec_runtime.outcome import Outcome
from smspec_runtime.refusal import Refused
from support.secret_corpus import INNOCENT, SECRETS


@pytest.mark.parametrize(
    "name",
    [
        *("password", "DB_PASSWORD", "passphrase", "secret", "client-secret", "hf_token", "credentials"),
        *("apiKey", "api_key", "aws.access_key", "private-key", "auth_key"),
    ],
)
def test_secret_names_are_recognized(name):
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("lr", "tokenizer", "tokenizer_name", "max_tokens", "num_tokens", "secret_arn", "token_file", "token_id"),
        *("pass", "key", "monkey", "passes"),
    ],
)
def test_names_resembling_secrets_are_not(name):
    assert not is_secret(name)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("train --api_key abc --lr 1 --token=xyz -p", "train --api_key ****** --lr 1 --token=****** -p"),
        ("--password --flag x", "--password --flag x"),
        ("--api_keys one two three -v 1", "--api_keys ****** ****** ****** -v 1"),
        ("mpirun -x HF_TOKEN=abc -x SM_HP_TOKEN -x LANG=C", "mpirun -x HF_TOKEN=****** -x SM_HP_TOKEN -x LANG=C"),
        ("--db user=me,password=abc", "--db user=me,password=******"),
        ("--tokenizer=a --token_file b", "--tokenizer=a --token_file b"),
    ],
)
def test_secret_arguments_of_a_command_are_masked(words, shown):
    assert masked_command(words.split(" "), []) == shown


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("train --api_key abc --lr 1 --token=xyz -p", ["abc", "xyz"]),
        ("-password x1 y2 -v z", ["x1"]),
        ("--tokenizer=a --max_tokens 5 --flag x --password", []),
        ("sh PASSWORD=a=b run --password=5 x", ["a=b", "5"]),
    ],
)
def test_values_of_secret_arguments_are_found(words, values):
    assert sorted(secret_arguments(words.split(" "))) == sorted(values)


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ('{"db": {"password": "a \\" b"}}', '{"db": {"password": ******'),
        ("x=[{'api_key': 'a b'}]", "x=[{'api_key': ******"),
        (json.dumps(json.dumps({"api_key": "a b"})), '"{\\"api_key\\": ******'),
        ("./run.sh -f --api_key 'it'\"'\"'s' --lr 1", "./run.sh -f --api_key ****** --lr 1"),
        ("TOKEN='a b' ./run.sh the token is: mine", "TOKEN=****** ./run.sh the token is: mine"),
        ("--password", "--password"),
    ],
)
def test_nested_command_is_masked(word, shown):
    assert masked_command(["sh", "-c", word], []) == "sh -c " + shown


def test_secrets_are_masked_by_value_too():
    secrets = secret_values(
        {"db": [{"password": "two words"}], "api_tokens_by_user": {"me": 123456}, "credentials": ["--abc-def"]}
    )
    assert sorted(secrets) == ["--abc-def", "123456", "two words"]
    assert masked_command(["--db", "x=two words", "--abc-def"], secrets) == "--db x=****** ******"


@pytest.mark.parametrize("part", ["a", "token=", "token", "a=", "token='\"", "token ", "token''"])
def test_long_words_are_masked_in_linear_time(part):
    """Squared, each would take minutes."""
    assert len(masked_command(["--x", part * 40_000], [])) < len(part) * 40_000 + 20


def test_running_text_is_masked():
    assert (
        masked_text("cannot log in with hunter2hunter2", ["hunter2", "hunter2hunter2"]) == "cannot log in with ******"
    )
    assert masked_text("one and 1", ["1", "one"]) == "one and 1"


ENCODINGS = [
    str,
    repr,
    json.dumps,
    quote,
    quote_plus,
    shlex.quote,
    lambda secret: json.dumps({"a": [secret]}, ensure_ascii=False),
    lambda secret: json.dumps(json.dumps(secret)),
    lambda secret: repr({"a": secret}),
    lambda secret: quote(secret, safe=""),
    lambda secret: urlencode({"key": secret}),
    lambda secret: f"https://user:{quote(secret, safe='')}@host/x",
]
# A word alone may be one that masks nothing.
secrets = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=8, max_size=40).filter(
    lambda text: (
        sum(map(str.isalnum, text)) >= 6 and not text.isalpha() and len(text.splitlines()) == 1 and text.strip() == text
    )
)


DATABASE = {
    "name": "hiddenname99",
    "value": "plainvalue77abc",
    "inner": [{"user": "someone-else", "id": 12345678}, "a\nlonger-line"],
    "engine": "postgres",
    "region": "us-east-1",
    "home": "ap-southeast-2",
    "host": "localhost",
    "port": 5432,
    "tls": True,
    "on": False,
    "none": None,
    "short": "x",
}
COMMON = ["postgres in us-east-1 and ap-southeast-2 on localhost:5432 x True False None true false null"]


@pytest.mark.parametrize("leaf", ["hiddenname99", "plainvalue77abc", "someone-else", "12345678", "longer-line"])
def test_every_value_of_a_fetched_secret_is_masked(leaf):
    """Whatever its field is called; words that tell nothing stay."""
    values = fetched_values(["text", json.dumps(DATABASE)])
    assert masked_text(f"no {leaf}.", values) == "no ******."
    assert masked_text(*COMMON, values) == COMMON[0]


@given(secrets, st.lists(st.sampled_from(["list", "value", "name"]), max_size=3), st.sampled_from(ENCODINGS))
def test_any_nested_value_of_a_fetched_secret_is_masked(secret, places, encode):
    value = secret
    for place in places:
        value = [value] if place == "list" else {place: value}
    text, shown = json.dumps(value), f"<{encode(secret)}>"
    assert masked_text(shown, fetched_values([text])) == masked_text(shown, [text, secret])


@given(secrets, st.sampled_from(ENCODINGS))
def test_secret_is_masked_in_any_encoding(secret, encode):
    shown = masked_text(f"cannot log in: <{encode(secret)}>", [secret])
    for form in (str, json.dumps, repr, quote, quote_plus):
        assert form(secret).strip("'\"") not in shown
    assert shown.startswith("cannot log in: <")


@given(st.lists(secrets, min_size=2, max_size=5), st.data())
def test_every_line_of_a_long_secret_is_masked(lines, data):
    """A launcher marks each line, and a log may hold some of them."""
    secret = "\n".join(lines)
    assert masked_text(f"key: {secret}.", [secret]) == "key: ******."
    line = data.draw(st.sampled_from(lines))
    assert line not in masked_text(f"[rank0]: {line}", [secret])


@pytest.mark.parametrize("value", ["1", "true", "no", "abc", "default", "Password", "training", "******", ""])
def test_common_values_are_not_masked(value):
    text = "the default of the training is true: no Password for abc 1"
    assert masked_text(text, [value]) == text


def test_short_values_are_masked_only_as_words():
    assert masked_text("monkeys like monkey", ["monkey"]) == "monkeys like ******"
    assert masked_text("x=monkey; y=monkey_2", ["monkey"]) == "x=******; y=monkey_2"


def test_variables_named_like_secrets_are_masked(tmp_path):
    """A path names the place of a secret, not its value."""
    file = tmp_path / "key"
    file.touch()
    environ = {"DB_PASSWORD": "one-two", "HF_TOKEN": "hf_x", "LANG": "C", "API_KEY": str(file), "NUM_TOKENS": "123456"}
    assert secret_variables(environ) == ["one-two", "hf_x"]


WRITTEN = [(value, found[0]) for _, value in SECRETS for _, found in written_secrets(value)]
UNKNOWN_TO_THE_RUNTIME = 26
"""Of rare services: it has no room for all that `validate` knows."""


def test_secrets_are_recognized_by_their_form():
    """The runtime masks under any name what `validate` reports under any name."""
    left = [found for value, found in WRITTEN if found in masked_text(f"cannot log in: {value}", [])]
    assert len(left) <= UNKNOWN_TO_THE_RUNTIME < len(WRITTEN) / 4
    token = next(found for _, found in WRITTEN if found.startswith("hf_"))
    assert masked_command(["python", "train.py", "--hub", token, f"--x={token}"], []) == (
        "python train.py --hub ****** --x=******"
    )
    assert failure_text(Outcome(1, output=f"ValueError: bad {token}".encode()), ["python", token], []) == (
        'ExecuteUserScriptError: ValueError: bad ******\nExitCode 1\nValueError: bad ******\nCommand "python ******"'
    )
    assert refusal_text(Refused(f"no entry point `{token}`")) == "ClientError: no entry point `******`\nExitCode 1"


def test_innocent_text_is_not_masked():
    """Placeholders are masked where they are written as a secret is; of the rest nothing is."""
    masked = [value for _, value in INNOCENT if masked_text(value, []) != value]
    placeholders = ("xxxx", "EXAMPLE", "user:pass", "${DB_PASSWORD}", ".ingest.sentry.io")
    assert [value for value in masked if not any(part in value for part in placeholders)] == []


@pytest.mark.parametrize("part", ["eyJ-", "SG.", "://a:", "earer ", "hf_", "-----BEGIN PRIVATE KEY-----", "?token="])
def test_long_texts_are_searched_quickly(part):
    """Squared, each would take minutes."""
    masked_text(part * 40_000, [])

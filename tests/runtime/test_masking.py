"""What counts as a secret, by its name, and what is left of it."""

import json

import pytest

from smspec_runtime.masking import is_secret, masked_command, masked_text, secret_values


@pytest.mark.parametrize(
    "name",
    [
        *("password", "DB_PASSWORD", "passphrase", "secret", "client-secret", "hf_token", "credentials"),
        *("apiKey", "api_key", "aws.access_key", "private-key", "auth_key"),
    ],
)
def test_secrets(name):
    assert is_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        *("lr", "tokenizer", "tokenizer_name", "max_tokens", "num_tokens", "secret_arn", "token_file", "token_id"),
        *("pass", "key", "monkey", "passes"),
    ],
)
def test_names_that_only_look_like_it(name):
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
def test_words_of_a_command(words, shown):
    assert masked_command(words.split(" "), []) == shown


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
def test_a_word_that_has_others_in_it(word, shown):
    assert masked_command(["sh", "-c", word], []) == "sh -c " + shown


def test_secrets_are_masked_by_value_where_no_name_tells():
    secrets = secret_values(
        {"db": [{"password": "two words"}], "tokens_by_user": {"me": 123456}, "credentials": ["--abc-def"]}
    )
    assert sorted(secrets) == ["--abc-def", "123456", "two words"]
    assert masked_command(["--db", "x=two words", "--abc-def"], secrets) == "--db x=****** ******"


@pytest.mark.parametrize("part", ["a", "token=", "token", "a=", "token='\"", "token ", "token''"])
def test_long_words_take_no_longer_than_they_are_long(part):
    """Squared, each would take minutes."""
    assert len(masked_command(["--x", part * 40_000], [])) < len(part) * 40_000 + 20


def test_running_text():
    assert (
        masked_text("cannot log in with hunter2hunter2", ["hunter2", "hunter2hunter2"]) == "cannot log in with ******"
    )
    assert masked_text("one and 1", ["1", "one"]) == "one and 1"

"""What counts as a secret, by its name, and what is left of it."""

import pytest

from smspec_runtime.masking import is_secret, masked_text, masked_words


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


def test_words_of_a_command():
    words = ["train", "--api_key", "abc", "--lr", "1", "--token=xyz", "-p", "--password", "--flag", "x"]
    shown = ["train", "--api_key", "******", "--lr", "1", "--token=******", "-p", "--password", "--flag", "x"]
    assert masked_words(words) == shown


def test_running_text():
    assert (
        masked_text("cannot log in with hunter2hunter2", ["hunter2", "hunter2hunter2"]) == "cannot log in with ******"
    )
    assert masked_text("one and 1", ["1", "one"]) == "one and 1"

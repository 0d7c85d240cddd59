"""Secrets in source files: found by format with their line, without false alarms in usual code."""

import time

import pytest

from smspec.workspace.source_listing import marked_formats, secrets_of_file
from support.secret_corpus import INNOCENT, SECRETS, made

KEY = "PRIVATE " + "KEY"
BODY = made("{s64}\n{s64}", "a key")
CERTAIN = {
    "AKIA{u16}": "an AWS access key",
    "ghp_{a36}": "a GitHub token",
    "github_pat_{a22}_{a59}": "a GitHub token",
    "glpat-{b20}": "a GitLab token",
    "hf_{a34}": "a Hugging Face token",
    "sk-proj-{b100}": "an API key",
    "sk-ant-api03-{b93}AA": "an API key",
    "sk_live_{a24}": "an API key",
    "xoxb-{d12}-{d12}-{a24}": "a Slack token",
    "AIza{b35}": "a Google credential",
    "npm_{a36}": "a registry token",
    "pypi-AgEIcHlwaS5vcmc{b120}": "a registry token",
    "dapi{h32}": "a cloud credential",
    "aws_secret_access_key = {s40}": "an AWS secret key",
    '"AWS_SECRET_ACCESS_KEY": "{s40}"': "an AWS secret key",
    'os.environ["WANDB_API_KEY"] = "{h40}"': "a W&B key",
    'wandb.login(key="{h40}")': "a W&B key",
}
LIKELY = {
    "https://hooks.slack.com/services/T{H9}/B{H9}/{a24}": "a webhook",
    "SG.{b22}.{b43}": "a mail service key",
    "nvapi-{b64}": "a token of a model service",
    "hvs.{b90}": "a service token",
}


def searched(content):
    return secrets_of_file("a.py", content, marked_formats(content))


def found(text):
    return [(secret.line, secret.what, secret.is_certain) for secret in searched(text.encode())]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(("template", "what"), [*CERTAIN.items(), *LIKELY.items()])
def test_secret_is_found_in_its_line(template, what, ending):
    secret = made(template, template)
    line = secret if "=" in secret or ":" in secret[:30] else f'KEY = "{secret}"'
    assert found(ending.join(["import os", "", line, "", line])) == [
        (3, what, template in CERTAIN),
        (5, what, template in CERTAIN),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"-----BEGIN RSA {KEY}-----\n{BODY}\n-----END RSA {KEY}-----\n",
        f"-----BEGIN {KEY}-----\n{BODY}\n",
        f"-----BEGIN RSA {KEY}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n{BODY}\n",
        f'KEY = "-----BEGIN OPENSSH {KEY}-----\\n{BODY[:64]}\\n"\n',
        f'{{"type": "service_account", "private_key": "-----BEGIN {KEY}-----\\n{BODY[:64]}\\n-----END {KEY}-----\\n"}}',
    ],
)
def test_private_key_needs_a_body(text):
    assert found(text) == [(1, "a private key", True)]


@pytest.mark.parametrize(
    "text",
    [
        f'if text.startswith("-----BEGIN RSA {KEY}-----"):\n    return load(text)\n',
        f"-----BEGIN {KEY}-----\n...\n-----END {KEY}-----\n",
        "key = 'AKIAIOSFODNN7" + "EXAMPLE'",
        "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY_OF_THE_TRAINING_ACCOUNT_2']",
        "aws_secret_access_key = <your secret>",
        "wandb.login(key=os.environ['WANDB_API_KEY'])",
        "tokenizer.add_special_tokens({'additional_special_tokens': ['<|im_start|>']})",
        "hf_hub_download(repo_id='a/b', filename='hf_transformers_checkpoint.bin')",
        "s3://bucket/hf_datasetsimagenetvalidationsplit/",
        "TOKEN_OF = 'github_pat_for_the_release_workflow'",
        "npm_packagesofthewholefrontendteamintwo/",
        "sk-proj-for-the-evaluation-of-models",
        "sk-learn-random-forest-classifier-v2-2024",
        "postgresql://user:hunter2@localhost/db",
        "token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'",
        "sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'",
    ],
)
def test_code_resembling_a_secret_is_not_reported(text):
    assert found(text) == []


def test_innocent_texts_of_the_corpus_are_not_reported():
    assert found("\n".join(f"{name} = {value!r}" for name, value in INNOCENT)) == []


def test_value_of_a_secret_is_not_stored():
    for name, value in SECRETS:
        for secret in searched(f"{name}={value}".encode()):
            assert not any(len(text) > 30 for text in (secret.path, secret.what))


@pytest.mark.parametrize(
    "piece",
    [
        *("AKIA", "hf_", "sk-", "xoxb-", "Q~", "wandb", "WANDB_API_KEY = ", "aws_secret_access_key=", "SG.", "nvapi-"),
        *("-----BEGIN PRIVATE " + "KEY-----\n", "A: \n", "hooks.slack.com/services/", "hvs.", "a"),
    ],
)
def test_hostile_text_is_searched_in_linear_time(piece):
    text = (piece * (500_000 // len(piece))).encode()
    before = time.process_time()
    searched(text)
    assert time.process_time() - before < 5, "500 kB"

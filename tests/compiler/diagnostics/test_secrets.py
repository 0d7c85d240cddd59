"""Recognition and masking of secrets."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.quoting import HIDDEN, hidden, masked
from smspec.diagnostics.secret_formats import certain_secret
from smspec.diagnostics.secrets import secret_in
from support.small_job import BUILT, READY, write_job
from support.smspec_command import smspec

# Put together here, so that no scanner takes this file for a leak.
SECRETS = [
    ("access", "AKIA" + "IOSFODNN7ABCDEFG"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYabcdefgKEY"),
    ("forge", "ghp_" + "a1B2" * 9),
    ("forge", "github_pat_" + "11ABCDEFG0abcdefghij"),
    ("forge", "glpat-" + "a1B2c3D4e5F6g7H8i9J0"),
    ("hub", "hf_" + "aBcDeFgHiJ" * 4),
    ("model", "sk-" + "abcDEF123" * 4),
    ("chat", "xoxb-" + "123456789012-abcdef"),
    ("chat", "https://hooks.slack.com/services/" + "T00000000/B00000000/abcdefgh"),
    ("map", "AIza" + "a1B2c" * 7),
    ("ssh", "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIE\n-----END RSA PRIVATE " + "KEY-----"),
    ("session", "eyJhbGciOiJIUzI1NiIs" + ".eyJzdWIiOiIxMjM0NTY3.SflKxw"),
    ("index", "https://user:pa55-word@pypi.example.com/simple"),
    ("lake", "dapi" + "0123456789abcdef" * 2),
    ("registry", "npm_" + "a1B2c3" * 6),
    ("DB_PASSWORD", "hunter2"),
    ("dbPassword", "s3cr3t!"),
    ("MYSQL_PWD", "toor"),
    ("password", "correct horse battery"),
    ("api_key", "0123456789abcdef0123"),
    ("WANDB_API_KEY", "0123456789abcdef" * 2 + "01234567"),
    ("client_secret", "Zx8~qwerty12345"),
    ("auth-token", "d41d8cd98f00b204e9800998ecf8427e"),
]
HARMLESS = [
    ("tokenizer", "bert-base-uncased"),
    ("tokenizer_revision", "d41d8cd98f00b204e9800998ecf8427e"),
    ("max_tokens", "512"),
    ("num_tokens", "100000000000"),
    ("pad_token", "<pad>"),
    ("bos_token", "[BOS]"),
    ("eos_token", "<|endoftext|>"),
    ("sep_token_id", "102"),
    ("token_type_vocab_size", "2"),
    ("token_mixing", "depthwise_conv"),
    ("DB_SECRET_ARN", "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-Ab12"),
    ("db_secret", "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-Ab12"),
    ("api_key_param", "/production/api-key"),
    ("password_file", "/run/secrets/password"),
    ("password", "${DB_PASSWORD}"),
    ("use_auth_token", "true"),
    ("keyword", "password"),
    ("commit", "695e0514a1f2c3d4e5f60718293a4b5c6d7e8f90"),
    ("SAFE", "d41d8cd98f00b204e9800998ecf8427e"),
    ("monkey", "0123456789abcdef0123"),
    ("contact", "someone@example.com"),
    ("image", "example.com/a/b@sha256:0123456789abcdef"),
    ("data", "s3://example-data/tokens/password/"),
    ("token_dropout", "0.15"),
    ("token_embedding", "learned_positional_v2"),
    ("token_vocab", "cl100k_base-v2"),
    ("token_pattern", r"(?u)\b\w\w+\b"),
    ("response_token", "### Response 2"),
    ("init_token", "classify_v2_label3"),
    ("stop_token", '["</s>", "<|eot_id|>"]'),
    ("trained_token", "300000000000"),
    ("hf_token_secret", "prod/hf-token-1"),
    ("credential_source", "Ec2InstanceMetadata"),
    ("google-auth", "1.11.3=pypi_0"),
    ("python-jose-token", "3.3.0=pyhd3eb1b0_0"),
    ("keypoints", "coco_wholebody_133_x4k9"),
]


@pytest.mark.parametrize(("name", "value"), SECRETS)
def test_secret_is_recognized_by_form_or_name(name, value):
    assert secret_in(name, value)


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_text_resembling_a_secret_is_not_one(name, value):
    assert secret_in(name, value) is None
    assert masked(f"{name}: {value}") == f"{name}: {value}"


SPELLINGS = [
    "{name}: {value}",
    '{name}: "{value}"',
    "{name}: '{value}'  # why",
    "  {name}: &anchor {value}",
    "env: {{A: 1, {name}: {value}, B: 2}}",
    '{{"{name}": "{value}"}}',
    "--{name}={value}",
    "export {name}={value}",
    "{name}: |\n  {value}",
    '{name}: ["{value}", b]',
    "{{{name}: [b, '{value}'], c: 1}}",
    "{name}:\n  - b\n  - {value}",
    '{{"Key": "{name}",\n "Value": "{value}",,}}',
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "value"), [secret for secret in SECRETS if "\n" not in secret[1]])
def test_secret_is_masked_with_the_same_length(spelling, name, value):
    text = f"before: 1\n{spelling.format(name=name, value=value)}\nafter: 2\n"
    shown = masked(text)
    secret = re.sub(r"^https://(hooks.slack.com/services/)?|@pypi.*", "", value)
    assert secret not in shown
    assert [len(line) for line in shown.split("\n")] == [len(line) for line in text.split("\n")]
    assert shown.startswith("before: 1\n")
    assert shown.endswith("\nafter: 2\n")


def test_every_line_of_a_private_key_is_masked():
    key = "-----BEGIN PRIVATE " + "KEY-----\n  MIIEvQIBADANBg\n  kqhkiG9w0BAQEF\n  -----END PRIVATE " + "KEY-----"
    assert masked(f"a: |\n  {key}\nb: 1") == "a: |\n  " + re.sub("[^\n]", "*", key) + "\nb: 1"


@pytest.mark.parametrize(("name", "value"), [*SECRETS, *(("DB_PASSWORD", value) for _, value in SECRETS)])
def test_hidden_secret_shows_neither_text_nor_length(name, value):
    """What is known in two ways, by its name and by how it is written, is one secret."""
    shown = hidden(f"{name}: {value}\nafter: 2\n")
    assert value not in shown
    assert shown.count(HIDDEN) == 1
    assert "*" not in shown.replace(HIDDEN, "")


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("nobody asks for these credentials: the image is not pulled", "the image is not pulled"),
        (
            "files that are not searched for secrets: `a/b-7x.txt`, `c/d.txt` and 4 more",
            "`a/b-7x.txt`, `c/d.txt` and 4",
        ),
        ("log in with the api_key: a8Zk2-77qL0 and go on", "api_key: *********** and go on"),
        ("this holds the value of client_secret: supersecret", "client_secret: ***********"),
        ("{a: 1, client_secret: correct horse}", "{a: 1, client_secret: *************}"),
        ("- client_secret: correct horse", "- client_secret: *************"),
        ("note: password=hunter2", "note: password=*******"),
    ],
)
def test_sentence_loses_only_its_secret(sentence, shown):
    assert shown in masked(sentence)


@pytest.mark.parametrize("name", ["HF_TOKEN", "TOKEN", "accesstoken", "token_2", "GITHUB_TOKEN_VALUE"])
def test_token_after_a_name_is_a_secret(name):
    assert secret_in(name, "d41d8cd98f00b204e9800998ecf8427e")


@pytest.mark.parametrize(
    "words", [("--set", "vars.v={}"), ("--set", "db_password={}"), ("--format", "{}"), ("-O", "{}"), ("{}.yaml",)]
)
def test_secret_in_the_command_line_is_masked(words, tmp_path):
    write_job(tmp_path, f"{READY}vars: {{v: {{default: a, enum: [a, b]}}}}\n")
    secret = "hf_" + "aBcDeFgHiJ" * 4
    done = smspec("validate", *(word.format(secret) for word in words), cwd=tmp_path)
    assert done.status == 2
    assert secret not in done.out + done.err
    assert "***" in done.err


@given(st.text(alphabet=st.sampled_from("apikey_password: =\n'\"{}|>-@/0Az"), max_size=200) | st.text(max_size=100))
def test_masking_is_idempotent_and_keeps_lines(text):
    shown = masked(text)
    assert len(shown) == len(text)
    assert [line for line in shown.split("\n") if "*" not in line] == [
        before for before, after in zip(text.split("\n"), shown.split("\n"), strict=True) if "*" not in after
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "Key: a,",
        "Key: a Value: ",
        "token: ",
        "token: [",
        "token=&-",
        'token: "',
        "token: |\n ",
        "token:\n- ",
        "-a",
        "Key: ",
        "name: a value: ",
        'value: "',
        "curl ",
        "curl -u ",
        "docker login ",
        "sshpass -p",
        "a://b:",
        "eyJ ",
        "eyJhIjo",
        "secret: {a: b, ",
        "TOKEN=$(",
        "TOKEN=`",
        "machine a.b login c ",
        "echo a | ",
    ],
)
def test_text_of_many_prefixes_is_masked_in_linear_time(piece):
    text = "token " + piece * (100_000 // len(piece))
    before = time.process_time()
    assert len(masked(text)) == len(text)
    assert time.process_time() - before < 3, "as long as the text times itself: 10 or more"


def test_text_after_too_many_named_values_is_masked():
    text = "token: a\n" * 20_000 + "password: hunter2\n"
    assert "hunter2" not in masked(text)
    assert masked(text).startswith("token: a\n")


@pytest.mark.parametrize("flags", [(), ("--format", "json")], ids=["text", "json"])
@pytest.mark.parametrize(("name", "value"), [secret for secret in SECRETS if "\n" not in secret[1]])
def test_validate_reports_without_showing_the_secret(name, value, flags, tmp_path):
    """A certain secret is an error, what looks like one a warning."""
    variable = name.replace("-", "_")
    write_job(tmp_path, f"{READY}environment: {{{variable}: '{value}'}}\n")
    done = smspec("validate", *flags, cwd=tmp_path)
    is_certain = certain_secret(variable, value) is not None
    assert done.status == is_certain
    assert ("SM616" if is_certain else "SM601") in done.out
    secret = re.sub(r"^https://(hooks.slack.com/services/)?|@pypi.*", "", value)
    assert secret not in done.out + done.err


def test_certain_secret_in_any_member_is_rejected(tmp_path):
    key = f"AKIA{'ZQ3D' * 4}"
    for api in (f"ExperimentConfig: {{TrialName: {key}}}", f"DebugHookConfig: {{HookParameters: {{a: {key}}}}}"):
        write_job(tmp_path, f"{READY}api: {{{api}}}\n")
        done = smspec("validate", cwd=tmp_path)
        assert done.status == 1 and "SM616" in done.out and key not in done.out


@pytest.mark.parametrize("image", ["labels", "env"])
def test_certain_secret_as_a_name_in_the_image_is_rejected(image, tmp_path):
    key = f"AKIA{'ZQ3D' * 4}"
    write_job(tmp_path, BUILT.replace("{base: ", f"{{{image}: {{{key}: a}}, base: "))
    done = smspec("validate", cwd=tmp_path)
    assert done.status == 1 and "SM618" in done.out and key not in done.out


CERTAIN = [
    ("AWS_ACCESS_KEY_ID", f"AKIA{'ZQ3D' * 4}", "an AWS access key"),
    ("aws_secret_access_key", "q8Xv2Lm0/Rt5Wn7Yb3Kc9Pd1Hf4Gj6Sz+Ae0Uo2i", "an AWS secret key"),
    ("anything", f"hf_{'aB1' * 12}", "a Hugging Face token"),
    ("WANDB_API_KEY", "0123456789abcdef" * 2 + "01234567", "a W&B key"),
]
UNCERTAIN = [
    ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("AWS_SECRET_ACCESS_KEY", "${AWS_SECRET_ACCESS_KEY}"),
    ("DB_PASSWORD", "correct-horse-7"),
    ("revision", "0123456789abcdef" * 2 + "01234567"),
    ("header", "-----BEGIN RSA PRIVATE KEY-----"),
    ("url", "https://someone:pa55-word@tracker.example.com/"),
]


@pytest.mark.parametrize(("name", "value", "what"), CERTAIN, ids=[what for *_, what in CERTAIN])
def test_known_format_or_name_is_certain(name, value, what):
    assert certain_secret(name, value) == what


@pytest.mark.parametrize(("name", "value"), UNCERTAIN, ids=[value for _, value in UNCERTAIN])
def test_examples_and_references_are_not_certain(name, value):
    assert certain_secret(name, value) is None

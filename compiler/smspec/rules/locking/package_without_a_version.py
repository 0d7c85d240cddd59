"""Without an exact version, what is installed depends on the day of the build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.locking.pinning import Pinning

RULE = Rule("SM721", "package without a version", "warning")

# `===` is exact too; `==1.*` is not. A URL names one file.
_EXACT = r"[^;#@]*===?\s*[^*;#\s,]+\s*(?:[;#\s].*)?|[^;#]*@\s*\S+.*"
_NO_PACKAGE = ("#", "-", "http:", "https:", "git+")
_MOST_NAMED = 3


def check(pinning: Pinning) -> Iterator[Finding]:
    """Warn of Python packages, of the spec and of its requirements file, that any version would do for."""
    for index, package in enumerate(pinning.image.python_packages):
        if not _is_exact(package):
            yield RULE.at(
                ("image", "python_packages", index),
                f"`{package}` may be another version at every build",
                help="write the exact version, `name==1.2.3`",
            )
    loose = [line for line in _packages(pinning.requirements) if not _is_exact(line)]
    if loose:
        more = f" and {len(loose) - _MOST_NAMED} more" if len(loose) > _MOST_NAMED else ""
        named = ", ".join(f"`{line}`" for line in loose[:_MOST_NAMED])
        yield RULE.at(
            ("image", "python_requirements"),
            f"{named}{more} may be another version at every build",
            help="write exact versions, best with their hashes, as `pip-compile --generate-hashes` or `uv` do",
        )


def _is_exact(requirement: str) -> bool:
    return re.fullmatch(_EXACT, requirement) is not None


def _packages(content: bytes | None) -> Iterator[str]:
    """Yield the requirements of a file, each on a line: no comments, no options, no addresses."""
    text = (content or b"").decode("utf-8", "replace").replace("\\\n", " ").replace("\\\r\n", " ")
    for line in text.splitlines():
        word = line.strip()
        if word and not word.startswith(_NO_PACKAGE):
            yield re.split(r"\s+(?:#|--)", word)[0].strip()

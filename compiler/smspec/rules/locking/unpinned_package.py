"""Without an exact version, the installed version depends on the day of the build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.locking.pinning import Pinning

RULE = Rule("SM721", "unpinned package", "warning")

# `===` is exact too; `==1.*` is not. A URL identifies one file.
_EXACT = r"[^;#@]*===?\s*[^*;#\s,]+\s*(?:[;#\s].*)?|[^;#]*@\s*\S+.*"
_NO_PACKAGE = ("#", "-", "http:", "https:", "git+")
_MOST_NAMED = 3


def check(pinning: Pinning) -> Iterator[Finding]:
    """Warn about Python packages, in the spec and in its requirements file, that have no exact version."""
    if pinning.packages != "not locked":
        return  # the lock has a version of each, or `smspec lock` adds it
    for index, package in enumerate(pinning.image.python_packages):
        if not _is_exact(package):
            yield RULE.at(
                ("image", "python_packages", index),
                f"`image.python_packages`: `{package}` is not pinned",
                help="use an exact version, such as `name==1.2.3`",
            )
    loose = [str(number) for number, _ in loose_lines(pinning.requirements)]
    if loose:
        more = f" and {len(loose) - _MOST_NAMED} more" if len(loose) > _MOST_NAMED else ""
        # Do not show the lines themselves: a spec can name any file of its repository, and messages show only lines of
        # specs.
        named = f"{'line' if len(loose) == 1 else 'lines'} {', '.join(loose[:_MOST_NAMED])}{more}"
        yield RULE.at(
            ("image", "python_requirements"),
            f"`{pinning.requirements_name}` does not pin a version in {named}",
            help="use exact versions, such as those of `pip-compile --generate-hashes`",
        )


def loose_lines(content: bytes | None) -> Iterator[tuple[int, str]]:
    """Yield the requirements of a file without an exact version, with their line numbers."""
    return ((number, package) for number, package in _packages(content) if not _is_exact(package))


def _is_exact(requirement: str) -> bool:
    return re.fullmatch(_EXACT, requirement) is not None


def _packages(content: bytes | None) -> Iterator[tuple[int, str]]:
    """Yield the requirements of a file with their line numbers, without comments, options, and URLs."""
    begun, words = 1, ""
    for number, line in enumerate((content or b"").decode("utf-8", "replace").splitlines(), 1):
        words += f" {line.removesuffix(chr(92))}"
        if line.endswith("\\"):
            continue
        word = words.strip()
        if word and not word.startswith(_NO_PACKAGE):
            yield begun, re.split(r"\s+(?:#|--)", word)[0].strip()
        begun, words = number + 1, ""

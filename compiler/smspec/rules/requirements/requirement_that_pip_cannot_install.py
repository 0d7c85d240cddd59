"""One line that pip rejects, or cannot fetch, ends the build of the image, or the start of the job."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.image_python import official_name, without_python
from smspec.service.image_reference import parsed_reference
from smspec.source import Path
from smspec.spec.model import BuiltImage

RULE = Rule("SM328", "requirement that pip cannot install")

_FILE: Path = ("image", "python_requirements")
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[^\]]*\])?"
_SINGLE_EQUALS = rf"({_NAME})\s*=\s*([0-9][^=\s;,]*)\s*(?:[;#].*)?"
_NO_OPERATOR = rf"{_NAME}\s*(=[<>]|\^|~(?!=))\s*v?[0-9].*"
_GIT = r"(?:(?:-e|--editable)[ =]*|[A-Za-z0-9._-]+(?:\[[^\]]*\])?\s*@\s*)?git\+[a-z]+://"


def check_lines(image: BuiltImage, content: bytes | None) -> Iterator[Finding]:
    """Reject `name=1.0`, which pip does not parse, and git URLs in an image without git."""
    lacks_git = _lacks_git(image)
    for index, package in enumerate(image.python_packages):
        if lacks_git and _needs_git(package):
            yield _without_git(("image", "python_packages", index), "`image.python_packages`: a git URL")
    if content is not None:
        yield from _line_findings(content, _FILE, "`image.python_requirements`:", lacks_git=lacks_git)


def check_startup_lines(content: bytes, path: Path, image: object) -> Iterator[Finding]:
    """Reject the same of requirements.txt in the source; ``path``: that of the source. `image.run` may install git."""
    lacks_git = isinstance(image, BuiltImage) and not image.run and _lacks_git(image)
    return _line_findings(content, path, "`requirements.txt`", lacks_git=lacks_git)


def _line_findings(content: bytes, path: Path, file: str, *, lacks_git: bool) -> Iterator[Finding]:
    git_was_reported = False
    for number, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), 1):
        word = line.strip()
        wrong = re.fullmatch(_SINGLE_EQUALS, word)
        if wrong:
            yield RULE.at(
                path,
                f"{file} line {number} has `=`, which pip rejects",
                help="use `==` for an exact version",
            )
        elif wrong := re.fullmatch(_NO_OPERATOR, word):
            yield RULE.at(
                path,
                f"{file} line {number} has `{wrong[1]}`, which pip rejects",
                help="use `==` for an exact version, or `>=` and `<` for a range",
            )
        elif lacks_git and not git_was_reported and _needs_git(word):
            git_was_reported = True
            yield _without_git(path, f"{file} line {number}")


def _needs_git(word: str) -> bool:
    """Return whether pip clones a repository for a requirement on every platform; a marker may exclude the platform."""
    return re.match(_GIT, word) is not None and re.search(r"\s;", word) is None


def _without_git(path: Path, what: str) -> Finding:
    return RULE.at(
        path,
        f"{what} requires git, which the base image lacks",
        help="add `git` to `image.system_packages`",
    )


def _lacks_git(image: BuiltImage) -> bool:
    """Return whether an image certainly has no git when pip starts."""
    reference = parsed_reference(image.base)
    if (
        reference is None
        or image.pre_install
        or any(re.match(r"git\b|dgit|devscripts|build-dep", word) for word in image.system_packages)
    ):
        return False
    is_slim = official_name(image.base) == "python" and re.search(r"\b(?:slim|alpine)", reference.tag or "") is not None
    return is_slim or without_python(image.base)

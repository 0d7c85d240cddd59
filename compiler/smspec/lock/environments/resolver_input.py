"""The files that a resolver reads: the packages of a spec, the author's requirements, and versions to keep."""

from __future__ import annotations

import os
import re

from smspec.lock.environments.resolution import Question

_HASH = re.compile(rb"\s*\\?\s*--hash[=\s]+\w+:[0-9a-f]+")
_OPTIONS_OF_UV = ("--index-url", "--extra-index-url", "--find-links", "--no-index")
_OPTIONS_OF_BUILDS = ("--no-binary", "--only-binary")
"""They would replace the same option of the command line."""

PACKAGES, REQUIREMENTS = "packages.in", "requirements.in"


def write_for_pip(question: Question, directory: str, *, with_hashes: bool) -> list[str]:
    """Write the requirements to a directory; return the names of the files. Lines keep their numbers."""
    content = question.content
    if content is not None and not with_hashes:
        # A space instead: nothing that was apart becomes the name of a variable.
        content = _HASH.sub(b" ", content)
    return _write(question, directory, content)


def write_for_uv(question: Question, directory: str) -> list[str]:
    """Write the requirements to a directory; return the names of the files.

    Without hashes, which uv would then require of every dependency, and with one option on a line.
    """
    known = [*_OPTIONS_OF_UV, *(_OPTIONS_OF_BUILDS if question.allow_builds else ())]
    options = [option for option in question.file.options if option.partition(" ")[0] in known]
    lines = [*options, *(each.text for each in question.file.requirements)]
    content = None if question.content is None else "".join(f"{line}\n" for line in lines).encode()
    return _write(question, directory, content)


def _write(question: Question, directory: str, content: bytes | None) -> list[str]:
    names = []
    if question.packages.requirements:
        names.append(PACKAGES)
        with open(os.path.join(directory, PACKAGES), "w", encoding="utf-8") as file:
            file.write("".join(f"{each.text}\n" for each in question.packages.requirements))
    if content is not None:
        names.append(REQUIREMENTS)
        with open(os.path.join(directory, REQUIREMENTS), "wb") as file:
            file.write(content)
    return names

"""The files that a resolver reads: the packages of a spec, the author's requirements, and versions to keep."""

from __future__ import annotations

import os
import re

from smspec.lock.environments.resolution import Question

_HASH = re.compile(rb"\s*\\?\s*--hash[=\s]+\w+:[0-9a-f]+")

PACKAGES, REQUIREMENTS = "packages.in", "requirements.in"


def write_input(question: Question, directory: str, *, with_hashes: bool = False) -> list[str]:
    """Write the requirements to a directory; return the names of the files."""
    names = []
    if question.packages.requirements:
        names.append(PACKAGES)
        with open(os.path.join(directory, PACKAGES), "w", encoding="utf-8") as file:
            file.write("".join(f"{each.text}\n" for each in question.packages.requirements))
    if question.content is not None:
        names.append(REQUIREMENTS)
        with open(os.path.join(directory, REQUIREMENTS), "wb") as file:
            # uv would require hashes of every dependency too. A space instead: nothing that was apart becomes the name
            # of a variable.
            file.write(question.content if with_hashes else _HASH.sub(b" ", question.content))
    return names

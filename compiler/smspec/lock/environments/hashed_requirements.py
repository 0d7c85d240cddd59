"""The requirements file of an environment: versions with the SHA-256 of their files, for uv and any pip since 20."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smspec.lock.environments.resolution import ResolvedFile

_INDEX_OPTION = re.compile(
    r"(?:-i|--index-url|--extra-index-url|--no-index|-f|--find-links|--trusted-host)(?:[=\s].*)?"
)


def hashed_requirements(files: Sequence[ResolvedFile], options: Sequence[str], *, base: str, python: str) -> str:
    """Return the content of the file. ``options``: of the author's file, of which those about indexes count."""
    lines = [f"# The packages of {base} with Python {python}, written by `smspec lock`. Do not edit."]
    lines += [option for option in options if _INDEX_OPTION.fullmatch(option)]
    for file in sorted(files, key=lambda file: file.name):
        version = f"{file.name} @ {file.url.partition('#')[0]}" if file.is_direct else f"{file.name}=={file.version}"
        lines += [f"{version} \\", f"    --hash=sha256:{file.sha256}"]
    return "\n".join(lines) + "\n"

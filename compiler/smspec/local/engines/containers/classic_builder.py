"""Docker's builder before BuildKit: the only one in SageMaker Studio. `DOCKER_BUILDKIT=0` chooses it.

It mounts nothing while it builds. What packages are installed from is downloaded again, then, and removed.

SageMaker Studio has no BuildKit. A Dockerfile for both builders would download every package again for each change, so
this one is a copy, and `DOCKER_BUILDKIT=0` chooses it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from smspec.local.request import RunFailed

_CACHED = re.compile(r"(?m)^RUN ((?:--mount=type=cache,\S+ \\\n +)+)((?:.*\\\n)*.*)$")
_TARGET = re.compile(r"target=([^\s,]+)")


def is_classic(program: str, environment: Mapping[str, str]) -> bool:
    """Return whether the author's environment chooses this builder."""
    return program == "docker" and environment.get("DOCKER_BUILDKIT") == "0"


def write_classic(tree: str, directory: str, secrets: Mapping[str, str]) -> str:
    """Write the Dockerfile of a generated tree as this builder reads it; return its path. Raise RunFailed."""
    if secrets:
        raise RunFailed(
            3, "`image.secrets` needs BuildKit, and DOCKER_BUILDKIT is 0: remove the secrets, or set DOCKER_BUILDKIT=1"
        )
    path = os.path.join(directory, "Dockerfile")
    with open(os.path.join(tree, "Dockerfile"), encoding="utf-8") as source, open(path, "w", encoding="utf-8") as file:
        file.write(classic(source.read()))
    return path


def classic(dockerfile: str) -> str:
    """Return a generated Dockerfile whose caches are directories, which the instruction that fills them empties."""

    def emptied(found: re.Match[str]) -> str:
        caches = " ".join(f"{target}/*" for target in _TARGET.findall(found[1]))
        return f"RUN {found[2]} \\\n    && rm -rf {caches}"

    return _CACHED.sub(emptied, dockerfile)

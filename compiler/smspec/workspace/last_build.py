"""Read a directory that ``smspec build`` wrote: what it was built for, as far as the files show it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat

from smspec.render.tree import MANIFEST, manifested_files
from smspec.render.tree_rendering import REQUEST
from smspec.source import ListedFile, Listing
from smspec.source.frozen import dataclass
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import boundary_of
from smspec_runtime.run_plan import CODE_CHANNEL, RUNTIME_CHANNEL

_SOURCES = {"source/": "image", f"upload/{CODE_CHANNEL}/": "channel"}
_RUN_PLANS = ("run_plan.json", f"upload/{RUNTIME_CHANNEL}/run_plan.json")
_REQUIREMENTS = "requirements.txt"
_PIN = r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)[\s;].*--hash=.*"
_LARGEST = 64 << 20


class BuildNotFound(Exception):
    """There is no smspec build in a directory; the text explains why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastBuild:
    """``dockerfile`` None: no image was built.

    ``run_plan`` None: the smspec runtime is not used. ``code`` None: it was sent as an archive, or there was none.

    ``version`` is that of the smspec which wrote it; ``runtime`` and ``requirements`` are digests. ``packages``: name →
    version of what the image installs; None if its requirements do not pin everything.
    """

    directory: str
    version: str
    payload: dict[str, object]
    dockerfile: str | None
    run_plan: dict[str, object] | None
    runtime: str | None
    requirements: str | None
    packages: dict[str, str] | None
    code: Listing | None
    delivery: str | None


def read_last_build(directory: str) -> LastBuild:
    """Read the build in a directory. Raise `BuildNotFound`, and OSError if the disk fails."""
    manifest = _read(directory, MANIFEST)
    if manifest is None or manifested_files(manifest) is None:
        raise BuildNotFound(f"no build to compare with in `{directory}`; run `smspec build`")
    content = json.loads(manifest)
    digests: dict[str, str] = {str(path): str(digest) for path, digest in content["files"].items()}
    dockerfile = _read(directory, "Dockerfile") if "Dockerfile" in digests else None
    delivery = next((way for prefix, way in _SOURCES.items() if any(p.startswith(prefix) for p in digests)), None)
    return LastBuild(
        directory=directory,
        version=str(content["smspec"]),
        payload=_json(directory, REQUEST),
        dockerfile=None if dockerfile is None else dockerfile.decode("utf-8", "replace"),
        run_plan=next((_json(directory, path) for path in _RUN_PLANS if path in digests), None),
        runtime=content.get("runtime"),
        requirements=digests.get(_REQUIREMENTS),
        packages=_pinned(_read(directory, _REQUIREMENTS)) if _REQUIREMENTS in digests else None,
        code=_code(directory, digests),
        delivery=delivery,
    )


def _pinned(requirements: bytes | None) -> dict[str, str] | None:
    """Return the packages of a requirements file in which each has a version and hashes; None for any other."""
    text = (requirements or b"").decode("utf-8", "replace").replace("\\\n", " ")
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    pins = [re.fullmatch(_PIN, line) for line in lines]
    known = {re.sub(r"[-_.]+", "-", pin[1]).lower(): pin[2] for pin in pins if pin is not None}
    return known if lines and len(known) == len(lines) else None


def _code(directory: str, digests: dict[str, str]) -> Listing | None:
    """Return the files of the source in a build, as its manifest lists them."""
    for prefix in _SOURCES:
        files = [
            ListedFile(
                path=path.removeprefix(prefix),
                origin=os.path.join(directory, path),
                executable=_is_executable(os.path.join(directory, path)),
                size=0,
                sha256=digest,
            )
            for path, digest in digests.items()
            if path.startswith(prefix)
        ]
        if files:
            return Listing(files=tuple(sorted(files, key=lambda file: file.path.encode())))
    return None


def _is_executable(path: str) -> bool:
    try:
        return bool(os.lstat(path).st_mode & stat.S_IXUSR)
    except FileNotFoundError:
        return False


def _read(directory: str, name: str) -> bytes | None:
    # A build can be in a repository, and so in a pull request: its files are those in its directory, not links.
    try:
        return _boundary(directory).read(os.path.join(directory, name), _LARGEST)[:_LARGEST]
    except FileNotRead:
        return None


def _boundary(directory: str) -> Boundary:
    """Return the boundary for files of a build: its directory, if no link leads there from the current repository."""
    real = os.path.realpath(directory)
    return Boundary(real if boundary_of(os.curdir).contains(directory) else os.path.abspath(directory))


def _json(directory: str, name: str) -> dict[str, object]:
    content = _read(directory, name)
    try:
        data = json.loads(content or b"")
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise BuildNotFound(f"`{os.path.join(directory, name)}` is missing or damaged; run `smspec build`")
    return data


def digest_of(content: bytes | None) -> str | None:
    """Return the SHA-256 of a file's content."""
    return None if content is None else hashlib.sha256(content).hexdigest()

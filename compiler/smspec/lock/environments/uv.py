"""Resolve with uv: ``uv pip compile``, which needs a second for what takes pip twenty."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from smspec.lock.environments.index_settings import IndexSettings
from smspec.lock.environments.resolution import Question, ResolvedFile, ResolverFailed, Unresolvable, accepts
from smspec.lock.environments.resolver_process import output_of, unusable_index, write_for_uv
from smspec.lock.environments.wheel_tags import rank, wheel_name
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import normalized

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_OUTPUT = "pylock.toml"


class Uv:
    """One executable of uv."""

    def __init__(self, path: str, settings: IndexSettings) -> None:
        self._path = path
        self._settings = settings

    def version(self, directory: str) -> str:
        """Return name and version of the resolver."""
        status, text = output_of([self._path, "--version"], self._settings.uv or {}, directory)
        match = re.match(r"uv (\d[\w.]*)", text)
        if status or match is None:
            raise ResolverFailed(f"`{self._path} --version` does not work")
        return f"uv {match[1]}"

    def resolve(self, question: Question, directory: str) -> tuple[ResolvedFile, ...]:
        """Return the files to install. Raise `Unresolvable` or `ResolverFailed`."""
        names = write_for_uv(question, directory)
        path = os.path.join(directory, _OUTPUT)
        if question.versions:
            with open(path, "w", encoding="utf-8") as file:
                file.write(_preferences(question))
        words = [self._path, "pip", "compile", "--no-config", "--quiet", "--no-progress", "--color", "never"]
        words += ["--format", "pylock.toml", "--output-file", _OUTPUT, "--no-header", "--no-annotate"]
        words += ["--no-python-downloads", "--python-version", question.image.release]
        words += ["--python-platform", _platform(question.image)]
        # With a Python of its own, uv does not look for others, which takes seconds where there are many. A build needs
        # the one of the image, if it is there.
        words += [] if question.allow_builds else ["--only-binary", ":all:", "--python", sys.executable]
        words += ["--prerelease", "allow"] if "--pre" in question.file.options else []
        status, text = output_of([*words, *names], self._settings.uv or {}, directory)
        if status:
            text = self._settings.masked(text)
            unusable_index(text, "uv")
            raise Unresolvable(text)
        with open(path, encoding="utf-8") as file:
            return tuple(_files(file.read(), question))


def installed_uv() -> str | None:
    """Return the path of uv, if it is on PATH."""
    return shutil.which("uv")


def _platform(image: BareImage) -> str:
    """Return uv's name for the platform of an image."""
    if image.libc[0] == "musllinux":
        return f"{image.processor}-unknown-linux-musl"
    return f"{image.processor}-manylinux_2_{image.known_glibc}"


def _preferences(question: Question) -> str:
    packages = "".join(
        f"\n[[packages]]\nname = {json.dumps(name)}\nversion = {json.dumps(version)}\n"
        for name, version in sorted(question.versions.items())
    )
    return f'lock-version = "1.0"\ncreated-by = "smspec"\n{packages}'


def _files(text: str, question: Question) -> list[ResolvedFile]:
    content: dict[str, Any] = tomllib.loads(text)
    found = []
    for package in content.get("packages", []):
        sources = [*_ranked(package.get("wheels") or (), question.image), package.get("archive")]
        if question.allow_builds or not any(sources):
            sources.append(package.get("sdist"))
        files = [_file(package, source) for source in sources if source and source.get("hashes", {}).get("sha256")]
        if not files:
            raise Unresolvable(f"the index has no SHA-256 for {package.get('name')}")
        found.append(next((file for file in files if accepts(question, file)), files[0]))
    return found


def _file(package: dict[str, Any], source: dict[str, Any]) -> ResolvedFile:
    return ResolvedFile(
        name=normalized(package["name"]),
        version=str(package.get("version", "")),
        url=str(source.get("url") or source.get("path") or ""),
        sha256=str(source["hashes"]["sha256"]),
        size=int(source.get("size") or 0),
        is_direct=package.get("archive") is not None,
    )


def _ranked(wheels: Sequence[dict[str, Any]], image: BareImage) -> list[dict[str, Any]]:
    """Return the wheels that the image can install, first the one that pip would choose."""
    ranked = []
    for position, file in enumerate(wheels):
        path = str(file.get("name") or file.get("url") or file.get("path"))
        parsed = wheel_name(unquote(path.partition("#")[0].rpartition("/")[2]))
        found = rank(parsed, image) if parsed else None
        if found is not None:
            ranked.append((found, position))
    return [wheels[position] for _, position in sorted(ranked)]

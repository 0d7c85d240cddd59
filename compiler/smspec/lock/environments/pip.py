"""Resolve with the pip of the Python that runs smspec: ``pip install --dry-run --report``, where uv is missing."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from smspec.lock.environments.index_settings import IndexSettings
from smspec.lock.environments.resolution import Question, ResolvedFile, ResolverFailed, Unresolvable
from smspec.lock.environments.resolver_process import PACKAGES, REQUIREMENTS, output_of, unusable_index, write_for_pip
from smspec.lock.environments.versions import fits, version
from smspec.lock.environments.wheel_tags import platforms
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import normalized

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pip_program.py")
_WRONG_HASH = "THESE PACKAGES DO NOT MATCH THE HASHES"
_LINE = re.compile(rf"(?:-r )?({re.escape(PACKAGES)}|{re.escape(REQUIREMENTS)}) \(line (\d+)\)")
_OLDEST = (22, 2)
_REPORT, _CONSTRAINTS = "report.json", "constraints.txt"
_TARGET = "target"
"""Not written to, but pip 23.2 and earlier require a directory for other platforms."""


class Pip:
    """The pip of the Python that runs smspec."""

    def __init__(self, settings: IndexSettings) -> None:
        self._settings = settings

    def version(self, directory: str) -> str:
        """Return name and version of the resolver. Raise `ResolverFailed` if it is too old."""
        words = [sys.executable, "-m", "pip", "--version"]
        status, text = output_of(words, self._settings.pip, directory)
        match = re.match(r"pip ((\d+)\.(\d+)\S*)", text)
        if status or match is None:
            raise ResolverFailed("the pip of the Python that runs smspec does not work; install uv")
        if (int(match[2]), int(match[3])) < _OLDEST:
            raise ResolverFailed(
                f"pip {match[1]} cannot resolve for another platform; install uv, or pip 22.2 or later"
            )
        return f"pip {match[1]}"

    def resolve(self, question: Question, directory: str) -> tuple[ResolvedFile, ...]:
        """Return the files to install. Raise `Unresolvable` or `ResolverFailed`."""
        # pip has no preferences, only conditions.
        for versions in filter(None, dict.fromkeys((_sorted(question.versions), _sorted(question.installed)))):
            with contextlib.suppress(Unresolvable):
                return self._resolved(question, directory, _constraints(question, dict(versions)))
        return self._resolved(question, directory, {})

    def _resolved(
        self, question: Question, directory: str, constraints: dict[str, str], *, with_hashes: bool = True
    ) -> tuple[ResolvedFile, ...]:
        names = write_for_pip(question, directory, with_hashes=with_hashes)
        words = ["install", "--dry-run", "--ignore-installed", "--report", _REPORT, "--quiet", "--progress-bar", "off"]
        words += ["--no-color"]
        if constraints:
            with open(os.path.join(directory, _CONSTRAINTS), "w", encoding="utf-8") as file:
                file.write("".join(f"{name}=={version}\n" for name, version in sorted(constraints.items())))
            words += ["--constraint", _CONSTRAINTS]
        if not question.allow_builds:
            words += ["--only-binary", ":all:", "--python-version", question.image.release, "--implementation", "cp"]
            words += [word for platform in platforms(question.image) for word in ("--platform", platform)]
            words += ["--target", _TARGET]
        elif not _is_here(question.image):
            raise ResolverFailed(
                f"pip builds packages only for its own Python, not for {question.image.minor}; install uv"
            )
        for name in names:
            words += ["--requirement", name]
        kind = "builds" if question.allow_builds else "wheels"
        program = [sys.executable, _PROGRAM, json.dumps(markers(question.image)), kind, *words]
        status, text = output_of(program, self._settings.pip, directory)
        if status:
            text = self._settings.masked(text)
            if with_hashes and _WRONG_HASH in text:
                # For the error: with the files that pip chooses.
                return self._resolved(question, directory, constraints, with_hashes=False)
            unusable_index(text, "pip")
            raise Unresolvable(_with_requirements(text, question))
        with open(os.path.join(directory, _REPORT), encoding="utf-8") as file:
            return tuple(_files(json.load(file)))


def _with_requirements(text: str, question: Question) -> str:
    """Return what pip printed with requirements instead of lines in the files that it read."""

    def written(match: re.Match[str]) -> str:
        number = int(match[2])
        if match[1] == PACKAGES:
            return question.packages.requirements[number - 1].text
        return next((each.text for each in question.file.requirements if each.place[0] == number), match[0])

    return _LINE.sub(written, text).replace(PACKAGES, "image.python_packages")


def has_pip() -> bool:
    """Return whether the Python that runs smspec has pip."""
    return importlib.util.find_spec("pip") is not None


def markers(image: BareImage) -> dict[str, str]:
    """Return the environment markers in an image, the same as uv's."""
    return {
        "implementation_name": "cpython",
        "implementation_version": image.release,
        "os_name": "posix",
        "platform_machine": image.processor,
        "platform_python_implementation": "CPython",
        "platform_release": "",
        "platform_system": "Linux",
        "platform_version": "",
        "python_full_version": image.release,
        "python_version": image.minor,
        "sys_platform": "linux",
    }


def _is_here(image: BareImage) -> bool:
    """Return whether this Python is that of an image, as far as builds are concerned."""
    return (
        sys.platform == "linux" and sys.version_info[:2] == image.python[:2] and os.uname().machine == image.processor
    )


def _sorted(versions: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(versions.items()))


def _constraints(question: Question, found: dict[str, str]) -> dict[str, str]:
    """Return the versions to keep, except those that a requirement excludes."""
    written = (*question.packages.requirements, *question.file.requirements)
    for each in written:
        known = version(found.get(each.name, ""))
        if each.url or known is None or not fits(known, each.specifier):
            found.pop(each.name, None)
    return found


def _files(report: dict[str, Any]) -> list[ResolvedFile]:
    found = []
    for item in report["install"]:
        info = item["download_info"]
        if "archive_info" not in info:
            raise Unresolvable(f"{item['metadata']['name']} has no file")
        archive = info["archive_info"]
        sha256 = archive.get("hashes", {}).get("sha256") or archive.get("hash", "").removeprefix("sha256=")
        if not sha256:
            raise Unresolvable(f"the index has no SHA-256 for {item['metadata']['name']}")
        url = info["url"]
        found.append(
            ResolvedFile(
                name=normalized(item["metadata"]["name"]),
                version=item["metadata"]["version"],
                url=unquote(url.removeprefix("file://")) if url.startswith("file://") else url,
                sha256=sha256,
                is_direct=bool(item.get("is_direct")),
            )
        )
    return found

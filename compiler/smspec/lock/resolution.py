"""Resolve packages with uv, for the Python and the platform of an image, to files that the author's hashes accept.

A tool such as `uv export` writes several lines for one package, each for the Pythons of its marker.
"""

from __future__ import annotations

import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from smspec.diagnostics.quoting import quoted
from smspec.lock.compatibility import fits, rank, version, wheel_name
from smspec.lock.index_settings import IndexSettings
from smspec.lock.resolver_process import NO_SOLUTION, ResolverFailed, output_of, unusable_index
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import Requirement, RequirementLines, normalized
from smspec.source.real_file import program_outside

_OLDEST = (0, 11)
_OUTPUT = "pylock.toml"
_PACKAGES, _REQUIREMENTS = "packages.in", "requirements.in"
_OPTIONS = ("--index-url", "--extra-index-url", "--find-links", "--no-index")
_NAME, _VERSION, _SHA256 = map(re.compile, (r"[a-z0-9][a-z0-9._-]*", r"[\w.!+-]*", r"(?:[0-9a-f]{64})?"))
_WITHOUT_BUILDS = ("--only-binary", ":all:", "--python", sys.executable)
"""With a Python of its own, uv does not look for others, which takes seconds where there are many."""
_OPTIONS_OF_BUILDS = ("--no-binary", "--only-binary")
"""They would replace the same option of the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The requirements of an image: ``packages`` in its spec, and the author's file, ``content``.

    ``preferred``: versions to keep where they still fit. ``allow_builds``: packages without a wheel may run their code.
    ``installed``: name → version of the packages that the image has before, when a job starts; they are preferred to
    all others. ``is_at_start``: the file is the list of a source, and pip may build packages then.
    """

    image: BareImage
    packages: RequirementLines
    file: RequirementLines
    content: bytes | None
    preferred: Mapping[str, str]
    allow_builds: bool = False
    installed: Mapping[str, str] = field(default_factory=dict)
    is_at_start: bool = False

    @property
    def versions(self) -> dict[str, str]:
        """The versions to choose where they fit."""
        return {**self.preferred, **self.installed}

    @property
    def option_to_build(self) -> str:
        """The option of the file that demands to build packages, empty for none."""
        options = (option for option in self.file.options if option.startswith("--no-binary "))
        return next((option for option in options if not option.endswith(" :none:")), "")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to resolve."""
        return not (self.packages.requirements or self.file.requirements)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFile:
    """The file that installs a package, as in ``https://…/numpy-2.1.0-cp311-….whl``, and its SHA-256.

    ``size`` 0: unknown. ``is_direct``: the requirement names the file, not a version.
    """

    name: str
    version: str
    url: str
    sha256: str
    size: int = 0
    is_direct: bool = False

    @property
    def is_wheel(self) -> bool:
        return self.url.partition("#")[0].partition("?")[0].endswith(".whl")

    @property
    def is_local(self) -> bool:
        """Whether only this machine has the file."""
        return not self.url.startswith(("http://", "https://"))


class Unresolvable(Exception):
    """There are no versions that fit: the text is the resolver's, without secrets."""


class UnacceptedFiles(Exception):
    """The author's hashes exclude the files in the indexes; ``lines``: the requirements with these hashes."""

    def __init__(self, lines: Sequence[Requirement]) -> None:
        super().__init__()
        self.lines = tuple(lines)


def accepts(question: Question, file: ResolvedFile) -> bool:
    """Return whether the author's lines for this version of a package accept a file; without hashes, any."""
    lines = list(_hashed_lines(question, file))
    return not lines or any(file.sha256 in each.hashes for each in lines)


def require_accepted(question: Question, files: Sequence[ResolvedFile]) -> None:
    """Raise `UnacceptedFiles` if the author's hashes exclude a file."""
    wrong = [next(_hashed_lines(question, file)) for file in files if not accepts(question, file)]
    if wrong:
        raise UnacceptedFiles(sorted(wrong, key=lambda line: line.place))


def _hashed_lines(question: Question, file: ResolvedFile) -> Iterator[Requirement]:
    known = version(file.version)
    for line in question.file.requirements:
        if not line.hashes:
            continue
        if line.url:
            is_its = line.url.partition("#")[0] == file.url.partition("#")[0]
        else:
            is_its = line.name == file.name and (known is None or fits(known, line.specifier))
        if is_its:
            yield line


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Uv:
    """One executable of uv."""

    def __init__(self, path: str, settings: IndexSettings) -> None:
        self._path = path
        self._settings = settings

    def version(self, directory: str) -> str:
        """Return name and version of the resolver."""
        status, text = output_of([self._path, "--version"], self._settings.uv, directory)
        match = re.match(r"uv ((\d+)\.(\d+)[\w.]*)", text)
        if status or match is None:
            raise ResolverFailed(f"`{self._path} --version` does not work")
        if (int(match[2]), int(match[3])) < _OLDEST:
            raise ResolverFailed(f"`{self._path}` is uv {match[1]}; `smspec lock` requires uv 0.11 or later")
        return f"uv {match[1]}"

    def resolve(self, question: Question, directory: str) -> tuple[ResolvedFile, ...]:
        """Return the files to install. Raise `Unresolvable` or `ResolverFailed`."""
        names = _written(question, directory)
        path = os.path.join(directory, _OUTPUT)
        if question.versions:
            with open(path, "w", encoding="utf-8") as file:
                file.write(_preferences(question))
        words = ["--format", "pylock.toml", "--output-file", _OUTPUT]
        words += ["--python-version", question.image.release, "--python-platform", _platform(question.image)]
        # A build needs the Python of the image, if it is there.
        words += [] if question.allow_builds else _WITHOUT_BUILDS
        words += ["--prerelease", "allow"] if "--pre" in question.file.options else []
        status, text = self._compiled([*words, *names], directory)
        if status:
            raise Unresolvable(self._settings.masked(text))
        with open(path, encoding="utf-8") as file:
            return tuple(_files(file.read(), question))

    def newest(self, names: Sequence[str], python: str, directory: str) -> dict[str, str]:
        """Return name → newest version that has a wheel for a Python on Linux; only packages that the index has.

        Raise `ResolverFailed` if no index answers.
        """
        with open(os.path.join(directory, _PACKAGES), "w", encoding="utf-8") as file:
            file.write("".join(f"{name}\n" for name in names))
        words = ["--no-deps", "--python-version", python, "--python-platform", "x86_64-manylinux_2_28"]
        status, text = self._compiled([*words, *_WITHOUT_BUILDS, _PACKAGES], directory)
        if not status:
            pinned = (line.partition("==") for line in text.splitlines())
            return {normalized(name): found.strip() for name, _, found in pinned if _VERSION.fullmatch(found.strip())}
        if len(names) == 1:
            return {}
        each = [self.newest([name], python, directory) for name in names]  # one of them is unknown
        return {name: found for versions in each for name, found in versions.items()}

    def _compiled(self, words: Sequence[str], directory: str) -> tuple[int, str]:
        """Return the status and the output of `uv pip compile`. Raise `ResolverFailed` if no index answers."""
        quiet = ["--no-config", "--quiet", "--no-progress", "--color", "never", "--no-header", "--no-annotate"]
        compiling = [self._path, "--directory", directory, "pip", "compile", *quiet, "--no-python-downloads"]
        status, text = output_of([*compiling, *self._settings.uv_flags, *words], self._settings.uv, directory)
        if status and NO_SOLUTION not in text:  # else a hint: some indexes deny access to every package that they lack
            unusable_index(self._settings.masked(text), "uv")
        return status, text


def installed_uv(repository: str) -> str:
    """Return the path of uv, first that of the environment that runs smspec, then one on PATH. Raise `ResolverFailed`.

    Never one in the repository, which may be a pull request of a stranger, but for an environment that runs smspec.
    """
    own = os.path.join(sysconfig.get_path("scripts"), "uv")
    found = own if os.access(own, os.X_OK) else program_outside("uv", repository)
    if found is None:
        raise ResolverFailed(
            "`smspec lock` resolves packages with uv, which is not installed; run `pip install uv` in the environment"
            " of smspec, or put uv on PATH, outside of the repository"
        )
    return found


def _written(question: Question, directory: str) -> list[str]:
    """Write the requirements to a directory; return the names of the files.

    Without hashes, which uv would then require of every dependency, and with one option on a line.
    """
    known = [*_OPTIONS, *(_OPTIONS_OF_BUILDS if question.allow_builds else ())]
    options = [option for option in question.file.options if option.partition(" ")[0] in known]
    files = {_PACKAGES: [each.text for each in question.packages.requirements]}
    files[_REQUIREMENTS] = [*options, *(each.text for each in question.file.requirements)]
    for name, lines in files.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
    return [*files]


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
        files = [
            file for source in sources if source and (file := _file(package, source)) and (file.sha256 or file.is_local)
        ]
        if not files:
            raise Unresolvable(f"the index has no SHA-256 for {package.get('name')}")
        found.append(next((file for file in files if accepts(question, file)), files[0]))
    return found


def _file(package: dict[str, Any], source: dict[str, Any]) -> ResolvedFile:
    """Return a file as uv found it. Raise `Unresolvable` for what an index must not say, since it becomes a path."""
    name, number = normalized(package["name"]), str(package.get("version", ""))
    sha256 = str(source.get("hashes", {}).get("sha256", "")).lower()
    if not (_NAME.fullmatch(name) and _VERSION.fullmatch(number) and _SHA256.fullmatch(sha256)):
        raise Unresolvable(f"the index has a malformed name, version, or SHA-256 for {quoted(str(package['name']))}")
    return ResolvedFile(
        name=name,
        version=number,
        url=str(source.get("url") or source.get("path") or ""),
        sha256=sha256,
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

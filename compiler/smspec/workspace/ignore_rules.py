"""What is never sent as source: what the defaults, .gitignore files, .dockerignore, and `source.ignore` exclude.

A ``!`` includes what the same kind of file excluded, and in `source.ignore` what the defaults do; nothing else. The
defaults exclude files from every source, tracked by git or not. Their table is that in docs/spec-reference.md: names,
``*`` at one end of a name, ``/`` after names of directories.
"""

from __future__ import annotations

import errno
import os
import posixpath
import re
from collections.abc import Iterable, Sequence

from smspec.render.tree import UNFINISHED
from smspec.source.frozen import dataclass
from smspec.source.real_file import is_below
from smspec.spec.lock import DIRECTORY as LOCK_DIRECTORY
from smspec.spec.lock import NAME as LOCK
from smspec.workspace.boundary import Boundary, FileNotRead
from smspec.workspace.boundary_search import DATED_FILES, boundary_of
from smspec.workspace.git_patterns import LONGEST, SPAN, STAR, GitPatterns, cost, git_patterns, joined
from smspec.workspace.path_targets import has_detour, repository_top

CREDENTIALS = "credentials"
ENVIRONMENTS = "virtual environments"
EXPERIMENTS = "experiment logs"

DEFAULT_IGNORES: dict[str, str] = {
    CREDENTIALS: ".env .env.* .envrc .aws/ .ssh/ .gnupg/ .kube/ .kaggle/ .netrc .pypirc .git-credentials .htpasswd"
    " id_rsa id_dsa id_ecdsa id_ed25519 *.ppk .boto .s3cfg .databrickscfg",
    ENVIRONMENTS: ".venv/ .conda/ .pixi/ node_modules/",
    EXPERIMENTS: "wandb/ mlruns/ mlartifacts/ lightning_logs/ .neptune/ .aim/ .guild/ catboost_info/",
    "caches": "__pycache__/ *.pyc *.pyo .pytest_cache/ .mypy_cache/ .ruff_cache/ .hypothesis/ .tox/ .nox/ .cache/"
    " .eggs/ *.egg-info/ .ipynb_checkpoints/ .coverage .coverage.* htmlcov/ .terraform/",
    "version control": ".git .hg/ .svn/ .bzr/ CVS/",
    "editors": ".idea/ .vscode/ .vs/ .fleet/ .spyproject/ .settings/ *.swp *.swo *~ .#* *.sublime-workspace",
    "operating systems": ".DS_Store ._* __MACOSX/ Thumbs.db desktop.ini .directory .Trash-*",
}
"""Group → names. A directory with `pyvenv.cfg` or `conda-meta` in it is a virtual environment whatever its name."""

KEPT = (".env.example", ".env.sample", ".env.template", ".env.dist")
"""Names that match a pattern of the table, but contain no secrets."""

WORTH_NAMING = (CREDENTIALS, ENVIRONMENTS, EXPERIMENTS)
"""Groups that a script may need; the others are never missed."""

MARKS_OF_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
_NAMES: dict[str, str] = {}
_BEGINNINGS: dict[str, str] = {}
_ENDS: dict[str, str] = {}

for _group, _patterns in DEFAULT_IGNORES.items():
    for _pattern in _patterns.split():
        _table = _BEGINNINGS if _pattern[-1] == "*" else _ENDS if _pattern[0] == "*" else _NAMES
        _table[_pattern.strip("*")] = _group

MOST_PATTERNS = 5_000
"""In one ignore file. Long ones have a few hundred; every file of the source is matched against each."""

MOST_TRIED = 20_000_000
"""Patterns with a wildcard, times the files and directories that they are matched against; long paths count more."""

_PATH = 32
LARGEST = 1 << 20
IGNORE_FILES = (".gitignore", ".dockerignore")
_NEVER = frozenset({".git", LOCK, LOCK_DIRECTORY, *DATED_FILES})


def group_of(name: str, origin: str | None, is_directory: bool) -> str | None:
    """Return the group of the table for a file or directory; None if it is sent.

    ``origin`` is its path; None for one outside of the repository, which is never read.
    """
    if name in KEPT:
        return None
    for kind in (name, f"{name}/") if is_directory else (name,):
        if kind in _NAMES:
            return _NAMES[kind]
        for beginning, group in _BEGINNINGS.items():
            if kind.startswith(beginning):
                return group
        for end, group in _ENDS.items():
            if kind.endswith(end):
                return group
    if (
        origin is not None
        and is_directory
        and any(os.path.lexists(os.path.join(origin, mark)) for mark in MARKS_OF_ENVIRONMENTS)
    ):
        return ENVIRONMENTS
    return None


class TooManyPatterns(Exception):
    """Matching the patterns against the files would take seconds."""


@dataclass(frozen=True, slots=True)
class _GitFile:
    """A .gitignore: its patterns apply below ``directory``, which is "" or ends in a slash."""

    directory: str
    patterns: GitPatterns


class IgnoreRules:
    """The rules for one source directory. Paths are relative to it; directories are checked before their contents."""

    def __init__(self, root: str, ignore: Sequence[str] = ()) -> None:
        self._root = root
        self._boundary = boundary_of(root)
        self._above, self._outer = _gitignores_above(root, self._boundary)
        self._nested: dict[str, _GitFile | OSError | None] = {}
        self._tried = 0
        self._docker: tuple[DockerPattern, ...] = docker_patterns(
            _lines(os.path.join(root, ".dockerignore"), self._boundary)
        )
        self._docker_cost = sum(pattern.cost for pattern in self._docker)
        # An exception may be in a directory that is ignored; if there is none, the directory need not be walked.
        self._walks_ignored = not all(pattern.ignores for pattern in self._docker)
        self._ignore = git_patterns(ignore)

    def excludes(self, path: str, is_directory: bool) -> bool:
        """Return whether a file, or a directory with everything in it, is excluded."""
        name = path.rpartition("/")[2]
        if name in _NEVER or name.startswith(UNFINISHED):
            return True
        self._count(self._ignore.cost, path, "`source.ignore`")
        if self._ignore.verdict(path, is_directory) or self._git_ignores(path, is_directory):
            return True
        if is_directory and self._walks_ignored:
            return False
        self._count(self._docker_cost * (1 + path.count("/")), path, "`.dockerignore`")
        return ignored(self._docker, path)

    def leads_out(self, link: str, target: str) -> bool:
        """Return whether a link leads out of the repository; ``target`` is its target."""
        return not is_below(target, self._boundary.root) or has_detour(link, self._boundary.root)

    def default_group(self, path: str, origin: str | None, is_directory: bool) -> str | None:
        """Return the group of a file or directory at ``origin`` that is excluded by default, as `group_of` does."""
        if self._ignore.verdict(path, is_directory) is False:
            return None
        return group_of(path.rpartition("/")[2], origin, is_directory)

    def excludes_with_parents(self, path: str) -> bool:
        """Return whether a file, or a directory above it, is excluded: for one that was not walked to."""
        origin = os.path.join(self._root, path)
        while path:
            is_directory = os.path.isdir(origin)
            if self.excludes(path, is_directory) or self.default_group(path, origin, is_directory):
                return True
            path, origin = path.rpartition("/")[0], os.path.dirname(origin)
        return False

    def reason(self, path: str) -> str | None:
        """Return what excludes a file, or a directory above it, in words; None if it is sent."""
        origin, is_directory = os.path.join(self._root, path), False
        while path:
            if self._ignore.verdict(path, is_directory):
                return "`source.ignore`"
            if self._git_ignores(path, is_directory):
                return "a `.gitignore`"
            if self.excludes(path, is_directory):
                return "`.dockerignore`"
            group = self.default_group(path, origin, is_directory)
            if group is not None:
                return f"default: {group}"
            path, origin, is_directory = path.rpartition("/")[0], os.path.dirname(origin), True
        return None

    def _git_ignores(self, path: str, is_directory: bool) -> bool:
        parts = path.split("/")[:-1]
        for length in range(len(parts), -1, -1):
            file = self._gitignore("".join(f"{part}/" for part in parts[:length]))
            if file is None:
                continue
            self._count(file.patterns.cost, path, f"`{file.directory}.gitignore`")
            found = file.patterns.verdict(path[len(file.directory) :], is_directory)
            if found is not None:
                return found
        self._count(sum(file.patterns.cost for file in self._outer), path, "a `.gitignore` above it")
        return bool(_verdict_above(self._outer, self._above + path, is_directory))

    def _count(self, cost: int, path: str, where: str) -> None:
        """Add the cost of matching patterns against a path, before it is done. Raise `TooManyPatterns`."""
        self._tried += cost * (1 + len(path) // _PATH)
        if self._tried > MOST_TRIED:
            raise TooManyPatterns(f"{where} has too many patterns for so many files")

    def _gitignore(self, directory: str) -> _GitFile | None:
        if directory not in self._nested:
            try:
                patterns = git_patterns(_lines(os.path.join(self._root, directory, ".gitignore"), self._boundary))
                self._nested[directory] = _GitFile(directory, patterns) if patterns else None
            except OSError as fault:  # cached: it is used for every file of the directory
                self._nested[directory] = fault
        found = self._nested[directory]
        if isinstance(found, OSError):
            raise found
        return found


def _gitignores_above(root: str, boundary: Boundary) -> tuple[str, tuple[_GitFile, ...]]:
    """Return the path of ``root`` in its repository, and the .gitignore files above it, the outermost first.

    Without those that ignore ``root`` itself: the author named it on purpose.
    """
    above, files, by = _all_above(root, boundary)
    return (above, files) if by is None else ("", ())


def _all_above(root: str, boundary: Boundary) -> tuple[str, tuple[_GitFile, ...], _GitFile | None]:
    """Return the same with the files as far as one ignores ``root``, or a directory above it; and this one."""
    top = repository_top(root)
    if top is None:
        return "", (), None
    steps = [] if top == root else os.path.relpath(root, top).replace(os.sep, "/").split("/")
    files: list[_GitFile] = []
    for length in range(len(steps)):
        directory = "".join(f"{step}/" for step in steps[:length])
        patterns = git_patterns(_lines(os.path.join(top, directory, ".gitignore"), boundary))
        files += [_GitFile(directory, patterns)] if patterns else []
        found = _last_word(files, "/".join(steps[: length + 1]), True)
        if found is not None and found[1]:
            return "", tuple(files), found[0]
    return "".join(f"{step}/" for step in steps), tuple(files), None


@dataclass(frozen=True, slots=True)
class PatternsAbove:
    """``ignoring``: the place of the .gitignore above a directory that ignores it, so that no pattern above it counts.

    None if there is none; ``count``: whether patterns above it count.
    """

    ignoring: str | None
    count: bool


def patterns_above(root: str) -> PatternsAbove:
    """Return what the .gitignore files above a directory, which need not exist, mean for its contents."""
    _, files, by = _all_above(root, boundary_of(root))
    return PatternsAbove(None if by is None else f"{by.directory}.gitignore", by is None and bool(files))


def _verdict_above(files: tuple[_GitFile, ...], path: str, is_directory: bool) -> bool | None:
    found = _last_word(files, path, is_directory)
    return None if found is None else found[1]


def _last_word(files: Sequence[_GitFile], path: str, is_directory: bool) -> tuple[_GitFile, bool] | None:
    """Return the innermost file that has a pattern for a path, with whether it ignores it."""
    for file in reversed(files):
        found = file.patterns.verdict(path[len(file.directory) :], is_directory)
        if found is not None:
            return file, found
    return None


def _lines(path: str, boundary: Boundary) -> list[str]:
    """Return the lines of an ignore file, none if there is no such file, and of equal ones only the last.

    Raise OSError, with the file's name, above the limit.
    """
    try:
        content = boundary.read(path, LARGEST) if boundary.is_file(path) else b""
    except FileNotRead:
        return []  # a link out of the repository; git follows none at all
    if len(content) > LARGEST:
        raise OSError(errno.E2BIG, "it has more than 1 MiB", path)
    different = different_lines(content)
    if len(different) > MOST_PATTERNS:
        raise OSError(errno.E2BIG, f"it has more than {MOST_PATTERNS:,} patterns", path)
    return different


def different_lines(content: bytes) -> list[str]:
    """Return the lines of an ignore file, of equal ones only the last."""
    text = content.decode("utf-8-sig", "surrogateescape")
    lines = [line.removesuffix("\r") for line in reversed(text.split("\n"))]
    # The last pattern that matches decides, so an equal one further up has no effect.
    return list(dict.fromkeys(lines))[::-1]


@dataclass(frozen=True, slots=True)
class DockerPattern:
    """One line. ``ignores`` False: it began with ``!``."""

    expression: re.Pattern[str]
    ignores: bool

    @property
    def cost(self) -> int:
        """The time it takes to reject a path."""
        return cost(self.expression)


def docker_patterns(lines: Iterable[str]) -> tuple[DockerPattern, ...]:
    """Return the patterns of a .dockerignore in order, without lines that are not patterns."""
    return tuple(pattern for pattern in map(docker_pattern, lines) if pattern is not None)


def ignored(patterns: tuple[DockerPattern, ...], path: str) -> bool:
    """Return whether the last pattern that matches the path, or a directory above it, ignores it."""
    parts = path.split("/")
    candidates = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    outcome = False
    for pattern in patterns:
        if pattern.ignores != outcome and any(map(pattern.expression.fullmatch, candidates)):
            outcome = pattern.ignores
    return outcome


def docker_pattern(line: str) -> DockerPattern | None:
    """Return the pattern of a line; None if it is not one."""
    text = "" if line.startswith("#") else line.strip()
    ignores = not text.startswith("!")
    text = text if ignores else text[1:].strip()
    if not text or len(text) > LONGEST:
        return None
    text = posixpath.normpath(text)
    expression = _docker_expression(text.lstrip("/") if len(text) > 1 else text)
    return None if expression is None else DockerPattern(re.compile(expression, re.DOTALL), ignores)


def _docker_expression(glob: str) -> str | None:
    """Return the regular expression of a glob, or None if it is malformed."""
    parts: list[str] = []
    at = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "*" and glob[at : at + 1] == "*":
            at += 1
            at += glob[at : at + 1] == "/"
            spanning = SPAN if at < len(glob) else ".*"
            parts += [spanning] if parts[-1:] != [spanning] else []  # several in a row would be slow to reject
        elif character == "*":
            parts.append(STAR)
        elif character == "?":
            parts.append("[^/]")
        elif character == "[":
            found = _bracket(glob, at)
            if found is None:
                return None
            expression, at = found
            parts.append(expression)
        elif character == "\\":
            if at == len(glob):
                return None
            parts.append(re.escape(glob[at]))
            at += 1
        else:
            parts.append(re.escape(character))
    return joined(parts)


def _bracket(glob: str, at: int) -> tuple[str, int] | None:
    """Return the expression of the bracket that opened before ``at`` and its end; None if it is malformed.

    As in Go: ``^`` negates, ``-`` only makes a range, a backslash escapes. It never matches a slash.
    """
    negated = glob[at : at + 1] == "^"
    at += negated
    members: list[str] = []
    while not (members and glob[at : at + 1] == "]"):
        low, at = _member(glob, at)
        high = low
        if glob[at : at + 1] == "-":
            high, at = _member(glob, at + 1)
        if not low or not high:
            return None
        # A reversed range is empty.
        members.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
    inside = "".join(members)
    if negated:
        return f"[^/{inside}]", at + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), at + 1


def _member(glob: str, at: int) -> tuple[str, int]:
    """Return one character of a bracket and the start of the next; "" if there is none that is valid there."""
    if glob[at : at + 1] in ("-", "]"):
        return "", at
    at += glob[at : at + 1] == "\\"
    return glob[at : at + 1], at + 1

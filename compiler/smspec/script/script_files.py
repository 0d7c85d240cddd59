"""The files of a script's source: whether a text has anything relevant, and what it imports, without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from smspec.script.follow.code import absolute
from smspec.source import SourceText
from smspec.source.frozen import dataclass

WORDS = (
    "argparse",
    "boto3",
    "click",
    "typer",
    "jsonargparse",
    "HfArgumentParser",
    "LightningCLI",
    "absl",
    "fire",
    "hydra",
    "from_cli",
    "tyro",
    "SM_",
    "init_process_group",
    "/opt",
    'environ["',
    "environ['",
    "smspec_runtime",
    '"pip"',
    "'pip'",
    "pip install",
    "pip.main",
    "s3://",
    "s3fs",
)
"""A script without any of these, in itself or in what it imports from the source, contains nothing relevant."""

MOST_IMPORTS = 1_000
"""A module with more imports is not searched further."""

_DEEPEST = 30
"""No real package has names with more dots."""

_LOUD = frozenset(
    {
        "SystemExit",
        "__import__",
        "_getframe",
        "abort",
        "addsitedir",
        "argv",
        "ctypes",
        "dataclass",
        "dotenv",
        "entry_points",
    }
    | {
        "f_globals",
        "gc",
        "__globals__",
        "imp",
        "importlib",
        "inspect",
        "mock",
        "monkeypatch",
        "pkg_resources",
        "pkgutil",
    }
    | {"putenv", "quit", "runpy", "setprofile", "settrace", "unsetenv"}
)
_LOUD_BEGINNINGS = ("environ", "exec", "spawn")
"""Without any of these words a module has no relevant code, ends nothing, and does not change other modules."""

# Patterns are strings, compiled only for a script of several modules.
_MAIN = r"(?<!== [\"'])\b__main__\b"
_EVAL = r"(?<![.\w])eval\b"

_IMPORT = (
    r"\b(?:from[ \t\\\r\n]+(?P<source>\.*[ \t]*[\w.]*)[ \t\\\r\n]+)?"
    r"import\b[ \t\\\r\n]*(?P<names>\([^)]*\)?|(?:[^\n;\\]|\\\r?\n)*)"
)
_ELSEWHERE = r"\bsys\s{0,9}\.\s{0,9}path\b|\bfrom\s+sys\s+import\b|\baddsitedir\b|\b__path__\b"


class ScriptSource(Protocol):
    """The files of a script's source. ``searches``: the job makes Python search for modules elsewhere, too."""

    searches: bool

    def module(self, name: str) -> SourceText | None:
        """Return the module that an import of a full name finds, or None. Raise `ScriptUnreadable`."""

    def elsewhere(self, name: str) -> SourceText | None:
        """Return a module of that name in any other directory. Raise `ScriptUnreadable`."""


def has_relevant_word(text: str) -> bool:
    """Return whether a text contains any relevant word."""
    return any(word in text for word in WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """The result of a quick search of a module. ``is_quiet``: it contains no relevant word itself.

    ``searches``: it may change where Python searches for modules. ``names``: what it may import, by full names,
    packages first; more rather than fewer.
    """

    is_quiet: bool
    searches: bool
    names: tuple[str, ...]


def glance(text: str, package: str) -> Glance:
    """Search a module for imports and relevant words."""
    names = tuple(dict.fromkeys(names_imported(text, package)))
    return Glance(
        is_quiet=len(names) <= MOST_IMPORTS and not _is_loud(text),
        searches=re.search(_ELSEWHERE, text) is not None,
        names=names[:MOST_IMPORTS],
    )


def _is_loud(text: str) -> bool:
    words = set(re.findall(r"\w+", text))
    if has_relevant_word(text) or words & _LOUD or {"sys", "modules"} <= words:
        return True
    if any(word.startswith(_LOUD_BEGINNINGS) or "exit" in word.lower() for word in words):
        return True
    return ("__main__" in words and re.search(_MAIN, text) is not None) or (
        "eval" in words and re.search(_EVAL, text) is not None
    )


def names_imported(text: str, package: str) -> Iterator[str]:
    """Yield the full names of what a module of a package may import."""
    for count, match in enumerate(re.finditer(_IMPORT, text)):
        above = absolute(re.sub(r"\s", "", match["source"] or ""), package)
        if above is None:
            continue
        if above:
            yield from _with_packages(above)
        for part in match["names"].strip("() \t").split(",", MOST_IMPORTS):
            name = part.split(maxsplit=1)[0] if part.strip() else ""
            if re.fullmatch(r"[\w.]+", name):
                yield from _with_packages(f"{above}.{name}" if above else name)
        if count > MOST_IMPORTS:
            return


def _with_packages(name: str) -> Iterator[str]:
    parts = name.split(".", _DEEPEST)
    if len(parts) <= _DEEPEST:
        for count in range(1, len(parts) + 1):
            yield ".".join(parts[:count])

"""Find the imports and relevant words in the text of a module, without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.script.modules import absolute
from smspec.script.script_files import has_relevant_word
from smspec.source.frozen import dataclass

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

_MAIN = re.compile(r"(?<!== [\"'])\b__main__\b")
_EVAL = re.compile(r"(?<![.\w])eval\b")

_IMPORT = re.compile(
    r"\b(?:from[ \t\\\r\n]+(?P<source>\.*[ \t]*[\w.]*)[ \t\\\r\n]+)?"
    r"import\b[ \t\\\r\n]*(?P<names>\([^)]*\)?|(?:[^\n;\\]|\\\r?\n)*)"
)
_ELSEWHERE = re.compile(r"\bsys\s{0,9}\.\s{0,9}path\b|\bfrom\s+sys\s+import\b|\baddsitedir\b|\b__path__\b")


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
        searches=_ELSEWHERE.search(text) is not None,
        names=names[:MOST_IMPORTS],
    )


def _is_loud(text: str) -> bool:
    words = set(re.findall(r"\w+", text))
    if has_relevant_word(text) or words & _LOUD or {"sys", "modules"} <= words:
        return True
    if any(word.startswith(_LOUD_BEGINNINGS) or "exit" in word.lower() for word in words):
        return True
    return ("__main__" in words and _MAIN.search(text) is not None) or (
        "eval" in words and _EVAL.search(text) is not None
    )


def names_imported(text: str, package: str) -> Iterator[str]:
    """Yield the full names of what a module of a package may import."""
    for count, match in enumerate(_IMPORT.finditer(text)):
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

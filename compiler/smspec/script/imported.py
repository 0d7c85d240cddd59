"""What the text of a module imports, and whether it has any word of interest, without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smspec.script.reading import WORDS

_LOUD = re.compile(
    "|".join(map(re.escape, (*WORDS, "dataclass")))
    + r"|\b(?:\w*[Ee]xit\w*|quit|abort|exec\w*|spawn\w+|environ\w*|putenv|unsetenv|dotenv|argv|importlib|runpy|pkgutil"
    r"|__import__|entry_points|pkg_resources|imp|gc|inspect|_getframe|f_globals|__globals__|settrace|setprofile"
    r"|mock|monkeypatch|ctypes)\b"
    r"|(?<![.\w])eval\b|\bsys\b[^\n]*\bmodules\b|(?<!== [\"'])\b__main__\b"
)
"""Without any of these words a module says nothing that is understood, ends nothing, and changes nothing of others."""

_IMPORT = re.compile(
    r"\b(?:from[ \t\\\r\n]+(?P<source>\.*[ \t]*[\w.]*)[ \t\\\r\n]+)?"
    r"import\b[ \t\\\r\n]*(?P<names>\([^)]*\)?|(?:[^\n;\\]|\\\r?\n)*)"
)
_ELSEWHERE = re.compile(r"\bsys\b[^\n]*\bpath\b|\baddsitedir\b|\b__path__\b")


def is_quiet_text(text: str) -> bool:
    """Tell whether a module itself has no word of interest."""
    return _LOUD.search(text) is None


def searches_elsewhere(text: str) -> bool:
    """Tell whether a module may change where Python looks for modules."""
    return _ELSEWHERE.search(text) is not None


def names_imported(text: str, package: str) -> Iterator[str]:
    """Yield the full names of what a module of a package may import, packages first; more rather than less."""
    for match in _IMPORT.finditer(text):
        source = re.sub(r"\s", "", match["source"] or "")
        names = [part.split()[0] for part in match["names"].strip("() \t").split(",") if part.split()]
        above = absolute(source, package)
        if above is None:
            continue
        if above:
            yield from _with_packages(above)
        for name in names:
            if re.fullmatch(r"[\w.]+", name):
                yield from _with_packages(f"{above}.{name}" if above else name)


def _with_packages(name: str) -> Iterator[str]:
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])


def absolute(source: str, package: str) -> str | None:
    """Return the full name behind ``from`` in a module of ``package``; None where no package is so far up."""
    level = len(source) - len(source.lstrip("."))
    if level == 0:
        return source
    above = package.split(".") if package else []
    if level > len(above):
        return None
    return ".".join(filter(None, [*above[: len(above) - level + 1], source[level:]]))

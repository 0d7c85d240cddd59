"""Read a list that its author wrote as one string: the words of a command, or packages.

Words are those of a shell, and packages those of pip's or apt's command line, or of a list with commas. What another
program would expand or refuse has no list: a wrong one is worse than none.
"""

from __future__ import annotations

import re
import shlex

from smspec.spec.packages import fault_in, is_apt_package, is_pip_requirement

_OF_WORDS = frozenset({"args", "command", "options"})
_OF_NAMES = frozenset({"attributes", "enum", "instance_groups", "security_groups", "subnets"})
_EXPANDED = re.compile(r"[|&;<>()$`*?\[\]\n]|(?:^|\s)[#~]|^!\s")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"|\\[^\n]")
_CONTINUED = re.compile(r"\\\r?\n")
_PIP = re.compile(r"(?:(?:\S*/)?python[\d.]*\s+-m\s+)?(?:uv\s+)?pip[\d.]*\s+install\s+")
_APT = re.compile(
    r"(?:sudo\s+)?apt(?:-get)?\s+(?:-\S+\s+)*install\s+(?:(?:-y|-qq?|-yq|--yes|--no-install-recommends)\s+)*"
)
_TIGHT = re.compile(r"\s*(===|[<>=!~]=|[<>]|,(?=\s*[<>=!~]))\s*|\s*([\[,])\s*(?=[^\[]*\])|\s+(?=[\[\]])")
"""What stands between the parts of one requirement."""
_BETWEEN = re.compile(r"[\s;]*,(?![<>=!~]|[^\[]*\])[\s,;]*|[\s;]*\n\s*|;(?!.*['\"])\s*|\s+(?=[A-Za-z0-9])")
_NUMBER = re.compile(r"[\d.]+")
_PROSE = frozenset({"and", "or", "with", "pip", "install"})


def listed_items(key: str, text: str) -> list[str] | None:
    """Return the items that ``text`` has as the value of ``key``; None if they are uncertain."""
    if key in _OF_WORDS:
        return _words(text, is_command=key == "command")
    if key == "python_packages":
        return _requirements(text)
    if key == "system_packages":
        words = re.split(r"[,\s]+", _APT.sub("", text.strip(), count=1).strip(", \n"))
        return words if all(map(is_apt_package, words)) and not _PROSE.intersection(words) else None
    if key in _OF_NAMES:
        return [word for word in re.split(r"[,\s]+", text) if word] or [text]
    return [text]


def _words(text: str, *, is_command: bool) -> list[str] | None:
    joined = _CONTINUED.sub("", text).strip()
    try:
        words = shlex.split(joined)
    except ValueError:  # a quote without its end, or an apostrophe
        return [joined] if len(joined.split()) == 1 and not is_command else None
    if not words:
        return None
    if (is_command and _ASSIGNED.match(words[0])) or _EXPANDED.search(_QUOTED.sub("_", joined)):
        return ["sh", "-c", text.strip()] if is_command else None
    return words


def _requirements(text: str) -> list[str] | None:
    words = _PIP.sub("", text.strip(), count=1)
    whole = words.strip(", ")
    if _is_requirement(whole):
        return [whole]
    if re.search(r"(?:^|\s)['\"]", words):
        try:
            found = shlex.split(words)
        except ValueError:
            return None
    else:
        found = [word for word in _BETWEEN.split(_TIGHT.sub(r"\1\2", words)) if word]
    found = [word.strip(", ") for word in found]
    if not found or not all(map(_is_requirement, found)) or _PROSE.intersection(found):
        return None
    return found


def _is_requirement(word: str) -> bool:
    return is_pip_requirement(word) and not fault_in(word) and not _NUMBER.fullmatch(word)

"""What names a package of apt or pip in a spec: never an option, a path, or a command.

A requirement is a name with extras, versions or an https URL, and a marker
(https://packaging.python.org/en/latest/specifications/dependency-specifiers/).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Patterns are strings, compiled only when a spec needs them.
# Names by Debian Policy 5.6.1, versions by 5.6.12; with a `-` at its end a name would be one to remove.
_APT_NAME = r"[a-z0-9](?:[a-z0-9+.-]*[a-z0-9+.])"
_APT_PACKAGE = rf"{_APT_NAME}(?::[a-z0-9][a-z0-9-]*)?(?:=[0-9A-Za-z][0-9A-Za-z.+:~-]*)?"

_LONGEST = 1024

_PROJECT = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_EXTRAS = rf"(?: ?\[ ?{_PROJECT}(?: ?, ?{_PROJECT})* ?\])?"
_CLAUSE = r"(?:===|==|~=|!=|<=|>=|<|>) ?[0-9A-Za-z.*+!_-]+"
_VERSIONS = rf"(?: ?{_CLAUSE}(?: ?, ?{_CLAUSE})*)?"
_URL = r" ?@ ?(?:git\+)?https://[A-Za-z0-9._~:/?#@!&()*+,=%-]+"
_MARKER = r"; ?[A-Za-z0-9_.,+*<>=!~()'\" -]+"
_WHOLE = rf"{_PROJECT}{_EXTRAS}(?:{_VERSIONS}(?: ?{_MARKER})?|{_URL}(?: {_MARKER})?)"

_CLAUSES = r"(===|==|~=|!=|<=|>=|<|>) ?([0-9A-Za-z.*+!_-]+)"
# https://packaging.python.org/en/latest/specifications/version-specifiers/
_RELEASE = r"v?(?:\d+!)?(\d+(?:\.\d+)*)"
_SUFFIX = (
    r"(?:[-_.]?(?:alpha|a|beta|b|preview|pre|c|rc)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?"
    r"(?:[-_.]?dev[-_.]?\d*)?"
)
_LOCAL = r"(\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
_PREFIX = rf"{_RELEASE}\.\*"

# `===` is exact too; `==1.*` is not. A URL identifies one file.
_EXACT = r"[^;#@]*===?\s*[^*;#\s,]+\s*(?:[;#\s].*)?|[^;#]*@\s*\S+.*"
_NO_PACKAGE = ("#", "-", "http:", "https:", "git+")

_VARIABLES = (
    "python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version"
    "|platform_machine|platform_python_implementation|implementation_name|implementation_version|extra"
    # The names of setuptools, which pip still reads.
    r"|os\.name|sys\.platform|platform\.(?:version|machine|python_implementation)|python_implementation"
)
_TOKENS = (
    rf"\s*(?:(?P<value>(?:{_VARIABLES})(?![\w.])|'[^']*'|\"[^\"]*\")"
    r"|(?P<op>===|==|~=|!=|<=|>=|<|>|not +in\b|in\b)|(?P<join>and\b|or\b)|(?P<open>\()|(?P<close>\)))"
)


def is_apt_package(word: str) -> bool:
    """Return whether a word is ``name``, ``name:architecture``, either with ``=version``."""
    return len(word) <= _LONGEST and re.fullmatch(_APT_PACKAGE, word) is not None


def is_pip_requirement(word: str) -> bool:
    """Return whether a word is a dependency specifier, as far as its parts are in their places."""
    return len(word) <= _LONGEST and re.fullmatch(_WHOLE, word) is not None


def fault_in(word: str) -> str:
    """Return what pip rejects in a versions or the marker of a requirement: a sentence; empty if nothing is wrong."""
    before, _, marker = word.partition(";")
    versions = "" if re.match(rf"{_PROJECT}{_EXTRAS} ?@", before) else before
    for found in re.finditer(_CLAUSES, versions):
        fault = _fault_in_clause(found[1], found[2])
        if fault:
            return fault
    if marker and not _is_marker(marker):
        return f"`{marker.strip()[:40]}` is not a condition such as `python_version < '3.11'`"
    return ""


def _fault_in_clause(operator: str, version: str) -> str:
    text = version.lower()
    if operator == "===":
        return ""
    if re.fullmatch(_PREFIX, text):
        return "" if operator in ("==", "!=") else f"`{operator}` cannot be combined with `*`"
    match = re.fullmatch(_RELEASE + _SUFFIX + _LOCAL, text)
    if match is None:
        return f"`{version[:40]}` is not a version"
    if match[2] and operator not in ("==", "!="):
        return f"`{operator}` cannot be combined with a local version such as `{match[2][:40]}`"
    if operator == "~=" and "." not in match[1]:
        return f"`~=` requires two parts of a version, such as `{match[1]}.0`"
    return ""


def _is_marker(text: str) -> bool:
    """Return whether a text is comparisons joined by `and` and `or`, with parentheses."""
    kinds, position = "", 0
    text = text.strip()
    pattern = re.compile(_TOKENS)
    while position < len(text):
        token = pattern.match(text, position)
        if token is None or token.lastgroup is None:
            return False
        position = token.end()
        kinds += {"value": "v", "op": "o", "join": "j", "open": "(", "close": ")"}[token.lastgroup]
    # Innermost first: a comparison in parentheses is a comparison.
    kinds = kinds.replace("vov", "c")
    while True:
        shorter = re.sub(r"\((c(?:jc)*)\)", "c", kinds)
        if shorter == kinds:
            return re.fullmatch(r"c(?:jc)*", kinds) is not None
        kinds = shorter


def loose_lines(content: bytes | None) -> Iterator[tuple[int, str]]:
    """Yield the requirements of a file without an exact version, with their line numbers."""
    return ((number, package) for number, package in _packages(content) if not is_exact(package))


def is_exact(requirement: str) -> bool:
    """Return whether a requirement names one version, or one file by its URL."""
    return re.fullmatch(_EXACT, requirement) is not None


def _packages(content: bytes | None) -> Iterator[tuple[int, str]]:
    """Yield the requirements of a file with their line numbers, without comments, options, and URLs."""
    begun, words = 1, ""
    for number, line in enumerate((content or b"").decode("utf-8", "replace").splitlines(), 1):
        words += f" {line.removesuffix(chr(92))}"
        if line.endswith("\\"):
            continue
        word = words.strip()
        if word and not word.startswith(_NO_PACKAGE):
            yield begun, re.split(r"\s+(?:#|--)", word)[0].strip()
        begun, words = number + 1, ""

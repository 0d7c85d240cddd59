"""The variables of a build that concern package indexes: settings of pip, and ``${NAME}`` in requirements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

# pip, requirements file format: upper case letters, digits, and `_`, in braces.
_VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)\}")

# A spec must not choose what else a resolver does on the machine that locks. An image has pip: variables of uv have no
# effect there.
_SETTING = re.compile(r"PIP_(?:INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|PRE|PREFER_BINARY)")
FILES = ("PIP_CONFIG_FILE", "NETRC")
"""Secrets in files that pip reads."""

CERTIFICATES = ("PIP_CERT", "PIP_CLIENT_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
"""Secrets in files with which pip trusts an index, or shows who it is."""

_OF_THE_SYSTEM = re.compile(
    r"(?:LD|DYLD|PIP|UV|SMSPEC|XDG|LC|SSL)_.*|PYTHON.*|(?:.+_)?PROXY|(?:REQUESTS|CURL)_CA_BUNDLE|PATH|HOME|IFS|SHELL"
    r"|LANG|TMPDIR|ENV|BASH_ENV|NETRC|VIRTUAL_ENV|CONDA_PREFIX|PROJECT_ROOT|CC|CXX|C(?:PP|XX)?FLAGS|LDFLAGS"
)


def without_comment(line: str) -> str:
    """Return a line of a requirements file without its comment, which begins at its start, or after a blank."""
    found = re.search(r"(?:^|(?<=\s))#", line)
    return line if found is None else line[: found.start()]


def variables_in(line: str) -> list[str]:
    """Return the names of the variables that pip and uv replace in a line of a requirements file."""
    return _VARIABLE.findall(line)


def index_variables(requirements: bytes, env: Mapping[str, str], secrets: Iterable[str]) -> dict[str, str | None]:
    """Return what else of an image chooses its packages: the variables that its requirements refer to, and secrets.

    The value of a secret is None: it may differ between authors.
    """
    lines = requirements.decode("utf-8-sig", "replace").splitlines()
    named = {name for line in lines for name in variables_in(without_comment(line))}
    found: dict[str, str | None] = {name: env[name] for name in sorted(named) if name in env}
    return found | {name: None for name in sorted(secrets) if name in named or name in FILES or is_index_setting(name)}


def expanded(line: str, variables: Mapping[str, str]) -> str:
    """Return a line with the values of its variables; one that is not set stays as it is written."""
    return _VARIABLE.sub(lambda match: variables.get(match[1], match[0]), line)


def is_index_setting(name: str) -> bool:
    """Return whether a variable of an image is a setting of pip that chooses indexes."""
    return _SETTING.fullmatch(name) is not None


def usable_in_requirements(names: Iterable[str]) -> Iterator[str]:
    """Yield the variables of a build that its requirements can refer to where they are locked."""
    return (name for name in names if is_index_setting(name) or not _OF_THE_SYSTEM.fullmatch(name))

"""The author's pip settings, without those that would install outside of a run's own environment."""

from __future__ import annotations

import ast
import configparser
import os
import re
from collections.abc import Mapping

_ELSEWHERE = ("user", "target", "prefix", "root", "python", "break-system-packages")
"""Options with which pip would install somewhere else."""

_FOR_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "no-index": "UV_NO_INDEX",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}
_WITHOUT_EFFECT = frozenset(
    {*_ELSEWHERE, "disable-pip-version-check", "cache-dir", "no-cache-dir", "progress-bar", "quiet", "verbose"}
    | {
        "config-file",
        "no-input",
        "root-user-action",
        "no-color",
        "require-virtualenv",
        "retries",
        "no-warn-script-location",
    }
)
"""Options that do not affect what uv installs, or that are removed."""


def own_pip_settings(variables: Mapping[str, str], file: str) -> dict[str, str]:
    """Return variables with which pip installs into its own environment; ``file`` is created for that.

    pip reads the file in PIP_CONFIG_FILE after those of machine and user: an empty value there resets theirs.
    """
    kept = {
        name: value
        for name, value in variables.items()
        if not (name.upper().startswith("PIP_") and name[4:].lower().replace("_", "-") in _ELSEWHERE)
    }
    named = variables.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return kept
    settings = configparser.RawConfigParser()
    if named:
        try:
            settings.read(named, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            pass  # pip reports what is wrong with it; here it is enough that it is not used
    for section in ("global", "install"):
        if not settings.has_section(section):
            settings.add_section(section)
        for option in _ELSEWHERE:
            settings.set(section, option, "false" if option in ("user", "break-system-packages") else "")
    with open(file, "w", encoding="utf-8") as target:
        settings.write(target)
    return {**kept, "PIP_CONFIG_FILE": file}


def uv_variables(listing: str, variables: Mapping[str, str]) -> dict[str, str] | None:
    """Return the settings of ``pip config list`` as variables of uv; None if uv has no equivalent for one.

    The author's own variables for uv are kept.
    """
    found: dict[str, str] = {}
    for line in listing.splitlines():
        match = re.fullmatch(r"(?::env:|global|install)\.([\w-]+)=(.+)", line.strip())
        if match is None:
            continue
        option = match[1].replace("_", "-")
        try:
            value = str(ast.literal_eval(match[2]))
        except (ValueError, SyntaxError):
            return None
        if option in _WITHOUT_EFFECT or not value:
            continue
        if option not in _FOR_UV:
            return None
        found[_FOR_UV[option]] = (",".join if option == "find-links" else " ".join)(value.split())
    # pip uses the best version of all indexes, uv by default that of the first index.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **found, **_own_words_of_uv(variables)}


def _own_words_of_uv(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith("UV_")}

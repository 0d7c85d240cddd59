"""The author's settings of pip: for uv, and without those that would install outside of an environment of its own.

So `smspec run` and `smspec lock` use the index that the author uses. Nothing here starts an installer, or knows which
packages a job needs: `smspec.local` installs them, and `smspec.lock` resolves them.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator, Mapping

_ELSEWHERE = ("user", "target", "prefix", "root", "python", "break-system-packages")
"""Options with which pip would install somewhere else."""

_FOR_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
    "proxy": "ALL_PROXY",
}
_FLAGS_FOR_UV = {"no-index": ("--no-index",), "pre": ("--prerelease", "allow")}
"""Options that uv has too, but no variable for."""

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
        "no-warn-conflicts",
        "no-python-version-warning",
        "exists-action",
        "log",
    }
)
"""Options that do not affect what uv installs, or that are removed."""
_OF_MAC = "Library/Application Support/pip/pip.conf"
_NOT_READ = ("config-file", "version", "help")
"""PIP_VERSION and PIP_HELP, which some images set for other programs, are not options of pip."""


def chooses_place(variable: str) -> bool:
    """Return whether a variable is an option with which pip would install somewhere else."""
    option = _option(variable[4:])
    return variable.startswith("PIP_") and option in _ELSEWHERE and option != "break-system-packages"


def own_pip_settings(variables: Mapping[str, str], file: str) -> dict[str, str]:
    """Return variables with which pip installs into its own environment; ``file`` is created for that.

    pip reads the file in PIP_CONFIG_FILE last, and because of it none of the user's: it has their settings, so it may
    have the password of an index. An empty value there resets that of a file of the machine.
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
    for path in [named] if named and os.path.exists(named) else _files_of_the_user(variables):
        try:
            settings.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            pass  # pip reports what is wrong with it; here it is enough that it is not used
    for section in ("global", "install"):
        if not settings.has_section(section):
            settings.add_section(section)
        for option in _ELSEWHERE:
            settings.set(section, option, "false" if option in ("user", "break-system-packages") else "")
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as target:
        settings.write(target)
    return {**kept, "PIP_CONFIG_FILE": file}


def pip_options(variables: Mapping[str, str], prefix: str = sys.prefix) -> dict[str, str]:
    """Return the options of ``pip install`` that its configuration files and variables set, as pip reads them.

    ``prefix`` is the directory of the environment that has the pip, which may have a file of its own. To start pip for
    its own answer takes a second in a new environment.
    """
    found: dict[str, str] = {}
    for path in _configuration_files(variables, prefix):
        settings = configparser.RawConfigParser()
        try:
            settings.read(path, encoding="utf-8")
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue  # pip reports what is wrong with it
        for section in ("global", "install"):
            if settings.has_section(section):
                found |= {_option(name): value for name, value in settings.items(section)}
    found |= {_option(name[4:]): value for name, value in variables.items() if name.startswith("PIP_")}
    return {name: value for name, value in found.items() if value and name not in _NOT_READ}


def _configuration_files(variables: Mapping[str, str], prefix: str) -> Iterator[str]:
    """Yield the paths that pip reads, where a later file goes before an earlier one.

    pip reads the files of the user only if there is no file at PIP_CONFIG_FILE.
    """
    named = variables.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return
    if sys.platform == "darwin":
        yield f"/{_OF_MAC}"
    for directory in reversed((variables.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)):
        yield os.path.join(directory, "pip", "pip.conf")
    yield "/etc/pip.conf"
    if not os.path.exists(named):
        yield from _files_of_the_user(variables)
    yield os.path.join(prefix, "pip.conf")
    if named:
        yield named


def _files_of_the_user(variables: Mapping[str, str]) -> Iterator[str]:
    home = variables.get("HOME") or os.path.expanduser("~")
    if sys.platform == "darwin":
        yield os.path.join(home, _OF_MAC)
    yield os.path.join(home, ".pip", "pip.conf")
    yield os.path.join(variables.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "pip", "pip.conf")


def uv_settings(options: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str] | str:
    """Return options of pip as variables of uv, with the author's own for uv; an option without an equivalent."""
    found: dict[str, str] = {}
    for option, value in options.items():
        if option in _WITHOUT_EFFECT or option in _FLAGS_FOR_UV or not value:
            continue
        if option not in _FOR_UV:
            return option
        found[_FOR_UV[option]] = (",".join if option == "find-links" else " ".join)(value.split())
    # pip uses the best version of all indexes, uv by default that of the first index.
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", **found, **_own_words_of_uv(variables)}


def uv_flags(options: Mapping[str, str]) -> list[str]:
    """Return the arguments of uv for options of pip that no variable of uv sets."""
    return [word for option, words in _FLAGS_FOR_UV.items() if is_on(options.get(option, "")) for word in words]


def is_on(value: str) -> bool:
    """Return whether pip takes the value of an option without an argument for true."""
    return value.lower() in ("1", "true", "yes", "on", "y", "t")


def _option(name: str) -> str:
    return name.lower().replace("_", "-")


def _own_words_of_uv(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith("UV_")}

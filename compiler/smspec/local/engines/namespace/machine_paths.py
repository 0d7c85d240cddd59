"""The files of this machine that a host sees besides its system: the job's Python, and the author's credentials."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

from smspec.local.engines.namespace.cell.plan import Bind

_OF_HOME = (".aws", ".pip", ".config/pip", ".netrc")
_FILES_IN_VARIABLES = (
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy")
_PREFIXES = ("AWS_", "PIP_", "SMSPEC_STOP_GRACE")


def kept_variables(inherited: Mapping[str, str]) -> dict[str, str]:
    """Return the author's variables that a host gets: how to reach AWS, an index, and the network."""
    return {
        name: value
        for name, value in inherited.items()
        if name.startswith(_PREFIXES) or name in _FILES_IN_VARIABLES or name.lower() in _PROXIES
    }


def python_binds(places: Iterable[str]) -> list[Bind]:
    """Return binds for a Python and its packages, each at its own path, with what is installed as a link to it."""
    found = dict.fromkeys(os.path.abspath(place) for place in places)
    for place in tuple(found):
        found |= dict.fromkeys(_editable(place))
    real = dict.fromkeys(os.path.realpath(place) for place in found)
    return [Bind(place, place) for place in _outermost({**found, **real})]


def author_binds(variables: Mapping[str, str]) -> list[Bind]:
    """Return binds for the author's settings of AWS and pip, and for files that variables name."""
    home = os.path.expanduser("~")
    binds = [Bind(os.path.join(home, name), f"/root/{name}") for name in _OF_HOME]
    named = [os.path.abspath(variables[name]) for name in _FILES_IN_VARIABLES if variables.get(name)]
    return [bind for bind in [*binds, *(Bind(path, path) for path in named)] if os.path.exists(bind.source)]


def _outermost(places: Iterable[str]) -> list[str]:
    """Return the places that are not below another one."""
    kept: list[str] = []
    for place in sorted(places):
        if place != "/" and not any(place.startswith(f"{above}/") for above in kept):
            kept.append(place)
    return kept


def _editable(directory: str) -> Iterator[str]:
    """Yield the sources of distributions that are installed as links to them (PEP 610)."""
    try:
        names = [name for name in os.listdir(directory) if name.endswith(".dist-info")]
    except OSError:
        return
    for name in names:
        try:
            with open(os.path.join(directory, name, "direct_url.json"), encoding="utf-8") as file:
                origin = json.load(file)
            if origin["dir_info"].get("editable"):
                yield unquote(urlsplit(origin["url"]).path)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue

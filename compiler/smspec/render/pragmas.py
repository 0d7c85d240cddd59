"""Which hadolint rules are ignored, line by line: those about the author's choices, which ``validate`` checks.

Each function returns the comment line with its line break, or an empty string. An unnecessary comment does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_PINNED_APT = re.compile(r"[^=]+=[^=]+")
_PINNED_PIP = re.compile(r"[^=;]+===?[^=;*]+(;.*)?")
_SECRET_SOUNDING = re.compile(
    r"token|secret|passw|private|user|key|email|app_id|okta_|device_name|travis_", re.IGNORECASE
)
_PLAIN_LABEL = re.compile(r"[a-z](?:[a-z0-9]|[.-](?=[a-z0-9]))*")
_NAMESPACES_OF_DOCKER = ("com.docker.", "io.docker.", "org.dockerproject.")


def base_pragma(base: str) -> str:
    """Ignore warnings about a pinned platform (DL3029), and a base image without a tag (DL3006) or with ``latest``."""
    tag = base.rpartition("/")[2].partition(":")[2]
    if "@" in base or tag not in ("", "latest"):
        return _pragma("DL3029")
    return _pragma("DL3029", "DL3007" if tag else "DL3006")


def env_pragma(name: str) -> str:
    """Ignore DL3064 for names that look like a secret, such as ``TOKENIZERS_PARALLELISM``."""
    return _pragma("DL3064") if _SECRET_SOUNDING.search(name) else ""


def user_pragma(user: str) -> str:
    """Ignore warnings about root as the last user (DL3002), and about a user with a name (DL3066)."""
    rules = ["DL3002"] if user.partition(":")[0] in ("root", "0") else []
    rules += [] if user.replace(":", "").isdigit() else ["DL3066"]
    return _pragma(*rules) if rules else ""


def label_pragma(key: str) -> str:
    """Ignore DL3048 for keys outside the style that Docker recommends."""
    plain = _PLAIN_LABEL.fullmatch(key) and not key.startswith(_NAMESPACES_OF_DOCKER)
    return "" if plain else _pragma("DL3048")


def apt_pragma(packages: Iterable[str]) -> str:
    """Ignore DL3008 if a package is not pinned."""
    return "" if all(_PINNED_APT.fullmatch(word) for word in packages) else _pragma("DL3008")


def pip_pragma(packages: Iterable[str]) -> str:
    """Ignore DL3013 if a package is not pinned."""
    return "" if all(_PINNED_PIP.fullmatch(word) for word in packages) else _pragma("DL3013")


def _pragma(*rules: str) -> str:
    return f"# hadolint ignore={','.join(rules)}\n"

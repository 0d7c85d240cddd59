"""The login that the user's own client has for a registry, from its files or a credential helper."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping

_LARGEST = 1 << 20
_SECONDS = 30.0
_HUB = "https://index.docker.io/v1/"
_HUB_NAMES = ("docker.io", "index.docker.io", "registry-1.docker.io")
_OF_A_TOKEN = "<token>"
"""The user name of what is no password, but a token of a login server."""


def user_login(host: str, variables: Mapping[str, str]) -> str | None:
    """Return the Authorization header with the user's login for a registry, or None."""
    server = _HUB if host in _HUB_NAMES else host
    for path in _files(variables):
        config = read_config(path)
        found = _from_helper(config, server) or _from_file(config, server)
        if found is not None:
            return f"Basic {base64.b64encode(found.encode()).decode()}"
    return None


def docker_directory(variables: Mapping[str, str]) -> str:
    """Return the directory with the configuration of docker."""
    return variables.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")


def read_config(path: str) -> dict[str, object]:
    """Return the content of a file of logins; empty if it cannot be read."""
    try:
        with open(path, "rb") as file:
            config = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _files(variables: Mapping[str, str]) -> Iterator[str]:
    yield os.path.join(docker_directory(variables), "config.json")
    if variables.get("REGISTRY_AUTH_FILE"):
        yield variables["REGISTRY_AUTH_FILE"]
    if variables.get("XDG_RUNTIME_DIR"):
        yield os.path.join(variables["XDG_RUNTIME_DIR"], "containers/auth.json")
    yield os.path.expanduser("~/.config/containers/auth.json")
    yield f"/run/containers/{os.geteuid()}/auth.json"


def _from_file(config: Mapping[str, object], server: str) -> str | None:
    """Return ``user:password`` of a file."""
    logins = config.get("auths")
    entries = logins if isinstance(logins, dict) else {}
    for name in (server, f"https://{server}", f"http://{server}", f"https://{server}/"):
        entry = entries.get(name)
        written = entry.get("auth") if isinstance(entry, dict) else None
        if isinstance(written, str) and written:
            try:
                login = base64.b64decode(written).decode()
            except (binascii.Error, UnicodeDecodeError):
                continue
            return login.rstrip("\0") if ":" in login else None
    return None


def _from_helper(config: Mapping[str, object], server: str) -> str | None:
    """Return ``user:password`` of the helper that is configured for a registry, or for all."""
    helpers = config.get("credHelpers")
    name = helpers[server] if isinstance(helpers, dict) and server in helpers else config.get("credsStore")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9._-]+", name):
        return None
    try:
        done = subprocess.run(
            [f"docker-credential-{name}", "get"], input=server.encode(), capture_output=True, timeout=_SECONDS
        )
        answer = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    login = answer if isinstance(answer, dict) else {}
    user, secret = login.get("Username"), login.get("Secret")
    if not isinstance(user, str) or not isinstance(secret, str) or user == _OF_A_TOKEN:
        return None
    return f"{user}:{secret}"

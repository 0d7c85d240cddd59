"""Logins for a registry: that of the user's own client, from its files or a credential helper, and a private one.

The private login of an engine's client is used by this command only, in a directory that is removed afterwards. The
password reaches the client through its standard input. The user's own file keeps its content, and their credential
helper does not store the password. A credential helper of smspec's own would avoid the file, but not all clients
support one.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.publishing.publication import PublishFailed
from smspec.source.real_file import OUTSIDE_PROJECTS, variables_outside

_LARGEST = 1 << 20
_SECONDS = 30.0
_HUB = "https://index.docker.io/v1/"
_HUB_NAMES = ("docker.io", "index.docker.io", "registry-1.docker.io")
_OF_A_TOKEN = "<token>"
"""The user name of what is no password, but a token of a login server."""

_CONFIG = "config.json"
_KEPT_APART = (_CONFIG, "auths", "credsStore", "credHelpers")
_LOGIN_SECONDS = 120.0


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
            [f"docker-credential-{name}", "get"],
            input=server.encode(),
            capture_output=True,
            timeout=_SECONDS,
            env=variables_outside(os.environ),
            cwd=OUTSIDE_PROJECTS,
        )
        answer = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    login = answer if isinstance(answer, dict) else {}
    user, secret = login.get("Username"), login.get("Secret")
    if not isinstance(user, str) or not isinstance(secret, str) or user == _OF_A_TOKEN:
        return None
    return f"{user}:{secret}"


@contextmanager
def private_login(client: Client, host: str, user: str, password: str, scratch_dir: str) -> Iterator[Client]:
    """Log in to a registry, and yield the client that is. Raise `PublishFailed`."""
    directory = os.path.join(scratch_dir, "login")
    os.makedirs(directory, 0o700)
    try:
        private = Client(client.program, _variables(client.program, directory, host))
        try:
            private.run("login", "--username", user, "--password-stdin", host, given=password, seconds=_LOGIN_SECONDS)
        except ClientFailed as fault:
            raise PublishFailed(3, f"`{client.program} login {host}` failed: {fault}") from None
        try:
            yield private
        finally:
            if client.program == "finch":
                private.try_to("logout", host)  # it keeps logins inside of its virtual machine
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _variables(program: str, directory: str, host: str) -> dict[str, str]:
    """Return the variables that make a client use the directory, which gets what the client needs besides logins."""
    if program == "podman":
        return {"REGISTRY_AUTH_FILE": os.path.join(directory, "auth.json")}
    own = docker_directory(os.environ)
    config = {name: value for name, value in read_config(os.path.join(own, _CONFIG)).items() if name not in _KEPT_APART}
    # An empty helper is the file itself. Without the entry, docker chooses a helper of the machine, such as a keychain.
    config["credHelpers"] = {host: ""}
    with open(
        os.open(os.path.join(directory, _CONFIG), os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8"
    ) as file:
        json.dump(config, file)
    # Contexts say where the engine is; plugins and certificates belong to the client.
    for name in os.listdir(own) if os.path.isdir(own) else ():
        if name not in _KEPT_APART:
            os.symlink(os.path.join(os.path.abspath(own), name), os.path.join(directory, name))
    return {"DOCKER_CONFIG": directory}

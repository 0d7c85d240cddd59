"""A login of an engine's client that only this command uses: in a private directory, which is removed afterwards.

The password reaches the client through its standard input. The user's own file keeps its content, and their credential
helper does not store the password.

A credential helper of smspec's own would avoid the file, but not all clients support one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from smspec.local.engines.containers.client import Client, ClientFailed
from smspec.publishing.publication import PublishFailed
from smspec.publishing.user_login import docker_directory, read_config

_CONFIG = "config.json"
_KEPT_APART = (_CONFIG, "auths", "credsStore", "credHelpers")
_SECONDS = 120.0


@contextmanager
def private_login(client: Client, host: str, user: str, password: str, scratch_dir: str) -> Iterator[Client]:
    """Log in to a registry, and yield the client that is. Raise `PublishFailed`."""
    directory = os.path.join(scratch_dir, "login")
    os.makedirs(directory, 0o700)
    try:
        private = Client(client.program, _variables(client.program, directory, host))
        try:
            private.run("login", "--username", user, "--password-stdin", host, given=password, seconds=_SECONDS)
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

"""Secrets of a build: mounted by BuildKit for one instruction, and set as variables of its commands.

What BuildKit mounts becomes part of no layer and not of the image's history
(https://docs.docker.com/build/building/secrets/).
"""

from __future__ import annotations

from collections.abc import Mapping

_DIRECTORY = "/run/secrets"


def mounts(secrets: Mapping[str, str]) -> list[str]:
    """Return the flags of a RUN instruction: a build without one of the secrets fails.

    The base may have a user other than root, who must be able to read them.
    """
    return [f"--mount=type=secret,id={name},required=true,mode=0444" for name in secrets]


def settings(secrets: Mapping[str, str]) -> list[str]:
    """Return the shell commands that set the variables: to the value, or to the path of the file.

    They print nothing, and no value is a word of a command line.
    """
    return [
        f'{name}="$(cat {_DIRECTORY}/{name})" && export {name}'
        if kind == "env"
        else f"export {name}={_DIRECTORY}/{name}"
        for name, kind in secrets.items()
    ]


def with_settings(script: str, secrets: Mapping[str, str]) -> str:
    """Return a script of one or several lines that begins by setting the variables."""
    return "".join(f"{command} || exit\n" for command in settings(secrets)) + script


def options(secrets: Mapping[str, str]) -> list[str]:
    """Return the options of ``docker build``, without where the secrets come from."""
    return [f"--secret id={name},{'env' if kind == 'env' else 'src'}=…" for name, kind in secrets.items()]

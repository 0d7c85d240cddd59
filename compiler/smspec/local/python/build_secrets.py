"""The secrets of a build, for the packages that a local run installs instead of a build."""

from __future__ import annotations

import os
from collections.abc import Mapping

from smspec.local.running.request import RunFailed
from smspec.spec.model import BuildSecret


def secret_variables(secrets: Mapping[str, BuildSecret], variables: Mapping[str, str], base_dir: str) -> dict[str, str]:
    """Return the variables that the commands of the build get; a file is relative to ``base_dir``. Raise RunFailed."""
    found = {}
    for name, secret in secrets.items():
        if secret.env is not None:
            if secret.env not in variables:
                raise RunFailed(
                    3, f"the variable `{secret.env}` is not set: `image.secrets.{name}` needs it to install packages"
                )
            found[name] = variables[secret.env]
            continue
        path = os.path.abspath(os.path.join(base_dir, os.path.expanduser(secret.file or "")))
        if not os.access(path, os.R_OK):
            raise RunFailed(
                3, f"cannot read the file of `image.secrets.{name}`, which is needed to install packages: {path}"
            )
        found[name] = path
    return found

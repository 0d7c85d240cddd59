"""Read which version of Python the images of AWS run whose tags do not show it: scikit-learn and XGBoost.

Their tags move, and are built from a branch for each release. A release is left out if two of its Dockerfiles differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from maintenance.checkout import Checkout

REPOSITORIES = {
    "sagemaker-scikit-learn-container": "sagemaker-scikit-learn",
    "sagemaker-xgboost-container": "sagemaker-xgboost",
}
"""The repository of the sources → that of the images."""

_DOCKERFILE = r"docker/(?P<release>[^/]+)/base/Dockerfile\.cpu"
_VERSION = r"^ARG PYTHON_VERSION=(\d+\.\d+)"
_UNKNOWN = ""

Releases = dict[tuple[str, str], str]
"""Repository of the images and release → version, such as ``3.8``."""


def interpreters(sources: Iterable[Checkout]) -> Releases:
    """Return the versions of Python in the images that are built from some repositories."""
    found: dict[tuple[str, str], set[str]] = {}
    for source in sources:
        for commit in source.versions():
            for path in source.files("docker", "Dockerfile.cpu", at=commit):
                match = re.fullmatch(_DOCKERFILE, path)
                if match:
                    version = re.search(_VERSION, source.text(path, at=commit), re.MULTILINE)
                    release = (REPOSITORIES[source.name], match["release"])
                    found.setdefault(release, set()).add(version[1] if version else _UNKNOWN)
    agreed = {release: versions.pop() for release, versions in sorted(found.items()) if len(versions) == 1}
    return {release: version for release, version in agreed.items() if version}

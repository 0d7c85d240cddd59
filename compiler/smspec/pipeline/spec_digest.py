"""The digest of a spec: what it says, not how its files are cut or commented."""

from __future__ import annotations

import hashlib

from smspec.pipeline.inputs import Inputs
from smspec.render.spec_yaml import spec_yaml


def spec_digest(inputs: Inputs) -> str:
    """Return the SHA-256 of the merged spec as ``smspec render --spec`` prints it."""
    return hashlib.sha256(spec_yaml(inputs.document).encode()).hexdigest()

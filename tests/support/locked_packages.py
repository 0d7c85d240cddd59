"""A lockfile with the packages of the jobs of a directory, as `smspec lock` would write it after it resolved them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from smspec.organization.lock_content import decoded
from smspec.pipeline.inputs import gather_all
from smspec.plan import with_image_uri
from smspec.plan.image_planning import authored_image, environment_of, image_at_start, key_at_start
from smspec.source.frozen import replace
from smspec.spec.decoding import decode
from smspec.spec.lock import Lock, content_digest, environment_file

DIGEST = "sha256:" + "a" * 64
NUMPY = {"numpy": "2.1.0"}


def locked_file(packages: Mapping[str, str]) -> bytes:
    """Return a requirements file with hashes."""
    lines = (f"{name}=={version} \\\n    --hash=sha256:{'c' * 64}\n" for name, version in packages.items())
    return "".join(lines).encode()


def lock_packages(
    spec: Path,
    packages: Mapping[str, str] = NUMPY,
    modules: Iterable[str] | None = None,
    *,
    unlisted: Iterable[str] = (),
    content: bytes | None = None,
    python: str = "3.12",
    at_start: bool = False,
) -> str:
    """Lock the packages of a spec and each of its overlays, with its base image; return the path of a file with them.

    ``modules``: what they provide; by default a module of the name of each. ``at_start``: they are those that the jobs
    install at startup, in addition to what is locked already.
    """
    content = locked_file(packages) if content is None else content
    path = spec.parent / "smspec.lock"
    known = json.loads(path.read_text()) if path.exists() else {"lock": 1}
    known = {"environments": {}, "images": {}, "requirements": {}, **known}
    for _, inputs in gather_all(os.path.relpath(spec)):
        job, _ = with_image_uri(decode(inputs.document), None)
        image = authored_image(job, replace(inputs.build_inputs, lock=None))
        if "@" not in image.base:
            known["images"].setdefault(image.base, DIGEST)
        pinned = replace(image, base=Lock(images=known["images"]).pinned(image.base))
        key = environment_of(pinned, inputs.build_inputs.requirements)
        if at_start:
            installed = known["environments"].get(key or "")
            pinned = image_at_start(job, pinned)
            key = key_at_start(pinned, inputs.build_inputs.startup.content, installed and decoded(installed))
        if inputs.build_inputs.requirements is not None:
            name = os.path.relpath(inputs.requirements_file, spec.parent)
            known["requirements"][name] = content_digest(inputs.build_inputs.requirements)
        known["environments"][key] = {
            "base": pinned.base,
            "platform": pinned.platform,
            "python": python,
            "packages": dict(packages),
            "modules": [*(packages if modules is None else modules)],
            "unlisted": [*unlisted],
            "digest": f"sha256:{hashlib.sha256(content).hexdigest()}",
            "resolver": "uv 0.9.0",
        }
        file = spec.parent / environment_file(key)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    path.write_text(json.dumps(known, indent=2) + "\n")
    return environment_file(key)

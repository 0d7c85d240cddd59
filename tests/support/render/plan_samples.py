"""Handmade plans for tests of rendering and writing."""

from __future__ import annotations

import hashlib

from smspec.plan import BuildInputs, ImagePlan, NeededEnvironment, Plan, RequestPlan
from smspec.source import ListedFile, Listing
from smspec.spec.lock import LockedEnvironment, content_digest
from smspec_runtime.run_plan import RunPlan

SOURCE_FILES = {
    "train.py": b"print('training')\n",
    "bin/go": b"#!/bin/sh\n",
    "empty": b"",
    "block": b"x" * 512,
    "large": bytes(range(256)) * 1024,
    "ünïcode.py": "grüß".encode(),
    "deep/" * 40 + "file": b"a name of more than 100 bytes",
}
"""Files that an archive may stumble over."""

PAYLOAD = {"TrainingJobName": "job-0123456789", "HyperParameters": {"lr": "1e-3", "greeting": "grüß"}}


def image_plan(**changes) -> ImagePlan:
    """Return the plan of the plainest image, with ``changes``."""
    members = {
        "base": "python:3.12-slim-bookworm",
        "platform": "linux/amd64",
        "system_packages": (),
        "python_packages": (),
        "python_requirements": None,
        "env": {},
        "run": (),
        "labels": {},
        "secrets": {},
        "user": None,
        "build_args": {},
        "pre_install": (),
        "env_prepend": {},
        "title": "job",
        "holds_source": True,
        "needs_ssh": False,
        "repository": "111122223333.dkr.ecr.us-west-2.amazonaws.com/job",
        "tag": "0" * 64,
    }
    return ImagePlan(**{**members, **changes})


def plan(**changes) -> Plan:
    """Return the plan of a job whose image holds one script, with ``changes``."""
    members = {
        "name": "job",
        "image": image_plan(),
        "run": RunPlan(kind="script", program="train.py"),
        "settings": None,
        "request": RequestPlan(payload=PAYLOAD, origins={}),
        "uploads": (),
    }
    return Plan(**{**members, **changes})


def listing(directory, contents) -> Listing:
    """Write the files of ``contents`` (path → bytes) and return their listing; a path in ``bin/`` is executable."""
    files = []
    for path in sorted(contents, key=str.encode):
        origin = directory / path
        origin.parent.mkdir(parents=True, exist_ok=True)
        origin.write_bytes(contents[path])
        files.append(
            ListedFile(
                path=path,
                origin=str(origin),
                executable=path.startswith("bin/"),
                size=len(contents[path]),
                sha256=hashlib.sha256(contents[path]).hexdigest(),
            )
        )
    return Listing(files=tuple(files))


def locked_environment(content: bytes) -> LockedEnvironment:
    """Return the entry of a lock for a requirements file with hashes."""
    return LockedEnvironment(
        base="python:3.12-slim-bookworm",
        platform="linux/amd64",
        python="3.12",
        packages={},
        modules=(),
        unlisted=(),
        digest=content_digest(content),
        resolver="uv 0.9.0",
    )


def build_inputs(directory, source=None, requirements=None, locked=None) -> BuildInputs:
    """Return what goes into a tree: a source, a runtime that is quick to write, and a file of locked packages."""
    return BuildInputs(
        source=listing(directory / "source", {"train.py": b"print('training')\n"} if source is None else source),
        runtime=listing(directory / "runtime", {"__init__.py": b"", "main.py": b"def main(words, plan): ...\n"}),
        templates="0" * 64,
        requirements=requirements,
        environment=None
        if locked is None
        else NeededEnvironment(key="0" * 16, locked=locked_environment(locked), content=locked),
    )

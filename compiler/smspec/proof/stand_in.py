"""Whether a Python of this machine, chosen with ``--python``, has the versions of the image.

Then what fails on it fails in the job. Otherwise a missing module or name may only be missing on this machine.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator

from smspec.local.python.interpreter import Interpreter
from smspec.local.python.wanted import Wanted
from smspec.service.image_reference import parsed_reference
from smspec.service.requirement_lines import normalized, without_comment
from smspec.spec.model import BuiltImage, JobSpec

_FRAMEWORKS = {
    "tensorflow": "tensorflow",
    "pytorch": "torch",
    "mxnet": "mxnet",
    "scikit-learn": "scikit-learn",
    "xgboost": "xgboost",
}
"""A part of the repository of an image of AWS → the package whose version its tag begins with."""

_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)\s*(?:\[[\w\s,.-]*\])?\s*(?:(==)\s*([\w.!+]+))?")


def has_the_versions(interpreter: Interpreter, job: JobSpec, wanted: Wanted) -> bool:
    """Return whether an interpreter has the packages that the image certainly has, in their versions."""
    if wanted.version != interpreter.minor:
        return False
    installed = _installed(interpreter)
    if isinstance(job.image, BuiltImage):
        if wanted.locked is not None:
            expected: dict[str, str] = dict(wanted.locked.packages)
        else:
            expected = dict(_expected(wanted))
    else:
        expected = dict(_of_framework(job))
        if not expected:
            return False
    # Without a version, the image gets the newest one.
    return all(version and _is_same(installed.get(name, ""), version) for name, version in expected.items())


def _is_same(installed: str, version: str) -> bool:
    """Return whether a version is the expected one, or the first parts of it are: 2.5 for 2.5.1+cpu."""
    public = installed.partition("+")[0]
    expected = version.partition("+")[0].removesuffix(".*")
    return public == expected or public.startswith(f"{expected}.")


def _installed(interpreter: Interpreter) -> dict[str, str]:
    """Return package → version."""
    found: dict[str, str] = {}
    for place in (*interpreter.packages, *interpreter.paths):
        for path in glob.glob(os.path.join(glob.escape(place), "*.dist-info")):
            name, _, version = os.path.basename(path).removesuffix(".dist-info").partition("-")
            found.setdefault(normalized(name), version)
    return found


def _expected(wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield the packages of an image without a lock, with a version or none."""
    lines = [word for turn in wanted.turns for word in turn if not word.startswith("-") and word not in wanted.files]
    lists = [*wanted.files.values(), *([wanted.at_start] if wanted.at_start is not None else [])]
    lines += [line for content in lists for line in content.decode("utf-8", "replace").splitlines()]
    for line in lines:
        text = without_comment(line).partition(";")[0].strip()
        named = _PINNED.match(text)
        if named is not None and "://" not in text and not text.startswith((".", "-")):
            yield normalized(named[1]), named[3] or ""


def _of_framework(job: JobSpec) -> Iterator[tuple[str, str]]:
    image = job.image
    reference = None if image is None or isinstance(image, BuiltImage) else parsed_reference(image.uri)
    if reference is None or reference.account is None or reference.tag is None:
        return
    version = re.match(r"\d+(?:\.\d+)+", reference.tag)
    for part, package in _FRAMEWORKS.items():
        if part in reference.repository and version is not None:
            yield package, version[0]
            return

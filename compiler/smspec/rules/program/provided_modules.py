"""Which modules the image of a job provides besides the standard library."""

from __future__ import annotations

from smspec.rules.program.listed_modules import ListedModules, listed_modules
from smspec.rules.program.program_and_image import ProgramAndImage
from smspec.service.image_python import is_official_python, without_python
from smspec.source.frozen import dataclass
from smspec.spec.model import BuiltImage, CommandEntry

_OF_PYTHON = frozenset(
    {"_distutils_hack", "ensurepip", "pip", "pkg_resources", "setuptools", "smspec_runtime", "wheel"}
)
_OF_BOTO3 = frozenset({"boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six", "urllib3"})
_AT_START = ("requirements.txt", "setup.py")
_WITHOUT_MODULES = frozenset(
    {"build-essential", "ca-certificates", "curl", "g++", "gcc", "git", "libgomp1", "libgl1", "libglib2.0-0", "make"}
    | {"openssh-client", "openssh-server", "procps", "python3", "python3-dev", "python3-full", "python3-minimal"}
    | {"python3-pip", "python3-venv", "tini", "unzip", "wget"}
)
"""Packages of apt that add no module to apt's Python, as far as a script imports them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """``names``: the first parts of modules outside of the standard library; None if they are not all known.

    ``reason``: why they are not; it ends a sentence. ``listed``: the image of AWS whose list they come from.
    """

    names: frozenset[str] | None = None
    reason: str = ""
    listed: ListedModules | None = None


def provided(both: ProgramAndImage) -> Provided:
    """Return the modules that the image of a job provides, or why they are unknown."""
    listed = listed_modules(both)
    if listed is not None:
        return Provided(names=listed.names | _OF_PYTHON | _OF_BOTO3, listed=listed)
    reason = _unknown(both)
    if reason:
        return Provided(reason=reason)
    return Provided(names=_OF_PYTHON | _OF_BOTO3 if both.job.delivery == "s3" else _OF_PYTHON)


def _unknown(both: ProgramAndImage) -> str:
    job, image = both.job, both.job.image
    if both.reach.is_open:
        return "modules may come from other directories, or be installed at startup"
    if not isinstance(image, BuiltImage):
        return "the packages of the existing image are unknown"
    if image.run:
        return "`image.run` may install packages"
    if {"PATH", "PYTHONHOME", "PYTHONPATH"} & {*image.env, *job.environment}:
        return "variables change which Python starts"
    if isinstance(job.entry_point, CommandEntry) and job.entry_point.command[:1] not in (("python",), ("python3",)):
        return "the command names a different Python"
    for name in _AT_START:
        if both.source.has(name):
            return f"`{name}` of the source is installed at startup"
    if image.python_packages or image.python_requirements is not None:
        return "the modules in the packages of the image are unknown"
    if is_official_python(image.base):
        return ""
    if without_python(image.base):
        others = {word.partition("=")[0].partition(":")[0] for word in image.system_packages} - _WITHOUT_MODULES
        return "`image.system_packages` may provide modules" if others else ""
    return "the packages of `image.base` are unknown"

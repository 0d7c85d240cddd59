"""The shared libraries that packages expect from the system, and what an image has of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from smspec.plan import ImagePlan
from smspec.service.image_python import is_official_python

_PACKAGES = {
    "libGL.so.1": "libgl1",
    "libSM.so.6": "libsm6",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXrender.so.1": "libxrender1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgomp.so.1": "libgomp1",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libmpi.so.40": "libopenmpi3",
    "libportaudio.so.2": "libportaudio2",
    "libsndfile.so.1": "libsndfile1",
}
"""Library → the package of Debian that has it. No official image of Python with `slim` in its tag does."""

_NOT_IN_ANY = frozenset({"libGL.so.1", "libmpi.so.40", "libportaudio.so.2", "libsndfile.so.1"})
"""Those that the larger images of Python lack, too."""

_OF_THE_HOST = ("libcuda.so", "libnvidia-", "libnrt.so", "libnccom.so", "libefa.so", "libfabric.so")
"""Libraries of drivers: the instance has them."""

_NAMED = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")


def missing_library(message: str) -> str | None:
    """Return the library that the loader cannot find, from the message of an exception."""
    match = _NAMED.search(message)
    return match[1] if match else None


def is_of_the_host(library: str) -> bool:
    """Return whether the driver of an instance brings a library."""
    return library.startswith(_OF_THE_HOST)


def package_of(library: str) -> str:
    """Return the apt package that has a library; empty if it is unknown."""
    return _PACKAGES.get(library, "")


def may_have(image: ImagePlan | None, library: str) -> bool:
    """Return whether an image may have a library; False only if it certainly does not."""
    if image is None or image.commands or library not in _PACKAGES or not is_official_python(image.base):
        return True
    if "alpine" in image.base or ("slim" not in image.base and library not in _NOT_IN_ANY):
        return True
    return any(_may_bring(word.partition("=")[0].partition(":")[0]) for word in image.system_packages)


def lacking(libraries: Iterable[str], image: ImagePlan | None, own: Iterable[str]) -> list[str]:
    """Return the libraries in use that this machine has, and the image lacks; ``own``: directories with others."""
    inside = tuple(os.path.join(os.path.realpath(path), "") for path in own)
    names = {os.path.basename(path) for path in libraries if not os.path.realpath(path).startswith(inside)}
    return [name for name in sorted(names) if not may_have(image, name)]


def _may_bring(package: str) -> bool:
    """Return whether an apt package may bring a library: any but those that certainly do not."""
    return package not in ("ca-certificates", "curl", "git", "openssh-server", "procps", "tini", "unzip", "wget")

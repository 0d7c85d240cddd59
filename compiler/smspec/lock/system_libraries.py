"""Packages whose wheels load libraries, or start programs, that slim images lack: hints, measured with ``readelf``.

A wheel promises little about the image: `manylinux` covers the C library, and not what a graphics library needs.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping

from smspec.plan import ImagePlan
from smspec.service.facts import instance
from smspec.service.image_reference import parsed_reference

_GRAPHICS = (("libgl1", r"libgl1|libgl-|mesa"), ("libglib2.0-0", r"libglib2|libgtk|ffmpeg"))
_THREADS = (("libgomp1", r"libgomp|gcc|g\+\+|build-essential|gfortran|libopenblas"),)

_NEEDED: dict[str, tuple[tuple[str, str], ...]] = {
    "opencv-python": _GRAPHICS,
    "opencv-contrib-python": _GRAPHICS,
    "open3d": (*_GRAPHICS[:1], ("libx11-6", r"libx11|libgl"), *_THREADS),
    "lightgbm": _THREADS,
    "mpi4py": (("libopenmpi3", r"openmpi|mpich"),),
    "python-magic": (("libmagic1", r"libmagic|file"),),
    "pyzbar": (("libzbar0", r"zbar"),),
    "weasyprint": (("libpango-1.0-0", r"pango"),),
    "pytesseract": (("tesseract-ocr", r"tesseract"),),
    "graphviz": (("graphviz", r"graphviz"),),
}
"""Package → packages of apt, each with a pattern of those that include it."""


def library_hints(packages: Container[str], image: ImagePlan) -> Iterator[str]:
    """Yield a sentence for each package that probably lacks a library in an image without most of them."""
    if not _is_slim(image.base) or any(re.search(r"\bapt(?:-get)?\b", command) for command in image.commands):
        return
    for name, needed in _NEEDED.items():
        missing = [
            f"`{apt}`" for apt, pattern in needed if not any(re.search(pattern, word) for word in image.system_packages)
        ]
        if name in packages and missing:
            yield f"{name} probably needs {' and '.join(missing)} in `image.system_packages`"


def gpu_hints(packages: Iterable[str], sizes: Mapping[str, int], instance_type: str) -> Iterator[str]:
    """Yield a sentence about packages for GPUs on instances without any; ``sizes``: bytes, as far as they are known."""
    names = [name for name in packages if name.startswith("nvidia-")]
    facts = instance(instance_type) if names and instance_type else None
    if facts is None or facts.gpus != 0:
        return
    size = sum(sizes.get(name, 0) for name in names)
    shown = f" ({size / 1e9:.1f} GB)" if size >= 1e8 else ""
    yield (
        f"{len(names)} package{'' if len(names) == 1 else 's'} for NVIDIA GPUs{shown}, but `hosts.instance_type`"
        f" {instance_type} has none; https://download.pytorch.org/whl/cpu has PyTorch without them"
    )


def _is_slim(image: str) -> bool:
    reference = parsed_reference(image)
    if reference is None:
        return False
    name = reference.official_name
    return name in ("debian", "ubuntu") or (name == "python" and "slim" in (reference.tag or ""))

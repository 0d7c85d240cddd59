"""What scripts can import from a wheel, by the names of the files in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LIBRARIES = re.compile(r"[^/]+\.data/(?:purelib|platlib)/(.+)")
_OUTSIDE = re.compile(r"[^/]+\.(?:data|dist-info|egg-info)/.*")
_MODULE = re.compile(r"([^\W\d]\w*)(?:\.pyc?|(?:\.[\w-]+)?\.(?:so|pyd))")
_PACKAGE = re.compile(r"[^\W\d]\w*")
_CODE = (".py", ".so", ".pyd", ".pyc")
_NOT_FOR_SCRIPTS = ("tests", "test")
# Namespace packages of setuptools, and its stand-in for a module that Python 3.12 lacks.
_HARMLESS_PTH = re.compile(r".*-nspkg\.pth|distutils-precedence\.pth")


def modules_of(names: Iterable[str]) -> tuple[str, ...] | None:
    """Return the modules in a wheel with files of these names, sorted; None if it changes the search path of Python.

    A package without code of its own, a namespace, is returned with the packages in it: ``google.cloud``.
    """
    found: set[str] = set()
    inner: dict[str, set[str]] = {}
    for name in names:
        inside = _LIBRARIES.fullmatch(name)
        if inside:
            name = inside[1]
        elif _OUTSIDE.fullmatch(name):
            continue
        if name.endswith(".pth") and "/" not in name:
            if not _HARMLESS_PTH.fullmatch(name):
                return None
            found |= {"distutils"} if name == "distutils-precedence.pth" else set()
            continue
        if "__pycache__/" in name:
            continue
        first, _, rest = name.partition("/")
        if not rest:
            module = _MODULE.fullmatch(name)
            found |= {module[1]} if module else set()
        elif rest.endswith(_CODE) and _PACKAGE.fullmatch(first):
            second, _, below = rest.partition("/")
            module = _MODULE.fullmatch(second)
            if module is not None and not below:
                inner.setdefault(first, set()).add(module[1])
            elif below and _PACKAGE.fullmatch(second):
                inner.setdefault(first, set()).add(second)
    for package, modules in inner.items():
        found |= {package} if "__init__" in modules else {f"{package}.{module}" for module in modules}
    skipped = (*_NOT_FOR_SCRIPTS, "__init__")
    return tuple(sorted(name for name in found if name.partition(".")[0] not in skipped))

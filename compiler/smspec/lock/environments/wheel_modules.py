"""What scripts can import from the wheels of an environment, by the names of the files in them.

These are in the central directory of a wheel, a few kilobytes at its end, which is all that is downloaded, of a few
wheels at once. What was listed before is in a cache, by the SHA-256 of the wheel.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from smspec.lock.environments.concurrent_calls import THREADS, called
from smspec.lock.environments.index_settings import IndexSettings
from smspec.lock.environments.resolution import ResolvedFile, ResolverFailed
from smspec.service.partial_file import PartialFile
from smspec.wire.connections import VARIABLES, Connections, trust_of_environment
from smspec.wire.exchange import HttpResponse, fetched, parsed
from smspec.wire.fault import BadResponse, Deadline, TooLarge, WireFault
from smspec.workspace.own_directories import cache_directory, open_cache, require_safe_entry

_LIBRARIES = re.compile(r"[^/]+\.data/(?:purelib|platlib)/(.+)")
_OUTSIDE = re.compile(r"[^/]+\.(?:data|dist-info|egg-info)/.*")
_MODULE = re.compile(r"([^\W\d]\w*)(?:\.pyc?|(?:\.[\w-]+)?\.(?:so|pyd))")
_PACKAGE_NAME = re.compile(r"[^\W\d]\w*")
_CODE = (".py", ".so", ".pyd", ".pyc")
_NOT_FOR_SCRIPTS = ("tests", "test")
# Namespace packages of setuptools, and its stand-in for a module that Python 3.12 lacks.
_HARMLESS_PTH = re.compile(r".*-nspkg\.pth|distutils-precedence\.pth")

_CACHE_FORMAT = "modules-2"
_TAIL = 32 << 10
_LARGEST_DIRECTORY = 16 << 20
LARGEST_WHOLE = 64 << 20
"""The maximum size of a wheel that is downloaded as a whole, from a server that cannot send a part."""

Header = Callable[[str], "str | None"]


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
        elif rest.endswith(_CODE) and _PACKAGE_NAME.fullmatch(first):
            second, _, below = rest.partition("/")
            module = _MODULE.fullmatch(second)
            if module is not None and not below:
                inner.setdefault(first, set()).add(module[1])
            elif below and _PACKAGE_NAME.fullmatch(second):
                inner.setdefault(first, set()).add(second)
    for package, modules in inner.items():
        found |= {package} if "__init__" in modules else {f"{package}.{module}" for module in modules}
    skipped = (*_NOT_FOR_SCRIPTS, "__init__")
    return tuple(sorted(name for name in found if name.partition(".")[0] not in skipped))


class ModuleCache:
    """A directory with a small file for each wheel. A cache that cannot be read or written is an empty one."""

    def __init__(self) -> None:
        """Raise UnsafeCache if others can change it: what a wheel contains decides which imports a check accepts."""
        try:
            self._directory = open_cache(_CACHE_FORMAT)
        except OSError:
            self._directory = os.path.join(cache_directory(), _CACHE_FORMAT)

    def get(self, file: ResolvedFile) -> tuple[str, ...] | None:
        """Return the modules of a wheel; None if they are not known."""
        try:
            require_safe_entry(self._path(file))
            with open(self._path(file), encoding="utf-8") as content:
                found = json.load(content)
        except (OSError, ValueError):
            return None
        is_list = isinstance(found, list) and all(isinstance(name, str) for name in found)
        return tuple(found) if is_list else None

    def put(self, file: ResolvedFile, modules: tuple[str, ...]) -> None:
        """Keep the modules of a wheel."""
        path = self._path(file)
        try:
            unfinished = f"{path}.{os.getpid()}"
            with open(unfinished, "w", encoding="utf-8") as content:
                json.dump(modules, content)
            os.chmod(unfinished, 0o644)
            os.replace(unfinished, path)
        except OSError:
            pass

    def _path(self, file: ResolvedFile) -> str:
        return os.path.join(self._directory, f"{file.sha256}.json")


class WrongHash(BadResponse):
    """The file is not the one that the index lists."""


def names_in_wheel(file: ResolvedFile, connections: Connections, authorization: Header) -> tuple[str, ...] | None:
    """Return the names of the files in a wheel; None if it is too large for a server without byte ranges.

    ``authorization``: the header for a URL. Raise `WireFault`, also for content that is not a wheel.
    """
    if not re.match(r"https?://", file.url):
        return _names_in_file(file)
    tail = _part(file, connections, authorization, f"bytes=-{_TAIL}")
    if tail is None:
        return None
    size, start, ending = tail
    if start + len(ending) != size:
        raise BadResponse("the server sends another part of the wheel than it was asked for")

    def part(start: int, end: int) -> bytes:
        if end - start > _LARGEST_DIRECTORY:
            raise BadResponse("the wheel has a central directory of more than 16 MiB")
        found = _part(file, connections, authorization, f"bytes={start}-{end - 1}")
        if found is None or (found[0], found[1]) != (size, start) or len(found[2]) != end - start:
            raise BadResponse("the server sends another part of the wheel than it was asked for")
        return found[2]

    return _names(PartialFile(size, ending, part))


def _part(
    file: ResolvedFile, connections: Connections, authorization: Header, wanted: str
) -> tuple[int, int, bytes] | None:
    """Return the size of a file, and a part of it with its start; None if the server sends only all of a large file."""
    response = _asked(file, connections, authorization, {"Range": wanted}, _LARGEST_DIRECTORY)
    if response is not None and response.status == 206:
        match = re.fullmatch(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})", response.header("content-range"))
        if match is None:
            raise BadResponse("a part of the wheel without a Content-Range")
        first, last, size = (int(number) for number in match.groups())
        if last != first + len(response.body) - 1 or last >= size:
            raise BadResponse("a part of the wheel that does not match its Content-Range")
        return size, first, response.body
    if response is None or response.status != 200:
        response = _asked(file, connections, authorization, {}, LARGEST_WHOLE)
    if response is None:
        return None
    if response.status != 200:
        raise BadResponse(f"it responds {response.status} {response.reason}".rstrip())
    if hashlib.sha256(response.body).hexdigest() != file.sha256:
        raise WrongHash("the wheel does not match the SHA-256 of its index")
    return len(response.body), 0, response.body


def _asked(
    file: ResolvedFile, connections: Connections, authorization: Header, headers: dict[str, str], largest: int
) -> HttpResponse | None:
    """Return a response; None if it is larger than ``largest``."""
    url = parsed(_without_user(file.url)).geturl()
    secret = authorization(url)
    headers = {"User-Agent": "smspec", **headers, **({"Authorization": secret} if secret else {})}
    try:
        return fetched(connections, url, headers, deadline=Deadline(), size=largest).response
    except TooLarge:
        return None


def _without_user(url: str) -> str:
    return re.sub(r"^(https?://)[^/@]*@", r"\1", url).partition("#")[0]


def _names_in_file(file: ResolvedFile) -> tuple[str, ...]:
    path = file.url.removeprefix("file://")
    try:
        with open(path, "rb") as content:
            return _names(content)
    except OSError as fault:
        raise BadResponse(f"cannot read `{os.path.basename(path)}`: {(fault.strerror or '').lower()}") from None


def _names(content: io.RawIOBase | io.BufferedIOBase) -> tuple[str, ...]:
    try:
        with zipfile.ZipFile(content) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, ValueError, EOFError, RuntimeError, UnicodeDecodeError, OverflowError):
        raise BadResponse("the file is not a wheel") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """``known``: package → its modules. ``faults``: package → why a server does not show them."""

    known: Mapping[str, tuple[str, ...]]
    faults: Mapping[str, str]


def list_modules(files: Sequence[ResolvedFile], settings: IndexSettings, cache: ModuleCache) -> Modules:
    """Return the modules of the wheels among some files. Raise `ResolverFailed` for a file with another content."""
    known = {file.name: names for file in files if (names := cache.get(file)) is not None}
    asked = [file for file in files if file.is_wheel and file.name not in known]
    connections = Connections(trust_of_environment(("PIP_CERT", *VARIABLES)), THREADS)

    def modules(file: ResolvedFile) -> tuple[str, ...] | None:
        names = names_in_wheel(file, connections, lambda url: settings.authorization(parsed(url)))
        return None if names is None else modules_of(names)

    faults: dict[str, str] = {}
    for number, found in called(modules, asked):
        file = asked[number]
        if isinstance(found, WrongHash):
            raise ResolverFailed(f"`{file.name}` {file.version}: {found}")
        if isinstance(found, WireFault):
            faults[file.name] = settings.masked(str(found))
        elif found is not None:
            known[file.name] = found
            cache.put(file, found)
    return Modules(known=known, faults=dict(sorted(faults.items())))

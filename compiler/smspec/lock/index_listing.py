"""Ask package indexes: a few calls at once, and the files of a project, with the Pythons and platforms they are for."""

from __future__ import annotations

import json
import os
import queue
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from smspec.lock.compatibility import Version, WheelName, fits, rank, version, wheel_name
from smspec.lock.index_settings import IndexSettings
from smspec.service.bare_image import BareImage
from smspec.service.requirement_lines import normalized
from smspec.wire.connections import VARIABLES, Connections, trust_of_environment
from smspec.wire.exchange import fetched, parsed
from smspec.wire.fault import BadResponse, Deadline, WireFault

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_THREADS = 8

_CRASH = WireFault("")

_LARGEST = 64 << 20
_ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_SDIST = re.compile(r"(.+)-([^-]+?)(?:\.tar\.(?:gz|bz2|xz)|\.zip|\.tgz)")


def index_connections() -> Connections:
    """Return connections to package indexes, which trust what pip does."""
    return Connections(trust_of_environment(("PIP_CERT", *VARIABLES)), _THREADS)


def called(function: Callable[[_Item], _Result], items: Sequence[_Item]) -> Iterator[tuple[int, _Result | WireFault]]:
    """Yield the position of each item with its result, or the fault that the function raises, in any order."""
    waiting: queue.SimpleQueue[tuple[int, _Item]] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, _Result | WireFault]] = queue.SimpleQueue()
    for numbered in enumerate(items):
        waiting.put(numbered)
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                number, item = waiting.get_nowait()
            except queue.Empty:
                return
            result: _Result | WireFault = _CRASH
            try:
                result = function(item)
            except WireFault as fault:
                result = fault
            finally:
                done.put((number, result))

    # Daemons: after Ctrl-C no thread keeps the process alive until its server answers.
    for _ in range(min(_THREADS, len(items))):
        threading.Thread(target=work, name="ask an index", daemon=True).start()
    try:
        for _ in items:
            number, result = done.get()
            assert result is not _CRASH, "a thread has failed, and has shown why"
            yield number, result
    finally:
        stopped.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFile:
    """``wheel``: None for a source distribution. ``requires_python``: the Pythons that can install it."""

    version: Version
    wheel: WheelName | None
    requires_python: str

    def fits(self, image: BareImage) -> bool:
        """Return whether an image can install the file without building anything."""
        release = version(image.release)
        fits_python = release is None or fits(release, self.requires_python)
        return fits_python and self.wheel is not None and rank(self.wheel, image) is not None


def listed_files(name: str, settings: IndexSettings, connections: Connections) -> tuple[ListedFile, ...] | None:
    """Return the files of a project in all indexes; None if no index has it. Raise `WireFault`."""
    found: list[ListedFile] = []
    is_there = False
    for index in settings.indexes():
        page = _page(f"{index.rstrip('/')}/{name}/", settings, connections)
        is_there |= page is not None
        found += _files(name, page or ())
    for place in settings.find_links():
        if re.match(r"https?://", place):
            names = _page(place, settings, connections) or ()
        else:
            path = unquote(urlsplit(place).path) if place.startswith("file:") else place
            names = [(file, "") for file in _names(path)]
        found += _files(name, names)
    return tuple(found) if is_there or found else None


def _page(url: str, settings: IndexSettings, connections: Connections) -> Iterable[tuple[str, str]] | None:
    """Return the names on a page of an index, with the Pythons they require; None if there is no such page."""
    if url.startswith("file:"):
        path = os.path.join(unquote(urlsplit(url).path), "index.html")
        if not os.path.isfile(path):
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return _links(file.read(_LARGEST))
    bare = parsed(re.sub(r"^(https?://)[^/@]*@", r"\1", url))
    secret = settings.authorization(bare)
    headers = {"Accept": _ACCEPT, "User-Agent": "smspec", **({"Authorization": secret} if secret else {})}
    response = fetched(connections, bare.geturl(), headers, deadline=Deadline(), size=_LARGEST).response
    if response.status in (404, 410):
        return None
    if response.status != 200:
        raise BadResponse(f"it responds {response.status} {response.reason}".rstrip())
    text = response.body.decode("utf-8", "replace")
    return _members(text) if "json" in response.header("content-type") else _links(text)


def _members(text: str) -> list[tuple[str, str]]:
    try:
        files = json.loads(text)["files"]
        return [(str(file["filename"]), str(file.get("requires-python") or "")) for file in files]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadResponse("the response is not a page of a package index") from None


def _links(text: str) -> list[tuple[str, str]]:
    parser = _Anchors()
    parser.feed(text)
    return parser.found


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        words = dict(attrs)
        if tag == "a" and words.get("href"):
            path = unquote((words["href"] or "").partition("#")[0].partition("?")[0])
            self.found.append((path.rpartition("/")[2], words.get("data-requires-python") or ""))


def _files(name: str, listed: Iterable[tuple[str, str]]) -> Iterator[ListedFile]:
    for file, requires in listed:
        wheel = wheel_name(file)
        match = None if wheel else _SDIST.fullmatch(file)
        project, text = (wheel.project, wheel.version) if wheel else (match[1], match[2]) if match else ("", "")
        known = version(text)
        if known is not None and normalized(project) == name:
            yield ListedFile(version=known, wheel=wheel, requires_python=requires)


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []

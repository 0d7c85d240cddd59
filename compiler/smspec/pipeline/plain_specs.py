"""What specs that are written plainly are made of, without parsing them: their base specs, their source, nothing else.

Only base specs are parsed: many specs share them. Whatever may name another file, or is in a text that is not surely
valid, has no `PlainSpec`: what it is made of is found by parsing it.
"""

from __future__ import annotations

import os
import re

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import MOST_BASES
from smspec.pipeline.spec_discovery import SIMPLE_PATH, plain_extends
from smspec.source import Document, Mapping, Node, Sequence
from smspec.source.frozen import dataclass
from smspec.spec.layers import extends_of
from smspec.spec.layers.short_forms import own_mapping
from smspec.spec.yaml.events import meaning
from smspec.spec.yaml.plain_text import PlainText
from smspec.workspace.boundary import Boundary, FileNotRead

_NAME_FILES = frozenset({"source", "python_requirements", "overlays", "dir"})
"""Keys of a base spec that decide about the files of the jobs that extend it, or may do so for an overlay."""
COMPARED = frozenset({"name", "job_name", "checkpoints", "tensorboard", "channels", "api", "checks", "overlays"})
"""Keys of a base spec by which jobs that extend it are compared."""
_OF_INNER = _NAME_FILES - {"overlays"}
_SIMPLE_DIRECTORY = re.compile(r"[A-Za-z0-9_./-]+")

_SIGNS = re.compile(rb"(?:^|[\s\[{,])[&*!?]|<<")
"""Anchors, aliases, tags, and keys of several lines: with them, a key need not be where it is written."""
_KEYS = {key: re.compile(key + rb"[\"']?\s*:") for key in (b"source", b"extends", b"python_requirements")}
_KEY_OR_COMMENT = rb"(?:#|[A-Za-z_]+:[ \n])"
"""The beginning of a line in which no value goes on, in flow style neither."""
_END = rb" *(?: #[^\n]*)?(?:\n(?=" + _KEY_OR_COMMENT + rb")|\n?\Z)"
_SOURCE = re.compile(rb"^source: +(?P<file>[A-Za-z0-9_./-]+)" + _END, re.MULTILINE)
_REQUIREMENTS = re.compile(
    rb"^( +)python_requirements: +(?P<file>[A-Za-z0-9_./-]+) *(?:\n(?!\1 )(?= *" + _KEY_OR_COMMENT + rb")|\n?\Z)",
    re.MULTILINE,
)
_EXTENDS = re.compile(
    rb"^extends:(?: +\[(?P<flow>[A-Za-z0-9_./, -]+)\]"
    + _END
    + rb"|(?P<block>\n(?P<indent> *)- [A-Za-z0-9_./-]+(?:\n(?P=indent)- [A-Za-z0-9_./-]+)*)(?:\n(?=[A-Za-z])|\n?\Z))",
    re.MULTILINE,
)
_WRITTEN = {b"source": _SOURCE, b"extends": _EXTENDS, b"python_requirements": _REQUIREMENTS}


@dataclass(frozen=True, slots=True)
class GlancedText:
    """``files``: what a text may name as its source, or its list of packages; ``extends``: its base specs."""

    files: tuple[str, ...]
    extends: tuple[str, ...]


def glance(content: bytes) -> GlancedText | None:
    """Return what a text names, or more; None for one that may have it anywhere. It need not be a valid one."""
    if not content.isascii() or any(sign in content for sign in (b"\\", b"\0", b"\r", b"\t")):
        return None
    if (b"&" in content or b"*" in content or b"!" in content or b"?" in content) and _SIGNS.search(content):
        return None
    files: list[str] = []
    extends: list[str] = []
    for key, expression in _WRITTEN.items():
        times = len(_KEYS[key].findall(content)) if key in content else 0
        match = expression.search(content) if times == 1 else None
        if times and match is None:
            return None
        if match is not None and key == b"extends":
            flow, block = (match["flow"] or b"").decode(), (match["block"] or b"").decode()
            extends = [name.strip() for name in flow.split(",")] if flow else block.split()[1::2]
            if not all(map(SIMPLE_PATH.fullmatch, extends)):
                return None
        elif match is not None:
            files.append(match["file"].decode())
            if "/" not in files[-1] and not isinstance(meaning(files[-1]), str):
                return None
    return GlancedText(tuple(files), tuple(extends))


def joined(directory: str, written: str) -> str:
    """Return what `os.path.normpath` makes of a path that is written in a file of a directory, a path that it made."""
    above, rest = directory, written
    if ".." not in directory and not directory.startswith("/"):
        while rest.startswith("../") and above:
            above, rest = above.rpartition("/")[0], rest[3:]
    path = f"{above}/{rest}" if above else rest
    return (
        path
        if "." not in rest.split("/") and ".." not in rest.split("/") and "//" not in path
        else os.path.normpath(path)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainSpec:
    """``text``: that of the spec itself. ``bases``: what it extends, directly or not, in the order of merging.

    ``named``: a directory, and what a file in it extends, as it is written. ``source``: its directory, as written.
    """

    text: PlainText
    bases: tuple[Document, ...]
    named: tuple[tuple[str, str], ...]
    source: str | None


@dataclass(frozen=True, slots=True)
class BaseSpec:
    """A base spec with those that it extends."""

    documents: dict[str, Document]
    named: tuple[tuple[str, str], ...]


class PlainSpecs:
    """Finds what plain specs are made of; base specs are looked at once."""

    def __init__(self, cache: InputCache) -> None:
        self._cache = cache
        self._bases: dict[tuple[str, str], BaseSpec | None] = {}
        self._known: dict[str, PlainSpec | None] = {}
        self._has_simple_defaults: dict[str, bool] = {}

    def of(self, path: str) -> PlainSpec | None:
        """Return what a spec that was taken is made of; None if only parsing it shows that."""
        if path not in self._known:
            self._known[path] = self._of(path)
        return self._known[path]

    def _of(self, path: str) -> PlainSpec | None:
        text = self._cache.plain(path)
        if text is None or not text.inner.isdisjoint(_OF_INNER):
            return None
        extends, source = plain_extends(text), _source(text)
        if extends is None or source is None or not self._is_beneath(path):
            return None
        directory = os.path.dirname(self._cache.name(path))
        boundary = self._cache.boundary(os.path.dirname(path))
        documents: dict[str, Document] = {}
        named = [(directory, written) for written in extends]
        for written in extends:
            base = self.base(os.path.normpath(os.path.join(directory, written)), boundary)
            if base is None:
                return None
            documents = {**documents, **base.documents}
            named += base.named
        if len(documents) > MOST_BASES // 2 or self._cache.identity(path) in documents:
            return None
        return PlainSpec(text=text, bases=tuple(documents.values()), named=tuple(named), source=source or None)

    def _is_beneath(self, path: str) -> bool:
        """Return whether the defaults of the organization cannot name a file."""
        directory = os.path.dirname(path)
        if directory not in self._has_simple_defaults:
            try:
                defaults = self._cache.organization(directory).defaults()
            except InvalidInput:
                return False
            is_simple = defaults is None or not names_files(defaults.root)
            self._has_simple_defaults[directory] = is_simple
        return self._has_simple_defaults[directory]

    def base(self, path: str, boundary: Boundary, depth: int = 1) -> BaseSpec | None:
        """Return a base spec; None if only parsing a job that extends it shows what that is made of."""
        key = boundary.root, path
        if key not in self._bases:
            self._bases[key] = None  # for one that extends itself
            self._bases[key] = self._read(path, boundary, depth)
        return self._bases[key]

    def _read(self, path: str, boundary: Boundary, depth: int) -> BaseSpec | None:
        try:
            if depth > MOST_BASES // 2 or not boundary.is_file(path):
                return None
            document = self._cache.base(path, boundary)
            extends = [written for written, _ in extends_of(document)]
        except (InvalidInput, FileNotRead):
            return None
        name = document.texts[0].name
        if name != path or names_files(document.root) or any("\0" in written for written in extends):
            return None
        documents: dict[str, Document] = {}
        named = [(os.path.dirname(name), written) for written in extends]
        for written in extends:
            base = self.base(os.path.normpath(os.path.join(os.path.dirname(name), written)), boundary, depth + 1)
            if base is None:
                return None
            documents = {**documents, **base.documents}
            named += base.named
        documents[self._cache.identity(path)] = document
        return BaseSpec(documents, tuple(named))


def _source(text: PlainText) -> str | None:
    """Return the source of a spec; empty for none, None if it is not simply a path."""
    if "source" not in text.values:
        return ""
    value = text.values["source"].strip()
    is_simple = _SIMPLE_DIRECTORY.fullmatch(value) is not None and isinstance(meaning(value), str)
    return value if is_simple else None


def names_files(node: Node) -> bool:
    """Return whether a key of a file, however deep, may name a file for a job."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if any(key.text in _NAME_FILES for key, _ in one.entries):
                return True
            waiting += [value for _, value in one.entries]
        elif isinstance(one, Sequence):
            waiting += one.items
    return False


def top_keys(document: Document) -> frozenset[str]:
    """Return the keys of the outermost mapping of a file."""
    return frozenset(key.text for key, _ in own_mapping(document).entries)

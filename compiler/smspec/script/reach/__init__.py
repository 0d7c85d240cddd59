"""What every run of a script imports, and whether the Python of its image accepts the text.

Here are the values that `reaching` finds; the modules of Python's standard library, by version; and the words without
which a text needs no closer look.
"""

from __future__ import annotations

import ast
import re
import sys
from typing import Protocol

from smspec.script.script_files import is_package
from smspec.source import SourceText, Span
from smspec.source.frozen import ByIdentity, dataclass

Version = tuple[int, int]

ADDED: dict[str, Version] = {
    "graphlib": (3, 9),
    "zoneinfo": (3, 9),
    "tomllib": (3, 11),
    "annotationlib": (3, 14),
    "compression": (3, 14),
}
"""Module → the first version that has it."""

REMOVED: dict[str, Version] = {
    "dummy_threading": (3, 9),
    **dict.fromkeys(("formatter", "parser", "symbol"), (3, 10)),
    "binhex": (3, 11),
    **dict.fromkeys(("asynchat", "asyncore", "distutils", "imp", "smtpd"), (3, 12)),
    **dict.fromkeys(("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap"), (3, 13)),
    **dict.fromkeys(("msilib", "nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau"), (3, 13)),
    **dict.fromkeys(("telnetlib", "uu", "xdrlib"), (3, 13)),
}
"""Module → the first version without it."""

_UNLISTED = ("__main__", "test")

NEWEST: Version = (3, 13)
"""The newest version that a construct is reported for."""

INSTALLERS = r"\b(?:pip3?|conda|mamba|uv|easy_install)\b"

# Patterns are strings, compiled only when a script needs them.
_PATHS = (
    r"\bsys\s*\.\s*(?:path|modules)\b|\bfrom\s+sys\s+import\b"
    r"|\b(?:__path__|meta_path|path_hooks|addsitedir|extend_path|zipimport|zipimporter|PYTHONPATH|entry_points)\b"
    r"|\bsys\s+as\s+\w|[=(]\s*sys\b(?!\s*\.)|\([^()\n]*,\s*sys\s*[,)]|\bsys\s*\.\s*__dict__|[\"']sys[\"']"
)
_WORDS = ("_path", "path_hooks", "addsitedir", "zipimport", "PYTHONPATH", "entry_points")
_OF_SYS = ("path", "modules", "from sys")
_OF_INSTALLERS = ("pip", "conda", "mamba", "uv", "easy_install")
CHANGES = f"{_PATHS}|{INSTALLERS}"
"""Words without which a module changes no search for modules, and installs none."""

_PARAMETERS = r"\b(?:def|class|type)\s+\w+\s*\["

_STARTS = (
    r"\s*\((?!\s*\[?\s*[rf]?[\"'](?:/\S*/)?(?:nvidia-smi|nvcc|ls|echo|df|free|lscpu|lsmod|uname|hostname|nproc|ulimit|whoami|mkdir"
    r"|sleep|git[\"',\s]+(?:rev-parse|describe|log|status|diff|show|config|branch))\b(?![^\n]{0,300}[;&|>]))"
)
"""A call, unless its first argument is a program that is known to create no module."""

WRITES = (
    r"\bshutil\s*\.\s*(?:copy\w*|move|unpack_archive)\b|\b(?:copytree|copyfile|unpack_archive|extractall)\b"
    r"|\b(?:download_file|download_dir|urlretrieve|snapshot_download|clone_from)\b|\bgit\b.*\bclone\b"
    r"|\b(?:run_path|run_module|exec_module|load_module|symlink_to)\b|\b__import__\s*=(?!=)|\bos\s*\.\s*(?:rename|symlink)\b"
    r"|(?s:\A(?=.*\.py[\"'])(?=.*\b(?:open|write_text|write_bytes)\b))"
    r"|\bprotoc\s*\.\s*main\b|\bpyximport\b|\bcythonize\b|\brun_setup\b"
    r"|(?:\bsubprocess\s*\.\s*(?:run|call|check_call|check_output|getoutput|getstatusoutput|Popen)"
    r"|\bos\s*\.\s*(?:system|popen|spawn\w*|posix_spawnp?)|\b(?:check_call|check_output|Popen)|\brun(?=\s*\(\s*\[)"
    r"|\bcreate_subprocess_\w+)" + _STARTS
)
"""Words of code that may create a module before it imports it, or run what does, or replace the import.

A program that a script starts may be `make`, a compiler, or a generator: only some are known to create no module.
"""

WRITES_NAMED = r"\bwrite_(?:text|bytes)\b|\bopen\b[^\n]{0,300}[\"'][wxa]b?\+?[\"']"
"""Words that write a file, in a module that has the name of a Python file elsewhere."""

_OF_WRITES = (
    "shutil",
    "copytree",
    "copyfile",
    "unpack_archive",
    "extractall",
    "download",
    "urlretrieve",
    "clone",
    "run_",
    "_module",
    "symlink",
    "__import__",
    "rename",
    ".py",
    "protoc",
    "pyximport",
    "cythonize",
    "run_setup",
    "subprocess",
    "system",
    "popen",
    "spawn",
    "check_",
    "Popen",
)


class SourceModules(Protocol):
    """The files of a source."""

    def file_of(self, name: str, places: tuple[str, ...]) -> str | None:
        """Return the path of the Python file that is a module, in the first of some directories that has it."""

    def is_other_module(self, name: str, places: tuple[str, ...]) -> bool:
        """Return whether a name is that of a directory without `__init__.py`, or of a compiled module."""

    def is_elsewhere(self, name: str) -> bool:
        """Return whether any directory has a module of that name."""

    def readable(self, path: str) -> SourceText:
        """Return a file as text. Raise `ScriptUnreadable` and OSError."""

    def content(self, path: str) -> bytes:
        """Return the beginning of a file. Raise OSError."""

    def name_of(self, path: str) -> str:
        """Return the path of a file as the author would type it."""


class ReachedModule:
    """A module of the source. ``package``: where its relative imports start."""

    def __init__(self, name: str, file: str, text: SourceText, tree: ast.Module | None, package: str) -> None:
        self.name = name
        self.file = file
        self.text = text
        self.tree = tree
        self.package = package
        self.is_package = is_package(file)
        self.names: dict[str, str] = {}
        self.called: set[object] = set()

    @property
    def syntax(self) -> ast.Module:
        """Its tree, where it has one."""
        assert self.tree is not None
        return self.tree

    @property
    def written(self) -> str:
        """Its text."""
        return self.text.text


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxFault:
    """An error in the text of a module."""

    reason: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSyntax:
    """A construct that exists since a version of Python."""

    construct: str
    since: Version
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerFault:
    """Why the runtime cannot call a handler, as a message, and the remedy."""

    reason: str
    place: Span
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingModule:
    """A module of the source that the source does not have. ``reason``: the end of a sentence, if it is another.

    ``hidden_by``: the file of the source that hides a module of Python's library, which is why the import fails.
    """

    name: str
    place: Span
    reason: str = ""
    hidden_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredModule:
    """A module next to the script that is not sent. ``by`` names what excludes its ``file``."""

    name: str
    place: Span
    file: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignImport:
    """An import of a module that is not in the source, by its full name.

    ``is_early``: it runs before the script can install packages, create modules, or change where Python searches.
    """

    name: str
    place: Span
    is_early: bool = True

    @property
    def top(self) -> str:
        """The first part of the name."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMember:
    """What ``from module import name`` takes from a module that is not in the source."""

    module: str
    name: str
    place: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """``texts``: the modules that every run imports, the script first. ``foreign``: their imports from elsewhere,
    ``members``: what they take from these by name.

    ``places``: the directories of the source that Python searches. ``is_open``: the script may find modules in ways
    that its text does not show.
    """

    texts: tuple[SourceText, ...] = ()
    faults: tuple[SyntaxFault, ...] = ()
    handler: tuple[HandlerFault, ...] = ()
    new_syntax: tuple[NewSyntax, ...] = ()
    missing: tuple[MissingModule, ...] = ()
    ignored: tuple[IgnoredModule, ...] = ()
    foreign: tuple[ForeignImport, ...] = ()
    members: tuple[ForeignMember, ...] = ()
    places: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether there is nothing to check against an image, or the hosts of a job."""
        faults = self.faults or self.handler or self.new_syntax or self.missing or self.ignored or self.foreign
        return not (faults or self.may_wait)

    @property
    def may_wait(self) -> bool:
        """Whether the script may have a line that never ends."""
        return bool(self.texts) and _WAITING.of("waits", self.texts[0], self._waits)

    def _waits(self) -> bool:
        return re.search(_WAITS, self.texts[0].text) is not None


_WAITING: ByIdentity[bool] = ByIdentity()  # jobs share scripts
_WAITS = (
    r"--block\b|\bhttp\.server\b|\bdask\b|\bredis-server\b|\btensorboard\b|\bmlflow\b"
    r"|\bwhile\s+(?:True|1)\s*:|\bsignal\.pause\(|\bEvent\(\)"
)


def is_standard(name: str) -> bool:
    """Return whether any version has a module."""
    return name in sys.stdlib_module_names or name in ADDED or name in REMOVED or name in _UNLISTED


def is_in_every_version(name: str) -> bool:
    """Return whether every version since 3.8 has a module."""
    return name not in ADDED and name not in REMOVED and is_standard(name)


def is_in_version(name: str, version: Version) -> bool:
    """Return whether a version has a module of the standard library."""
    return ADDED.get(name, version) <= version < REMOVED.get(name, (99, 0))


def may_write_modules(text: str) -> bool:
    """Return whether a module may create other modules."""
    return any(word in text for word in _OF_WRITES) and re.search(writing_words(text), text) is not None


def writing_words(text: str) -> str:
    """Return the pattern of what may create other modules in a module, with the names that it imports for that."""
    words = f"{WRITES}|{WRITES_NAMED}" if re.search(r"\.py[\"']", text) else WRITES
    names = [rf"{name}\s*\.\s*\w+" for name in re.findall(r"\bimport[ \t]+subprocess[ \t]+as[ \t]+(\w+)", text)]
    for listed in re.findall(r"\bfrom[ \t]+subprocess[ \t]+import[ \t]*(\([^)]*|[^\n#;]+)", text):
        names += re.findall(r"(?:(?<=[(,])|\A)\s*(?:\w+\s+as\s+)?(\w+)", listed)
    names += ["system", "popen"] * bool(re.search(r"\bfrom[ \t]+os[ \t]+import\b", text))
    return rf"{words}|\b(?:{'|'.join(names)}){_STARTS}" if names else words


def may_change_paths(text: str) -> bool:
    """Return whether a module may change where Python looks for modules, or install packages."""
    if not any(word in text for word in (*_WORDS, *_OF_INSTALLERS)) and not (
        "sys" in text and any(word in text for word in _OF_SYS)
    ):
        return False
    return re.search(CHANGES, text) is not None


def may_be_newer(text: str, base: Version) -> bool:
    """Return whether a module may have constructs that a version of Python lacks."""
    return base < (3, 12) or (base < NEWEST and "[" in text and re.search(_PARAMETERS, text) is not None)

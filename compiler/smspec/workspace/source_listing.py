"""The files that are sent with a job, with their digests: of the source, with its errors and secrets, and the runtime.

Certain secrets are found, and a few formats that are likely to be one. Entropy and names of variables are not evidence
here: in code they are mostly examples. A pattern needs a marker, such as ``AKIA``, because a source may have megabytes.

Most jobs need neither a launcher nor the readers of Pipe channels, which are nearly half of the runtime. The modules of
a launcher go with a job that uses it, and `smspec_runtime.pipe` with a `pipe_loop` or a source that names the runtime.
The modules that act as SageMaker's toolkits go with a source that names one of these. Code that smspec does not see,
such as that of a package, can use these modules and `pipe` only if the source names them, too.
"""

from __future__ import annotations

import errno
import functools
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence

from smspec.diagnostics.secret_formats import CERTAIN_FORMATS, CERTAIN_NAMED, secrets_in
from smspec.source import Document, ListedFile, Listing, Scalar
from smspec.source import Mapping as Entries
from smspec.source.frozen import dataclass, replace
from smspec.source.real_file import open_real
from smspec.workspace.ignore_rules import IgnoreRules
from smspec.workspace.source_walk import FoundFile, SourceFault, SourceWalk, WalkEnded, why_unreadable
from smspec_runtime import run_plan

# Formats and the marks that a file is searched for: fewer than in a spec, since each costs time in every file.
_LIKELY = {
    "a webhook": "hooks.slack.com /api/webhooks/ webhook.office",
    "a token of a model service": "nvapi- gsk_ wandb_v1_ lsv2_",
    "a mail service key": "SG.",
    "a service token": "hvs. glsa_ atlasv1.",
}
_BEGINNING = 8192
_TOOLKIT = rb"\bsagemaker_(?:training|containers)\b"
_MARKS = tuple(
    (mark.encode(), what)
    for what, marks in (CERTAIN_FORMATS | _LIKELY | CERTAIN_NAMED).items()
    for mark in marks.split()
)

_TEAM = ("peers/__init__", "peers/keys", "peers/leader", "peers/member")
_EFA = "launchers/efa_instances"
_MPIRUN = ("launchers/mpirun", _EFA, *_TEAM, "peers/ssh")
_LAUNCHERS = {
    "mpi": ("launchers/mpi", *_MPIRUN),
    "parameter_server": ("launchers/parameter_server", "launchers/multi_worker_mirrored", *_TEAM),
    "smdataparallel": ("launchers/smdataparallel", *_MPIRUN),
    "torchrun": ("launchers/torchrun", _EFA),
}
_OF_ALL_LAUNCHERS = ("launchers/__init__", "launchers/launch")
_OF_OTHER_IMAGES = ("image_plan.py", "local_tree.py")
"""For images with a copy of the whole runtime, which have no `run_plan.json`."""

MOST_BYTES = 2 << 30
"""The same limit as in the runtime."""

LARGEST_SEARCHED = 5_000_000

MOST_SEARCHED = 10_000_000
"""Bytes of a text file, and of all text files, that are searched for secrets."""

MOST_MATCHED = 20_000_000
"""Bytes of files with the marks of a format, times such formats: the expression of each reads the whole file."""

_SYSTEM = frozenset(
    {
        *("/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys"),
        *(
            "/usr",
            "/usr/bin",
            "/usr/include",
            "/usr/lib",
            "/usr/lib64",
            "/usr/local",
            "/usr/sbin",
            "/usr/share",
            "/var",
        ),
        *("/Applications", "/Library", "/System", "/Users", "/private", "/private/etc", "/private/var"),
    }
)
_WHOLLY_SYSTEM = ("/boot/", "/dev/", "/proc/", "/sys/")


@dataclass(frozen=True, slots=True)
class SourceSecret:
    """``what`` is in line ``line`` of a file of the source. The secret itself is not kept."""

    path: str
    line: int
    what: str
    is_certain: bool


def is_text(content: bytes) -> bool:
    """Return whether to search a file at all: a match in a binary file is not a secret."""
    return b"\0" not in content[:_BEGINNING]


def marked_formats(content: bytes) -> list[str]:
    """Return the formats whose marks are in a file: for each, all of it has to be searched."""
    return list(dict.fromkeys([what for mark, what in _MARKS if mark in content]))


def secrets_of_file(path: str, content: bytes, marked: Sequence[str]) -> list[SourceSecret]:
    """Return the secrets of these formats in a file, in the order of the lines."""
    text = content.decode("utf-8", "replace")
    found = secrets_in(text, marked)
    places = dict.fromkeys((text.count("\n", 0, start) + 1, what) for start, what in sorted(found))
    return [SourceSecret(path, line, what, what not in _LIKELY) for line, what in places]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannedSource:
    """``listing`` are the files that are sent.

    ``left_out``: (group, path) of default exclusions. ``secrets`` are those in files, ``unsearched`` the files that are
    too large to search.
    """

    listing: Listing = Listing()
    faults: tuple[SourceFault, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    secrets: tuple[SourceSecret, ...] = ()
    unsearched: tuple[str, ...] = ()


def scan_source(directory: str, ignore: Sequence[str] = (), exclude: Sequence[str] = ()) -> ScannedSource:
    """Return the regular files below ``directory`` that are sent, sorted by path as UTF-8 bytes, and all faults.

    ``ignore``: patterns as in .gitignore. ``exclude``: files and directories that are excluded, by their paths here. A
    link to something in the directory is sent as its target. A directory of the system is not walked.
    """
    root = os.path.realpath(directory)
    if root in _SYSTEM or f"{root}/".startswith(_WHOLLY_SYSTEM):
        return ScannedSource(faults=(SourceFault("unbounded", "", "it is a directory of the operating system"),))
    try:
        rules = IgnoreRules(root, ignore)
        walk = SourceWalk(root, rules, frozenset(map(os.path.realpath, exclude)))
        found = list(walk.files())
    except WalkEnded:
        return ScannedSource(faults=tuple(walk.faults[-1:]))
    except OSError as fault:
        return unreadable(fault, root)
    if sum(file.size for file in found) > MOST_BYTES:
        return ScannedSource(faults=(SourceFault("unbounded", "", f"it has more than {MOST_BYTES >> 30} GiB"),))
    return _read(sorted(found, key=lambda file: file.path.encode()), walk)


def _read(found: list[FoundFile], walk: SourceWalk) -> ScannedSource:
    files: list[ListedFile] = []
    faults, secrets, unsearched = list(walk.faults), list[SourceSecret](), list[str]()
    left, patterns_left = MOST_SEARCHED, MOST_MATCHED
    for file in found:
        is_searched = file.size <= min(LARGEST_SEARCHED, left)
        try:
            listed, content = _listed(file.path, file.origin, open_real(file.origin), keeps=is_searched)
        except OSError as fault:
            faults.append(SourceFault("unreadable", file.path, why_unreadable(fault)))
            continue
        files.append(listed)
        if not is_text(content):
            continue
        left -= len(content)
        marked = marked_formats(content) if is_searched else []
        patterns_left -= len(content) * len(marked)
        if not is_searched or (marked and patterns_left < 0):
            unsearched.append(file.path)
        elif marked:
            secrets += secrets_of_file(file.path, content, marked)
    return ScannedSource(
        listing=Listing(files=tuple(files)),
        faults=tuple(faults),
        left_out=tuple(walk.left_out),
        secrets=tuple(secrets),
        unsearched=tuple(unsearched),
    )


def with_unsaved(scanned: ScannedSource, contents: Mapping[str, bytes]) -> ScannedSource:
    """Return a source in which files at some real paths have other contents than those on disk."""
    unsaved = {file.path: contents[file.origin] for file in scanned.listing.files if file.origin in contents}
    if not unsaved:
        return scanned
    files = [
        replace(file, size=len(unsaved[file.path]), sha256=hashlib.sha256(unsaved[file.path]).hexdigest())
        if file.path in unsaved
        else file
        for file in scanned.listing.files
    ]
    secrets = [secret for secret in scanned.secrets if secret.path not in unsaved]
    for path, content in unsaved.items():
        if len(content) <= LARGEST_SEARCHED and is_text(content):
            secrets += secrets_of_file(path, content, marked_formats(content))
    return replace(scanned, listing=Listing(files=tuple(files), unsaved=unsaved), secrets=tuple(secrets))


def listed_file(path: str, origin: str) -> ListedFile:
    """Return a file under the name ``path`` with its current content."""
    return _listed(path, origin, os.open(origin, os.O_RDONLY | os.O_CLOEXEC), keeps=False)[0]


def _listed(path: str, origin: str, opened: int, *, keeps: bool) -> tuple[ListedFile, bytes]:
    """Return a file with its current digest, and its content, or the beginning of it. Close ``opened``."""
    digest = hashlib.sha256()
    size, kept = 0, list[bytes]()
    with open(opened, "rb", buffering=0) as content:
        mode = os.fstat(opened).st_mode
        while chunk := content.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
            if keeps or not kept:
                kept.append(chunk)
            if size > MOST_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    executable = bool(mode & stat.S_IXUSR)
    listed = ListedFile(
        path=path,
        origin=origin,
        executable=executable,
        size=size,
        sha256=digest.hexdigest(),
        names_runtime=bool(kept) and b"smspec_runtime" in kept[0],
        names_toolkit=bool(kept) and b"sagemaker_" in kept[0] and re.search(_TOOLKIT, kept[0]) is not None,
    )
    return listed, b"".join(kept)


def unreadable(fault: OSError, root: str) -> ScannedSource:
    """Return the result for a source that the system does not allow to be read."""
    name = os.path.relpath(os.fsdecode(fault.filename), root) if fault.filename else "."
    return ScannedSource(faults=(SourceFault("unreadable", name, why_unreadable(fault)),))


def runtime_files(document: Document, source: Listing) -> Listing:
    """Return the files of `smspec_runtime` for a job, by their paths in the package; none is executable."""
    entry = document.node(("entry_point",))
    is_loop = isinstance(entry, Entries) and entry.get("pipe_loop") is not None
    has_pipe = is_loop or any(file.names_runtime for file in source.files)
    return _chosen(_launcher(document), has_pipe, any(file.names_toolkit for file in source.files))


def _launcher(document: Document) -> str:
    """Return the name of the launcher; empty if there is none, or the spec is wrong."""
    written = document.node(("distribution",))
    name = written.entries[0][0] if isinstance(written, Entries) and written.entries else written
    return str(name.value) if isinstance(name, Scalar) and name.value in _LAUNCHERS else ""


@functools.cache
def _chosen(launcher: str, has_pipe: bool, has_toolkit: bool) -> Listing:
    names = (*_OF_ALL_LAUNCHERS, *_LAUNCHERS[launcher]) if launcher else ()
    of_launcher = {f"{name}.py" for name in names}
    files = []
    for path, origin in sorted(_modules(os.path.dirname(os.path.abspath(run_plan.__file__)), "")):
        directory = path.partition("/")[0]
        chosen = {
            "launchers": path in of_launcher,
            "peers": path in of_launcher,
            "pipe": has_pipe,
            "toolkit_api": has_toolkit,
        }
        if chosen.get(directory, path not in _OF_OTHER_IMAGES):
            files.append(replace(listed_file(path, origin), executable=False))
    return Listing(files=tuple(files))


def _modules(directory: str, prefix: str) -> Iterator[tuple[str, str]]:
    """Yield modules and ``py.typed``, nothing else."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _modules(entry.path, f"{prefix}{entry.name}/")
            elif entry.name.endswith(".py") or entry.name == "py.typed":
                yield prefix + entry.name, entry.path

"""Unpack and merge a result in a directory, and list what is there; also the result of a local run."""

from __future__ import annotations

import functools
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence

from smspec import __version__
from smspec.collection.part_merging import CSV, NPY, PartFiles, merge, part_files
from smspec.collection.result_tree import (
    ARCHIVE,
    KINDS,
    MergeFailed,
    ResultRefused,
    ResultTree,
    StoredFile,
    StoredResult,
)
from smspec.collection.tar_reader import unpack
from smspec.local.running.run_directory import SUMMARY
from smspec.render.tree import MANIFEST, is_run_marker, marker_in
from smspec.source.frozen import dataclass
from smspec.source.real_file import open_below, remove_tree, sha256_of, walked

MERGED = "merged"
_SUFFIXES: dict[tuple[str, ...], tuple[str, ...]] = {(CSV,): (".csv", ".tsv"), (NPY,): (".npy",)}
_BLOCK = 1 << 20
_LARGEST_SUMMARY = 256 << 20
_ENDED = ("Completed", "Failed", "Stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFiles:
    """The files below one directory of a result, ``name``; ``size`` in bytes."""

    name: str
    files: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedResult:
    """What a directory holds. ``merged``: paths below `MERGED` with their parts; ``fault``: why there are none."""

    kinds: tuple[CollectedFiles, ...]
    merged: tuple[PartFiles, ...]
    fault: str


def collect(
    result: StoredResult, place: str, how: Sequence[str], warn: Callable[[str], None], advance: Callable[[int], None]
) -> CollectedResult:
    """Write a result to ``place``, which is an empty directory. ``how``: as for `merge`; empty: merge nothing.

    Raise `ResultRefused` if there is no result, or a damaged or unsafe one, OSError for a full disk.
    """
    if not result.files:
        raise ResultRefused(f"the job `{result.job}` is {result.status} and has no model or output in `{result.place}`")
    tree = ResultTree(place, warn)
    unpack(result, tree, warn, advance)
    merged: tuple[PartFiles, ...] = ()
    fault = ""
    if how:
        try:
            merged = _merge(tree, tuple(how), result.hosts)
        except MergeFailed as failure:
            fault = str(failure)
            remove_tree(os.path.join(place, MERGED), ignore_errors=True)
    _write_manifest(tree, result, merged)
    return CollectedResult(kinds=tuple(_counted(tree, kind) for kind in KINDS), merged=merged, fault=fault)


def _merge(tree: ResultTree, how: tuple[str, ...], hosts: int) -> tuple[PartFiles, ...]:
    groups: dict[str, tuple[PartFiles, str]] = {}
    suffixes = _SUFFIXES.get(how, ("",))
    paths = [(path.partition("/")[0], path.partition("/")[2]) for path in tree.digests if path.endswith(suffixes)]
    for kind in KINDS:
        for group in part_files((path for above, path in paths if above == kind), hosts):
            if group.merged in groups:
                raise MergeFailed(f"model and output both have parts of `{group.merged}`")
            groups[group.merged] = group, kind
    if not groups:
        raise MergeFailed(
            "there are no parts to merge: the file of each host needs its name, such as part-algo-1.csv"
            + (f", and the end {' or '.join(suffixes)}" if how in _SUFFIXES else "")
        )
    for group, kind in groups.values():
        places = [os.path.join(tree.root, kind, part) for part in group.parts]
        tree.need(sum(os.path.getsize(place) for place in places))
        merge(how, group, places, os.path.join(tree.root, MERGED, group.merged))
    return tuple(group for group, _ in groups.values())


def _write_manifest(tree: ResultTree, result: StoredResult, merged: Sequence[PartFiles]) -> None:
    """List all files, so that a later command knows that it may replace this directory."""
    files = dict(tree.digests)
    for group in merged:
        with open(os.path.join(tree.root, MERGED, group.merged), "rb") as file:
            files[f"{MERGED}/{group.merged}"] = sha256_of(file)
    files |= {path: f"link to {target}" for path, target in tree.links.items()}
    files |= {path: "directory" for path in tree.directories if not os.listdir(os.path.join(tree.root, path))}
    content = {
        "smspec": __version__,
        "collected": {"job": result.job, "status": result.status, "from": result.place},
        "files": dict(sorted(files.items())),
    }
    with open(os.path.join(tree.root, MANIFEST), "x", encoding="utf-8", errors="surrogateescape") as file:
        json.dump(content, file, indent=2)
        file.flush()
        os.fsync(file.fileno())


def _counted(tree: ResultTree, kind: str) -> CollectedFiles:
    sizes = [size for path, size in tree.sizes.items() if path.startswith(f"{kind}/")]
    return CollectedFiles(name=kind, files=len(sizes), size=sum(sizes))


def is_run_directory(path: str) -> bool:
    """Return whether a run wrote a directory."""
    return is_run_marker(marker_in(path))


def run_result(directory: str, warn: Callable[[str], None]) -> StoredResult:
    """Return the result of a run. Raise `ResultRefused` if the run has not ended, OSError for unreadable files.

    A run leaves no links, so each one was added later: what it leads to is not of the run. ``warn``: as of `collect`.
    """
    marker = json.loads(marker_in(directory))
    status = str(marker.get("status"))
    if status not in _ENDED:
        raise ResultRefused(f"the run in `{directory}` has not ended, or was killed: its status is {status}")
    return StoredResult(
        job=str(marker.get("job")),
        status=status,
        hosts=_hosts(directory),
        place=directory,
        files=tuple(_files(directory, warn)),
    )


def _hosts(directory: str) -> int:
    try:
        with open(open_below(directory, (SUMMARY,)), "rb") as file:
            return len(json.loads(file.read(_LARGEST_SUMMARY))["hosts"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return 0


def _files(directory: str, warn: Callable[[str], None]) -> Iterator[StoredFile]:
    for name in (name for kind in KINDS for name in _names(directory, kind)):
        status = os.lstat(os.path.join(directory, name))
        if stat.S_ISREG(status.st_mode):
            yield StoredFile(name=name, size=status.st_size, blocks=functools.partial(_blocks, directory, name))
        else:
            warn(f"`{name}` is not a file or directory; smspec skips it")


def _names(directory: str, kind: str) -> Iterator[str]:
    """Yield the archive of a kind, or all but directories below its own."""
    archive, tree = os.path.join(directory, kind + ARCHIVE), os.path.join(directory, kind)
    if _is_no_directory(archive):
        yield kind + ARCHIVE
    elif _is_no_directory(tree):
        yield kind
    elif os.path.isdir(tree):
        for above, directories, names in walked(tree):
            directories.sort()
            links = [name for name in directories if os.path.islink(os.path.join(above, name))]
            yield from (os.path.relpath(os.path.join(above, name), directory) for name in sorted([*links, *names]))


def _is_no_directory(path: str) -> bool:
    return os.path.islink(path) or (os.path.lexists(path) and not os.path.isdir(path))


def _blocks(directory: str, name: str) -> Iterator[bytes]:
    with open(open_below(directory, name.split(os.sep)), "rb") as file:
        while block := file.read(_BLOCK):
            yield block

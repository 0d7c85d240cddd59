"""Write a stored result to a directory: the model below ``model``, the output data below ``output``.

Links are made last, when nothing is written any more: `tarfile` with its filter was bypassed twice through links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from smspec.collection.gzip_reader import GzipReader
from smspec.collection.result_tree import ResultTree, relative
from smspec.collection.stored_result import ARCHIVE, StoredFile, StoredResult
from smspec.collection.tar_reader import tar_members


def unpack(result: StoredResult, tree: ResultTree, warn: Callable[[str], None], advance: Callable[[int], None]) -> None:
    """Write all files of a result. Raise `ResultRefused` for a damaged or unsafe one, OSError for a full disk.

    ``advance`` gets the bytes that were read of each step.
    """
    tree.need(result.size)
    for file in result.files:
        blocks = _counted(file, advance)
        if file.name.endswith(ARCHIVE) and "/" not in file.name:
            unpack_archive(GzipReader(file.name, blocks), file.name.removesuffix(ARCHIVE), tree, warn)
        else:
            tree.add_file(file.name, file.size, blocks)
    tree.finish()


def unpack_archive(content: GzipReader, directory: str, tree: ResultTree, warn: Callable[[str], None]) -> None:
    """Write the members of an archive to a directory of the tree. Raise as `unpack`; the caller finishes the tree."""
    tree.add_directory(directory)
    is_empty = True
    for member in tar_members(content):
        is_empty = False
        # A member's own name is judged before it gets a directory above it.
        name = f"{directory}/{relative(member.name)}"
        if member.kind == "directory":
            tree.add_directory(name)
        elif member.kind == "file":
            tree.add_file(name, member.size, content.pieces(member.size), is_executable=member.is_executable)
        elif member.kind == "link":
            tree.add_link(name, member.target)
        elif member.kind == "hard link":
            tree.add_hard_link(name, f"{directory}/{relative(member.target)}")
        else:
            warn(f"`{name}` is not a file, directory, or link; smspec skips it")
    if is_empty:
        warn(f"`{directory}{ARCHIVE}` contains no files: the job saved none, or what wrote the archive failed")


def _counted(file: StoredFile, advance: Callable[[int], None]) -> Iterator[bytes]:
    for block in file.blocks():
        advance(len(block))
        yield block

"""The author's source in the tree of a build, for any delivery."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.render.tree import SOURCES, ArchiveFile, CopiedFile, FileTree


def source_files(tree: FileTree) -> Iterator[tuple[str, str]]:
    """Yield (path in the source, file) of the author's source."""
    for file in tree.files:
        if isinstance(file, ArchiveFile):
            for member in file.members:
                yield member.path, member.file.origin
        elif isinstance(file, CopiedFile):
            for prefix in SOURCES:
                if file.path.startswith(prefix):
                    yield file.path.removeprefix(prefix), file.file.origin

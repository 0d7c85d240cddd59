"""Read a file from the command line, up to a size limit; an error is a sentence."""

from __future__ import annotations

import os

from smspec.source.real_file import read_bounded
from smspec.spec.layers.variables import OptionError
from smspec.workspace.boundary import Boundary, OutOfBounds
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.path_targets import is_file, is_missing, not_found

STANDARD_INPUT = "-"
USUAL_SPEC = "job.yaml"


def spec_content(path: str, most: int, boundary: Boundary) -> bytes:
    """Return the content of a job spec, as `content_of` does, with a hint for a missing path or a directory.

    Raise `OutOfBounds` for a link that leads out of the boundary.
    """
    try:
        return _content(path, most, "a job spec", boundary)
    except OptionError as error:
        raise OptionError(f"{error}{_way_out(path)}") from None


def content_of(path: str, most: int, kind: str, *, dash_is_input: bool = False) -> bytes:
    """Return the content of a file, but no more than one byte above ``most``. ``kind``: the expected file, `a request`.

    ``dash_is_input``: `-` means standard input. Raise `OptionError` if the path leads to no file, or out of the
    repository by a link, OSError if the disk fails.
    """
    if dash_is_input and path == STANDARD_INPUT:
        return _read(0, most)
    try:
        return _content(path, most, kind, boundary_of(os.path.dirname(path)))
    except OutOfBounds as fault:
        raise OptionError(f"{fault}: it is a link; pass the file it points to") from None


def _content(path: str, most: int, kind: str, boundary: Boundary) -> bytes:
    try:
        if boundary.is_file(path):
            return boundary.read(path, most)
        if not boundary.contains(path) and not _is_of_the_system(path):
            raise OutOfBounds(path)
        # The command line may name a pipe, or the `<(command)` of a shell.
        return _read(path, most)
    except IsADirectoryError:
        raise OptionError(f"`{path}` is a directory, not {kind}") from None
    except (OSError, ValueError) as fault:
        if is_missing(fault):
            raise OptionError(not_found(path, path)) from None
        if isinstance(fault, OSError):
            fault.filename = fault.filename or path
        raise


def _read(file: str | int, most: int) -> bytes:
    with open(file, "rb", buffering=0, closefd=file != 0) as stream:
        return read_bounded(stream, most)


def _is_of_the_system(path: str) -> bool:
    """Return whether the path is a file of the system itself: no repository can contain one."""
    return os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _way_out(path: str) -> str:
    if path == USUAL_SPEC:
        return "; pass a job spec, or create one with `smspec init`"
    if path == STANDARD_INPUT:
        return "; pass a file, because paths in a job spec are relative to its directory"
    inside = os.path.join(path, USUAL_SPEC)
    return f"; did you mean `{inside}`?" if is_file(inside) else ""

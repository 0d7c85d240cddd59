"""What is in a file that the command line names: never more than it may hold, and a sentence where it is no file."""

from __future__ import annotations

import os

from smspec.pipeline.absence import is_file, means_absence, told_of
from smspec.spec.layers.misuse import Misuse

STANDARD_INPUT = "-"
USUAL_SPEC = "job.yaml"


def spec_content(path: str, most: int) -> bytes:
    """Return what is in a job spec, as `content_of` does. Who names none, or its directory, is told what would do."""
    try:
        return content_of(path, most, "a job spec")
    except Misuse as misuse:
        raise Misuse(f"{misuse}{_way_out(path)}") from None


def content_of(path: str, most: int, kind: str, *, dash_is_input: bool = False) -> bytes:
    """Return what is in a file, but no more than one byte above ``most``. ``kind`` is what it should be, `a request`.

    ``dash_is_input``: `-` means standard input. Raises `Misuse` where the path leads to no file, OSError where the disk
    refuses.
    """
    try:
        is_input = dash_is_input and path == STANDARD_INPUT
        with open(0 if is_input else path, "rb", buffering=0, closefd=not is_input) as file:
            chunks, room = [], most + 1
            while room > 0 and (chunk := file.read(room)):
                chunks.append(chunk)
                room -= len(chunk)
        return b"".join(chunks)
    except IsADirectoryError:
        raise Misuse(f"`{path}` is a directory, not {kind}") from None
    except (OSError, ValueError) as fault:
        if means_absence(fault):
            raise Misuse(told_of(path, path)) from None
        if isinstance(fault, OSError):
            fault.filename = fault.filename or path
        raise


def _way_out(path: str) -> str:
    if path == USUAL_SPEC:
        return "; name the job spec, or begin one with `smspec init`"
    if path == STANDARD_INPUT:
        return "; a job spec is read from a file, because the paths in it are relative to it"
    inside = os.path.join(path, USUAL_SPEC)
    return f"; did you mean `{inside}`?" if is_file(inside) else ""

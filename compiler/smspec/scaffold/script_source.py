"""Find a script that exists, and read what its text shows."""

from __future__ import annotations

import os

from smspec.pipeline.script_reading import Started, read_program
from smspec.rules.entry_points import is_safe
from smspec.script.program import Program
from smspec.script.reach import Reach
from smspec.source.frozen import dataclass
from smspec.workspace.source_listing import scan_source

SOURCE = "src"
_USUAL = ("train.py", "main.py", "run.py")


class NoScript(Exception):
    """There is no script to start from; the text is the reason and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """``source`` and ``script``: paths in the spec. ``reason``: why the script was not read, if it was not."""

    source: str
    script: str
    program: Program
    reach: Reach
    has_requirements: bool
    reason: str = ""


def existing_script(directory: str) -> str | None:
    """Return the script in ``src/`` of a directory; None if there is no such directory. Raise `NoScript`."""
    source = os.path.join(directory, SOURCE)
    if not os.path.isdir(source):
        return None
    names = sorted(name for name in os.listdir(source) if name.endswith(".py") and not name.startswith("_"))
    usual = [name for name in _USUAL if name in names]
    if usual or len(names) == 1:
        return os.path.join(source, (usual or names)[0])
    raise NoScript(f"`{source}` exists, and it is not certain which script starts; pass `--from {SOURCE}/SCRIPT.py`")


def read_source(directory: str, path: str) -> ReadSource:
    """Read the script at ``path`` for a spec in a directory. Raise `NoScript` and OSError."""
    here, file = os.path.realpath(directory), os.path.realpath(path)
    if not os.path.exists(file):
        raise NoScript(f"`{path}` does not exist")
    if not os.path.isfile(file) or not file.endswith(".py"):
        raise NoScript(f"`{path}` is not a Python file")
    relative = os.path.relpath(file, here)
    if relative.startswith(os.pardir):
        raise NoScript(f"`{path}` is not below `{directory}`; create the job in a directory that contains the script")
    top, _, rest = relative.partition(os.sep)
    source = SOURCE if top == SOURCE and rest else os.path.dirname(relative)
    root = os.path.join(here, source)
    listing = scan_source(root).listing
    script = os.path.relpath(file, root)
    if not is_safe(script):
        raise NoScript(f"`{path}`: SageMaker accepts only letters, digits, and `. _ + - /` in a script; rename it")
    read = read_program(Started(path=script, named=script, key="script"), listing, root)
    known = isinstance(read.program, Program)
    return ReadSource(
        source=source or os.curdir,
        script=script,
        program=read.program if isinstance(read.program, Program) else Program(texts=()),
        reach=read.reach if isinstance(read.reach, Reach) else Reach(),
        has_requirements=listing.has("requirements.txt"),
        reason="" if known else str(getattr(read.program, "reason", "it cannot be read")),
    )

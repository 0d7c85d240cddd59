"""The script of a job and its directory, as keys of a spec."""

from __future__ import annotations

import posixpath

from smspec.importer.marks import holds_mark
from smspec.source.frozen import dataclass

_S3 = "s3://"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptSource:
    """``directory`` of the files, relative to the program, and ``script`` in it.

    ``is_alone``: the SDK sends the script without the other files. ``archive``: an archive in S3 that the program
    names instead; then there is no directory.
    """

    directory: str
    script: str
    is_alone: bool
    archive: str | None = None

    @property
    def ignored(self) -> list[str]:
        """Patterns of files that are not sent."""
        return ["*", f"!{self.script}"] if self.is_alone else []


def script_source(script: object, directory: object) -> ScriptSource | None:
    """Return where the code is, for two paths, of which the second may be None; None if they are no paths."""
    if not isinstance(script, str) or not script or (directory is not None and not isinstance(directory, str)):
        return None
    if directory and directory.lower().startswith(_S3):
        return ScriptSource(directory="", script=script, is_alone=False, archive=directory)
    if directory:
        return ScriptSource(directory=posixpath.normpath(directory), script=posixpath.normpath(script), is_alone=False)
    path = posixpath.normpath(script)
    script = posixpath.basename(path)
    return ScriptSource(directory=posixpath.dirname(path) or ".", script=script, is_alone=not holds_mark(script))

"""Where the files of a job's script are: next to the program that is imported."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.source.frozen import dataclass, field

DEPENDENCIES = ("dependencies",)
"""The path of the argument in what is not imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalCode:
    """Files of ``directory``, relative to the program: all of them, or, if ``is_alone``, only ``script``.

    ``dependencies``: files and directories that the SDK adds to them. ``written``: path → text of files that cells of a
    notebook write. Paths may contain marks of variables.
    """

    directory: str
    script: str
    is_alone: bool
    dependencies: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)

"""The standard library differs between versions of Python: `tomllib` begins with 3.11, `distutils` ends with 3.12."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.rules.program.program_and_image import ProgramAndImage, dotted_version, file_name, here
from smspec.rules.program.provided_modules import Provided
from smspec.script.reach.standard_modules import ADDED, REMOVED, is_in_version, is_standard

RULE = Rule("SM520", "missing module of the standard library")

_NEVER_PROVIDED = frozenset(
    {"annotationlib", "binhex", "dummy_threading", "imp", "lib2to3", "msilib", "nis", "ossaudiodev", "spwd", "symbol"}
    | {"tomllib", "zoneinfo"}
)
"""Modules that no package which others require provides under the same name."""

_REPLACEMENTS = {
    "distutils": "`setuptools`, which provides it",
    "imp": "`importlib`",
    "tomllib": "`tomli`",
    "zoneinfo": "`backports.zoneinfo`",
    "cgi": "`legacy-cgi`, which provides it",
    "audioop": "`audioop-lts`, which provides it",
}


def check(both: ProgramAndImage, provided: Provided) -> Iterator[Finding]:
    """Reject a module of the standard library that the Python of the image does not have."""
    if both.python is None:
        return
    for used in both.reach.foreign:
        name = used.top
        if not is_standard(name) or is_in_version(name, both.python) or not used.is_early:
            continue
        if provided.names is None and name not in _NEVER_PROVIDED:
            continue
        if provided.names is not None and name in provided.names:
            continue
        if any(name in project for project in both.declared):
            continue
        if name in ADDED and both.python < ADDED[name]:
            when = f"new in Python {dotted_version(ADDED[name])}"
        else:
            when = f"removed in Python {dotted_version(REMOVED[name])}"
        other = f"use {_REPLACEMENTS[name]}, or " if name in _REPLACEMENTS else "use "
        yield RULE.at(
            both.path,
            f"`{file_name(used.place)}` imports `{name}`, but the image has {both.python_name}",
            help=f"{other}a base image whose Python has the module",
            notes=here(f"`{name}` is {when}", used.place),
        )

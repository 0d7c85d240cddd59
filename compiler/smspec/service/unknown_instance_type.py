"""Instance types that the pinned API model does not list: the error in the name, and the probable correction.

A missing size of a known family is an error, an unknown family a warning: AWS adds families every few months, and
nearly always all their sizes at once.
"""

from __future__ import annotations

import re

from smspec.diagnostics import Finding, Rule
from smspec.diagnostics.suggestions import Fix, nearest, spelling_fix
from smspec.service.instance_families import family
from smspec.service.member_names import member, shown
from smspec.source import Path

UNKNOWN_INSTANCE_TYPE = Rule("SM413", "unknown instance type", "warning")
# Not a shape rule: a family may have got a size since the model was pinned, so an author can ignore this.
SIZE_THAT_THE_FAMILY_LACKS = Rule("SM483", "unknown size of an instance family", evidence="model")

_MOST_SHOWN = 6


def unknown_instance_type(path: Path, value: str, known: tuple[str, ...], date: str) -> Finding:
    """Return a finding for a type ``ml.…`` that is not in ``known``, the list of the model of ``date``.

    New families appear all the time, so one that the model does not have is a warning. The sizes of a family hardly
    ever change, so a size that a family of the model does not have is an error. An organization can name newer types.
    """
    name, size = _taken_apart(value)
    sizes = [kind.rpartition(".")[2] for kind in known if family(kind) == name]
    if not sizes:
        near = nearest(value, known)
        return UNKNOWN_INSTANCE_TYPE.at(
            path,
            f"{member(path)} is `{shown(value)}`, which is not in the API model of {date}",
            label=f"did you mean `{near}`?" if near else "",
            fix=spelling_fix(value, known),
            help="check the name; if the type is newer, add it to `instance_types` in `[facts]` of smspec.toml",
        )
    near = _nearest_size(size, sizes)
    sure = spelling_fix(size, sizes)
    listed = ", ".join(f"`{known}`" for known in sorted(sizes, key=_magnitude)[:_MOST_SHOWN])
    more = f", and {len(sizes) - _MOST_SHOWN} more" if len(sizes) > _MOST_SHOWN else ""
    return SIZE_THAT_THE_FAMILY_LACKS.at(
        path,
        f"{member(path)}: `ml.{name}` has no size `{shown(size)}`"
        if size
        else f"{member(path)} is `{shown(value)}`, which has no size",
        label=f"did you mean `ml.{name}.{near}`?" if near else "",
        fix=Fix(value, f"ml.{name}.{sure.meant}") if sure else None,
        help=f"use {listed}{more} (as of {date})",
    )


def _taken_apart(value: str) -> tuple[str, str]:
    """Return the family and the size; the size is empty if there is none, as in ``ml.m5``."""
    name, _, size = value.removeprefix("ml.").partition(".")
    return name, size


def _nearest_size(size: str, sizes: list[str]) -> str | None:
    """Return the probable size: the nearest in spelling or, for a number, the next larger one."""
    if re.fullmatch("[0-9]{1,3}xlarge", size):
        larger = [known for known in sizes if _magnitude(known) > _magnitude(size)]
        return min(larger, key=_magnitude) if larger else max(sizes, key=_magnitude)
    return nearest(size, sorted(sizes, key=_magnitude)) or (sizes[0] if len(sizes) == 1 else None)


def _magnitude(size: str) -> tuple[int, str]:
    """Return the order of a size; below ``xlarge``, by its name."""
    number = size.removesuffix("xlarge")
    if number == size:
        return (-1, "") if size == "medium" else (0, size)
    return (int(number) if number.isdecimal() else 1, "")

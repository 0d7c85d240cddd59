"""Instance types by their names: family, processor, volume, and the error in one that the API model does not list.

The processor goes by the family, whose name follows a scheme that does not change, unlike the list of types. So the
expansion of the name of an image never depends on the date of a table.

The pinned model lists names only. Nothing is reported about a family that no public document describes. A missing size
of a known family is an error, an unknown family a warning: AWS adds families every few months, and nearly always all
their sizes at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.suggestions import Fix, nearest, spelling_fix
from smspec.service.facts import instance, known_types
from smspec.service.patterns import member_name, shown
from smspec.source import Path

Storage = Literal["ebs", "nvme", "unknown"]
"""``ebs``: VolumeSizeInGB sets the size of the volume; ``nvme``: SageMaker uses local storage of a fixed size."""

ULTRASERVER = frozenset({"p6e-gb200", "trn2"})
"""Families that are also available as UltraServers: their jobs can be placed on one."""

TRAINIUM = frozenset({"trn1", "trn1n", "trn2"})

Processor = Literal["cpu", "gpu", "neuron"]

# p6e is left out: nothing public describes it yet.
_FAMILIES: tuple[tuple[Processor, str], ...] = (
    ("cpu", r"[cmrt][0-9][a-z0-9-]*"),
    ("gpu", r"(?:g[0-9]|p[0-9](?!e-))[a-z0-9-]*"),
    ("neuron", r"(?:inf|trn)[0-9][a-z0-9]*"),
)

UNKNOWN_INSTANCE_TYPE = Rule("SM413", "unknown instance type", "warning")
# Not a shape rule: a family may have got a size since the model was pinned, so an author can ignore this.
SIZE_THAT_THE_FAMILY_LACKS = Rule("SM483", "unknown size of an instance family", evidence="model")

UPDATE = "smspec facts --update"
"""The command for a user of what is newer than the facts of this smspec."""

_MOST_SHOWN = 6


def family(instance_type: str) -> str:
    """Return ``g5`` of ``ml.g5.xlarge``; empty if the string is not an instance type."""
    prefix, _, rest = instance_type.partition(".")
    name, dot, size = rest.partition(".")
    return name if prefix == "ml" and dot and size else ""


def storage(instance_type: str) -> Storage:
    """Return the storage of the instances of a type."""
    facts = instance(instance_type)
    if facts is None or facts.nvme_gb is None:
        return "unknown"
    return "nvme" if facts.nvme_gb else "ebs"


def is_known(instance_type: str) -> bool:
    """Return whether a type has a family of the table of instances."""
    return family(instance_type) in _families()


@cache
def _families() -> frozenset[str]:
    return frozenset(map(family, known_types()))


def processor(instance_type: str) -> Processor | None:
    """Return the processor of a type; None if it is unknown."""
    name = family(instance_type)
    return next((known for known, pattern in _FAMILIES if re.fullmatch(pattern, name)), None)


def processors(instance_types: Iterable[str]) -> frozenset[Processor]:
    """Return the processors of the instances of a job; empty if that of any is unknown."""
    found = [processor(kind) for kind in instance_types]
    return frozenset(known for known in found if known is not None) if None not in found else frozenset()


def unknown_instance_type(path: Path, value: str, known: tuple[str, ...], date: str) -> Finding:
    """Return a finding for a type ``ml.…`` that is not in ``known``, the list of the model of ``date``.

    New families appear all the time, so one that the model does not have is a warning. The sizes of a family hardly
    ever change, so a size that a family of the model does not have is an error. An organization can name newer types.
    """
    name, _, size = value.removeprefix("ml.").partition(".")
    sizes = [kind.rpartition(".")[2] for kind in known if family(kind) == name]
    if not sizes:
        near = nearest(value, known)
        return UNKNOWN_INSTANCE_TYPE.at(
            path,
            f"{member_name(path)} is `{shown(value)}`, which is not in the API model of {date}",
            label=f"did you mean `{near}`?" if near else "",
            fix=_family_fix(value, known),
            help=f"check the name; if the type is newer, run `{UPDATE}`, or add it to `facts.instance_types`",
        )
    near = _nearest_size(size, sizes)
    sure = spelling_fix(size, [known for known in sizes if re.findall("[0-9]+", known) == re.findall("[0-9]+", size)])
    listed = ", ".join(f"`{known}`" for known in sorted(sizes, key=_magnitude)[:_MOST_SHOWN])
    more = f", and {len(sizes) - _MOST_SHOWN} more" if len(sizes) > _MOST_SHOWN else ""
    return SIZE_THAT_THE_FAMILY_LACKS.at(
        path,
        f"{member_name(path)}: `ml.{name}` has no size `{shown(size)}`"
        if size
        else f"{member_name(path)} is `{shown(value)}`, which has no size",
        label=f"did you mean `ml.{name}.{near}`?" if near else "",
        fix=Fix(value, f"ml.{name}.{sure.meant}") if sure else None,
        help=f"use {listed}{more} (as of {date})",
        notes=(Note(f"if AWS added the size since, run `{UPDATE}`"),),
    )


def _family_fix(value: str, known: tuple[str, ...]) -> Fix | None:
    """Return the fix of a misspelled family, if the one that can be meant has the size."""
    name, _, size = value.removeprefix("ml.").partition(".")
    sure = spelling_fix(name, map(family, known))
    meant = f"ml.{sure.meant}.{size}" if sure else ""
    return Fix(value, meant) if meant in known else spelling_fix(value, known)


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

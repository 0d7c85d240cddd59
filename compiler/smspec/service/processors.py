"""The processor that instances compute on, by the names of their families.

The names follow a scheme that does not change, unlike the list of types. So the expansion of the name of an image never
depends on the date of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from smspec.service.instance_families import family

Processor = Literal["cpu", "gpu", "neuron"]

# p6e is left out: nothing public describes it yet.
_FAMILIES: tuple[tuple[Processor, str], ...] = (
    ("cpu", r"[cmrt][0-9][a-z0-9-]*"),
    ("gpu", r"(?:g[0-9]|p[0-9](?!e-))[a-z0-9-]*"),
    ("neuron", r"(?:inf|trn)[0-9][a-z0-9]*"),
)


def processor(instance_type: str) -> Processor | None:
    """Return the processor of a type; None if it is unknown."""
    name = family(instance_type)
    return next((known for known, pattern in _FAMILIES if re.fullmatch(pattern, name)), None)


def processors(instance_types: Iterable[str]) -> frozenset[Processor]:
    """Return the processors of the instances of a job; empty if that of any is unknown."""
    found = [processor(kind) for kind in instance_types]
    return frozenset(known for known in found if known is not None) if None not in found else frozenset()

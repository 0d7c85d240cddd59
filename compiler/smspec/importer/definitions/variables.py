"""The variables of a definition: its parameters, and what is known only when it is deployed or run.

A parameter keeps its default and stays a variable, because it is there to differ between environments.
"""

from __future__ import annotations

import re
from typing import Union

from smspec.importer.marks import MARK, mark
from smspec.source.frozen import dataclass

Default = Union[str, int, float, bool, None]
_LONGEST = 40
_LONGEST_SOURCE = 80
_MOST = 2_000
VARIABLE = "${{"
"""What begins a reference to a variable in a spec."""


class TooManyVariables(Exception):
    """A definition with more variables than any job has."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a variable stands for. ``default``: its value in the definition; ``example``: a possible one; or None."""

    default: Default
    description: str
    example: object


class DefinitionVariables:
    """The variables, in the order of their first use. The same part of a definition is the same variable."""

    def __init__(self) -> None:
        self.origins: dict[str, Origin] = {}
        self._names: dict[str, str] = {}

    def mark(
        self, source: str, default: Default = None, *, name: str = "", description: str = "", example: object = None
    ) -> str:
        """Return the mark of a variable. ``source``: what the definition calls it; ``name``: a shorter name for it.

        An example that is not one value, or is made of other variables, is none: a spec could not be compiled with it.
        """
        known = self._names.get(source)
        if known is not None:
            return mark(known)
        if len(self.origins) >= _MOST:
            raise TooManyVariables
        stem = variable_name(name or source)
        found, count = stem, 1
        while found in self.origins:
            count += 1
            found = f"{stem}_{count}"
        self._names[source] = found
        possible = example if _is_one_value(example) else None
        self.origins[found] = Origin(default, description or f"`{shortened(source)}` of the source", possible)
        return mark(found)

    def with_defaults(self, text: str) -> str:
        """Return a text with defaults instead of marks, where there are any."""
        return MARK.sub(lambda match: str(self._default(match)), text)

    def _default(self, match: re.Match[str]) -> object:
        origin = self.origins.get(match[1])
        return match[0] if origin is None or origin.default is None else origin.default


def _is_one_value(value: object) -> bool:
    if isinstance(value, str):
        return VARIABLE not in value and not MARK.search(value)
    return isinstance(value, (int, float))


def variable_name(text: str) -> str:
    """Return a text as the name of a variable: ``ModelBucket`` and ``model-bucket`` are ``model_bucket``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    name = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")[:_LONGEST].strip("_") or "value"
    return name if name[0].isalpha() else f"value_{name}"


def shortened(source: str) -> str:
    """Return the beginning of an expression."""
    line = " ".join(source.split())
    return line if len(line) <= _LONGEST_SOURCE else f"{line[:_LONGEST_SOURCE]}…"


PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9_.:-]{1,100})\}")

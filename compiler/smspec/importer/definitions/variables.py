"""The training jobs of a definition, and its variables: its parameters, and what only a deployment or a run knows.

A parameter keeps its default and stays a variable, because it is there to differ between environments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Union

from smspec.importer.imported import Imported, RequestNotFound
from smspec.importer.marks import MARK, mark
from smspec.source.frozen import dataclass

Default = Union[str, int, float, bool, None]
_LONGEST = 40
_LONGEST_SOURCE = 80
_MOST = 2_000
VARIABLE = "${{"
"""What begins a reference to a variable in a spec."""

_MOST_LISTED = 20

PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9_.:-]{1,100})\}")


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
    return line if len(line) <= _LONGEST_SOURCE else f"{line[:_LONGEST_SOURCE]}..."


@dataclass(frozen=True, slots=True)
class FoundJob:
    """A training job of a definition.

    ``name``: what the definition calls its state, step, or resource. ``place``: where that is, if the name is not
    unique. ``imported`` may raise `RequestNotFound`.
    """

    name: str
    place: str
    imported: Callable[[], Imported]


def selected(jobs: Sequence[FoundJob], choice: str | None, kind: str, *, all_jobs: bool) -> tuple[Imported, ...]:
    """Return the chosen job, as `chosen`; without a choice, and if ``all_jobs``, all of them."""
    if all_jobs and choice is None and len(jobs) > 1:
        return tuple(job.imported() for job in jobs)
    return (chosen(jobs, choice, kind),)


def chosen(jobs: Sequence[FoundJob], choice: str | None, kind: str) -> Imported:
    """Return the only job, or the one that was chosen by its number, name, or place.

    ``kind``: what contains them, `the state machine`. Raise `RequestNotFound` if there is no such job, or several.
    """
    if not jobs:
        raise RequestNotFound(f"{kind} creates no training job")
    fitting = [
        job for index, job in enumerate(jobs, start=1) if choice is None or choice in (job.name, job.place, str(index))
    ]
    if len(fitting) == 1:
        return fitting[0].imported()
    listed = [f"{index} `{_described(job)}`" for index, job in enumerate(jobs[:_MOST_LISTED], start=1)]
    if len(jobs) > _MOST_LISTED:
        listed.append(f"and {len(jobs) - _MOST_LISTED} more")
    why = f"`{choice}` is {len(fitting) or 'none'} of them" if choice else "choose one with --job, by number or name"
    count = f"{len(jobs)} training jobs" if len(jobs) > 1 else "1 training job"
    raise RequestNotFound(f"{kind} creates {count}; {why}: {'; '.join(listed)}")


def _described(job: FoundJob) -> str:
    return job.place or job.name

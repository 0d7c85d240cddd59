"""What AWS's guide says of the built-in algorithms: channels, data, instances, and hyperparameters."""

from __future__ import annotations

from functools import cache

from smspec.service.facts import Row, table
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRange:
    """The numbers that a source allows; empty: no bound; ``>0`` and ``<1`` exclude the bound."""

    minimum: str
    maximum: str

    def contains(self, number: float) -> bool:
        """Return whether a number is in the range; a missing bound excludes nothing."""
        low, high = self.minimum, self.maximum
        if low and (number <= float(low[1:]) if low[0] == ">" else number < float(low)):
            return False
        return not (high and (number >= float(high[1:]) if high[0] == "<" else number > float(high)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmHyperparameter:
    """One row: BlazingText has two of some names, one for each mode.

    ``kind`` is ``int``, ``float``, ``enum``, or ``str``; ``words`` are what is allowed besides numbers, or at all.
    """

    name: str
    is_required: bool
    kind: str
    words: tuple[str, ...]
    guide: NumberRange
    sdk: NumberRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """``content_types`` empty: any; ``hosts``: ``one``, ``several``, or empty if the guide does not say."""

    name: str
    required_channels: tuple[str, ...]
    optional_channels: tuple[str, ...]
    input_modes: tuple[str, ...]
    content_types: tuple[str, ...]
    devices: tuple[str, ...]
    hosts: str
    hyperparameters: tuple[AlgorithmHyperparameter, ...]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of all channels."""
        return (*self.required_channels, *self.optional_channels)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmMode:
    """What one value of the hyperparameter ``mode`` supports; ``hosts``: ``one`` or ``several``."""

    name: str
    channels: tuple[str, ...]
    devices: tuple[str, ...]
    hosts: str
    hyperparameters: tuple[str, ...]


@cache
def algorithm_modes(name: str) -> tuple[AlgorithmMode, ...]:
    """Return the modes of an algorithm; none if it has none."""
    return tuple(
        AlgorithmMode(
            name=row["mode"],
            channels=_words(row["channels"]),
            devices=_words(row["devices"]),
            hosts=row["hosts"],
            hyperparameters=_words(row["hyperparameters"]),
        )
        for row in table("algorithm_modes").rows(name)
    )


@cache
def algorithm(name: str) -> Algorithm:
    """Return the facts about one of the algorithms of the table."""
    (row,) = table("algorithms").rows(name)
    return Algorithm(
        name=name,
        required_channels=_words(row["required_channels"]),
        optional_channels=_words(row["optional_channels"]),
        input_modes=_words(row["input_modes"]),
        content_types=_words(row["content_types"]),
        devices=_words(row["devices"]),
        hosts=row["hosts"],
        hyperparameters=tuple(map(_hyperparameter, table("algorithm_hyperparameters").rows(name))),
    )


def as_of() -> str:
    """Return the end of a message about a fact that may have changed."""
    return table("algorithms").as_of


def _hyperparameter(row: Row) -> AlgorithmHyperparameter:
    return AlgorithmHyperparameter(
        name=row["name"],
        is_required=row["required"] == "yes",
        kind=row["kind"],
        words=_words(row["words"]),
        guide=NumberRange(minimum=row["min"], maximum=row["max"]),
        sdk=NumberRange(minimum=row["sdk_min"], maximum=row["sdk_max"]),
    )


def _words(cell: str) -> tuple[str, ...]:
    return tuple(cell.split())

"""One key of the spec: everything regular about it, for code that reads, sends, imports, or compares keys.

Most of that is the form of its value: how it is read from a spec, and which values of a request can be written in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Union, cast, get_args

from smspec.diagnostics.quoting import duration
from smspec.source.frozen import dataclass, field
from smspec.spec.keys.quantities import seconds, size_in_bytes, volume_in_gb

Convert = Callable[[object], object]


def _as_is(value: object) -> object:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value without keys of its own.

    ``read`` converts a value of the document to one of the model. ``accepts``: whether a key of this form can express
    the value of a request; ``write`` converts it. ``shape``: the shape of such a member in the API; empty for what is
    never sent. ``as_written``: a scalar is its text, whatever it looks like. ``untouched``: null is a value like any
    other.
    """

    read: Convert = _as_is
    accepts: Callable[[object], bool] = bool
    write: Convert = _as_is
    shape: str = ""
    as_written: bool = False
    untouched: bool = False


@dataclass(frozen=True, slots=True)
class Structure:
    """A mapping of keys with rows. ``short``: the key that a string sets."""

    kind: Callable[..., object]
    short: str = ""


@dataclass(frozen=True, slots=True)
class Structures:
    """A list of mappings of keys with rows."""

    kind: Callable[..., object]


@dataclass(frozen=True, slots=True)
class Named:
    """Mappings of keys with rows, under names that the author chooses."""

    kind: Callable[..., object]
    short: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several mappings, depending on its keys; `spec.decoding` has a function for each key of this form."""

    kinds: tuple[Callable[..., object], ...] = ()
    short: str = ""


def _whole(value: object) -> int:
    # JSON Schema, and so every editor, accepts 4.0 as an integer.
    return int(cast("int | float", value))


def _each(items: object) -> tuple[object, ...]:
    return tuple(cast("list[object]", items))


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_number(value: object) -> bool:
    """Return whether a value is an integer other than true and false."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_amount(value: object) -> bool:
    """Return whether a value is an integer of at least 1, as keys for counts, sizes, and durations require."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _are_named_texts(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(item, str) for item in value.values())


def word(choices: object) -> Value:
    """Return the form of a value that is one of the strings of a ``Literal``; the API has some that no key accepts."""
    return Value(accepts=lambda value: isinstance(value, str) and value in get_args(choices), shape="string")


TEXT = Value(accepts=is_text, shape="string")
NUMBER = Value(read=_whole, accepts=is_number, shape="integer")
FRACTION = Value(read=lambda value: float(cast("int | float", value)))
COUNT = Value(read=_whole, accepts=is_amount, shape="integer")
TRUTH = Value(accepts=_is_truth, shape="boolean")
DURATION = Value(
    read=lambda value: seconds(cast("int | float | str", value)),
    accepts=is_amount,
    write=lambda value: duration(cast("int", value)),
    shape="integer",
)
VOLUME = Value(
    read=lambda value: volume_in_gb(cast("int | float | str", value)),
    accepts=is_amount,
    write=lambda value: f"{value}GB",
    shape="integer",
)
SIZE = Value(read=lambda value: size_in_bytes(cast("int | float | str", value)))
PROCESSES = Value(read=lambda value: value if value == "auto" else _whole(value))
TEXTS = Value(read=_each, accepts=_are_texts, shape="list")
WRITTEN_TEXTS = Value(read=_each, accepts=_are_texts, shape="list", as_written=True)
WORDS_BY_NAME = Value()
WRITTEN_MAP = Value(accepts=_are_named_texts, shape="map", as_written=True)
TYPED_MAP = Value(accepts=_are_named_texts, shape="map", untouched=True)
PATCH = Value(untouched=True)
UNREAD = Value()
"""The form of keys that are not part of a job: the layers of a spec, and its version."""


Form = Union[Value, Structure, Structures, Named, Choice]

API = "the SageMaker API"
SDK = "the SageMaker Python SDK"
SKYPILOT = "SkyPilot"
AZURE = "Azure ML"
KUBERNETES = "Kubernetes"
COG = "cog"
SAGIFY = "sagify"
ANYONE = ""
TOOLS = (API, SDK, SKYPILOT, AZURE, KUBERNETES, COG, SAGIFY, ANYONE)
"""Tools whose names for keys authors may use, in order of precedence; `ANYONE` is no specific tool."""


@dataclass(frozen=True, slots=True)
class Row:
    """A key by its dotted ``path``; ``*`` is a name that the author chooses, or any item of a list.

    ``form``: how its value is read from a spec, and written from a request. ``member``: the request member, dotted too;
    empty if it has none of its own. It is sent and imported without more code. ``irregular``: a function of
    `plan.request_planning` sends it, and one of `importer.parts` imports it. ``kind``: the kind of
    change that `diff` reports for it. ``called``: the name of its member there; empty: that of the member around it.
    ``group``: an imported spec lists a top-level key next to those of the same group; empty: separately. ``words``:
    tool → the name of the key there. The name of its member need not be listed.
    """

    path: str
    form: Form
    member: str = ""
    kind: str = ""
    called: str = ""
    group: str = ""
    irregular: bool = False
    words: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def steps(self) -> tuple[str, ...]:
        """The member as a path into a request; empty if there is none."""
        return tuple(self.member.split(".")) if self.member else ()

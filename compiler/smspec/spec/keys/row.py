"""One key of the spec: everything regular about it, for code that reads, sends, imports, or compares keys.

Most of that is the form of its value: how it is read from a spec, and which values of a request can be written in it.
Durations are ``90s 15m 6h 2d``, or a bare number of seconds. Of sizes, kB MB GB are powers of 1000, KiB MiB GiB of
1024; a bare number is bytes, or GB of a storage volume.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Union, cast, get_args

from smspec.diagnostics.quoting import SECONDS_OF_UNITS, duration
from smspec.source.frozen import dataclass, field

_LONGEST = 60
"""Characters of a string that may be a duration; a long one of spaces would take the pattern minutes."""

_BYTES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_GB = 10**9

Convert = Callable[[object], object]

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


def seconds(value: int | float | str) -> int:
    """Return the seconds of a duration that matches the schema."""
    if isinstance(value, str):
        return int(value[:-1]) * SECONDS_OF_UNITS[value[-1]]
    return int(value)


def duration_meant(text: str) -> str | None:
    """Return the duration that ``1h30m``, ``1.5 hours``, or ``00:15:00`` probably means, or None."""
    clock = re.fullmatch(r"([0-9]{1,4}):([0-5][0-9])(?::([0-5][0-9]))?", text)
    if clock:
        hours, minutes, rest = (int(part or 0) for part in clock.groups())
        return _written(hours * 3600 + minutes * 60 + rest)
    if len(text) > _LONGEST:
        return None
    total = 0.0
    read = 0
    for match in re.finditer(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([A-Za-z]+)\s*", text):
        unit = match[2].lower()[:1]
        if match.start() != read or unit not in SECONDS_OF_UNITS or not _is_unit(match[2].lower()):
            return None
        total += float(match[1]) * SECONDS_OF_UNITS[unit]
        read = match.end()
    return _written(int(total)) if read and read == len(text) and total == int(total) else None


def _is_unit(word: str) -> bool:
    names = {"s": "seconds secs", "m": "minutes mins", "h": "hours hrs", "d": "days"}[word[0]]
    return any(name in (word, f"{word}s") or word == name[:1] for name in names.split())


def _written(total: int) -> str | None:
    return duration(total) if total else None


def size_in_bytes(value: int | float | str) -> int:
    """Return the bytes of a size that matches the schema."""
    if isinstance(value, str):
        unit = value.lstrip("0123456789")
        return int(value.removesuffix(unit)) * _BYTES[unit]
    return int(value)


def volume_in_gb(value: int | float | str) -> int:
    """Return the whole GB of a storage volume that matches the schema; a bare number is GB already."""
    return size_in_bytes(value) // _GB if isinstance(value, str) else int(value)


def size_meant(text: str) -> str | None:
    """Return the size that ``32 mb``, ``32M``, ``0.5GB``, or ``32`` probably means, or None."""
    if re.fullmatch("[1-9][0-9]{0,2}", text):
        return f"{text}MB"  # too few bytes to be a size
    total = _bytes_meant(text)
    if not total:
        return None
    binary = "i" in text.lower()
    for unit in ("GiB", "MiB", "KiB") if binary else ("GB", "MB", "kB"):
        if total % _BYTES[unit] == 0:
            return f"{total // _BYTES[unit]}{unit}"
    return None


def volume_meant(text: str) -> str | None:
    """Return the whole GB, rounded up, that ``500MB``, ``50 gb``, or ``1TB`` probably means, or None."""
    total = _bytes_meant(text)
    return f"{-(-total // _GB)}GB" if total else None


def _bytes_meant(text: str) -> int | None:
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*([kmgt])(i?)b?(?:ytes?)?\s*", text, re.IGNORECASE)
    if not match:
        return None
    power = "kmgt".index(match[2].lower()) + 1
    total = float(match[1]) * (1024 if match[3] else 1000) ** power
    return int(total) if total == int(total) else None


def _as_is(value: object) -> object:
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueForm:
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
class StructureForm:
    """A mapping of keys with rows. ``short``: the key that a string sets."""

    kind: Callable[..., object]
    short: str = ""


@dataclass(frozen=True, slots=True)
class StructureListForm:
    """A list of mappings of keys with rows."""

    kind: Callable[..., object]


@dataclass(frozen=True, slots=True)
class NamedForm:
    """Mappings of keys with rows, under names that the author chooses."""

    kind: Callable[..., object]
    short: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceForm:
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


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)


def _are_named_texts(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(item, str) for item in value.values())


def word(choices: object) -> ValueForm:
    """Return the form of a value that is one of the strings of a ``Literal``; the API has some that no key accepts."""
    return ValueForm(accepts=lambda value: isinstance(value, str) and value in get_args(choices), shape="string")


TEXT = ValueForm(accepts=is_text, shape="string")
NUMBER = ValueForm(read=_whole, accepts=is_number, shape="integer")
FRACTION = ValueForm(read=lambda value: float(cast("int | float", value)))
COUNT = ValueForm(read=_whole, accepts=is_amount, shape="integer")
TRUTH = ValueForm(accepts=lambda value: isinstance(value, bool), shape="boolean")
DURATION = ValueForm(
    read=lambda value: seconds(cast("int | float | str", value)),
    accepts=is_amount,
    write=lambda value: duration(cast("int", value)),
    shape="integer",
)
VOLUME = ValueForm(
    read=lambda value: volume_in_gb(cast("int | float | str", value)),
    accepts=is_amount,
    write=lambda value: f"{value}GB",
    shape="integer",
)
SIZE = ValueForm(read=lambda value: size_in_bytes(cast("int | float | str", value)))
PROCESSES = ValueForm(read=lambda value: value if value == "auto" else _whole(value))
TEXTS = ValueForm(read=_each, accepts=_are_texts, shape="list")
WRITTEN_TEXTS = ValueForm(read=_each, accepts=_are_texts, shape="list", as_written=True)
WORDS_BY_NAME = ValueForm()
WRITTEN_MAP = ValueForm(accepts=_are_named_texts, shape="map", as_written=True)
TYPED_MAP = ValueForm(accepts=_are_named_texts, shape="map", untouched=True)
PATCH = ValueForm(untouched=True)
UNREAD = ValueForm()
"""The form of keys that are not part of a job: the layers of a spec, and its version."""


KeyForm = Union[ValueForm, StructureForm, StructureListForm, NamedForm, ChoiceForm]


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key by its dotted ``path``; ``*`` is a name that the author chooses, or any item of a list.

    ``form``: how its value is read from a spec, and written from a request. ``member``: the request member, dotted too;
    empty if it has none of its own. It is sent and imported without more code. ``irregular``: a function of
    `plan.request_planning` sends it, and one of `importer.parts` imports it. ``kind``: the kind of
    change that `diff` reports for it. ``called``: the name of its member there; empty: that of the member around it.
    ``group``: an imported spec lists a top-level key next to those of the same group; empty: separately. ``words``:
    tool → the name of the key there. The name of its member need not be listed.
    """

    path: str
    form: KeyForm
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

    def written(self, value: object) -> object:
        """Return a value of a request as a spec has it: ``8h`` for 28800 seconds."""
        return self.form.write(value) if isinstance(self.form, ValueForm) and value is not None else value

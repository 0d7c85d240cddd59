"""Put keys into a request as their rows define: each at its member, with the key as its origin."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from smspec.plan.draft import Draft
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import Row, Structure, Structures


@dataclass(frozen=True, slots=True)
class SentKey:
    """What sends a key: ``member`` is its path in the draft, ``below`` are the keys of its value, or of each item."""

    name: str
    member: Path
    below: tuple[SentKey, ...] = ()
    is_structure: bool = False
    is_list: bool = False


@functools.cache
def sent_keys(path: str, outside: int = 0) -> tuple[SentKey, ...]:
    """Return the keys below a path of the spec that their rows send; a function handles each irregular one.

    ``outside``: how many steps of a member are outside the draft.
    """
    return tuple(_sent_key(row, outside) for row in rows_below(path) if row.member and not row.irregular)


def _sent_key(row: Row, outside: int) -> SentKey:
    member = row.steps[outside:]
    if isinstance(row.form, Structure):
        return SentKey(row.name, member, sent_keys(row.path, outside), is_structure=True)
    if isinstance(row.form, Structures):
        return SentKey(row.name, member, sent_keys(f"{row.path}.*", len(row.steps) + 1), is_list=True)
    return SentKey(row.name, member)


def put_keys(draft: Draft, keys: Iterable[SentKey], holder: object, here: Path) -> None:
    """Put the keys of a mapping; ``holder`` is its value in the model, ``here`` its path in the spec."""
    for key in keys:
        value, origin, member = getattr(holder, key.name), (*here, key.name), key.member
        if key.is_structure:
            draft.place(member, origin)
            if value is not None:
                put_keys(draft, key.below, value, origin)
        elif key.is_list and isinstance(value, tuple):
            _put_items(draft, key, value, origin)
        elif value is None:
            draft.place(member, origin)
        else:
            draft.put(member, value, origin)
            if isinstance(value, tuple | dict):
                for part in value if isinstance(value, dict) else range(len(value)):
                    draft.place((*member, part), (*origin, part))


def _put_items(draft: Draft, key: SentKey, value: tuple[object, ...], origin: Path) -> None:
    items = [Draft() for _ in value]
    for index, (item, holder) in enumerate(zip(items, value, strict=True)):
        item.place((), (*origin, index))
        put_keys(item, key.below, holder, (*origin, index))
    draft.put(key.member, tuple(item.members for item in items), origin)
    for index, item in enumerate(items):
        for path, there in item.origins.items():
            draft.place((*key.member, index, *path), there)

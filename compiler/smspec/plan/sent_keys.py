"""Put keys into a request as their rows define: each at its member, with the key as its origin."""

from __future__ import annotations

from collections.abc import Iterable

from smspec.plan.draft import Draft
from smspec.source import Path
from smspec.spec.keys import rows_below
from smspec.spec.keys.row import Row
from smspec.spec.keys.value_forms import Structure, Structures


def put_keys(draft: Draft, rows: Iterable[Row], holder: object, here: Path, outside: int = 0) -> None:
    """Put the keys of a mapping; ``holder`` is its value in the model, ``here`` its path in the spec.

    ``outside``: how many steps of a member are outside the draft. An irregular row is handled by its function.
    """
    for row in rows:
        if row.member and not row.irregular:
            _put(draft, row, getattr(holder, row.name), (*here, row.name), outside)


def _put(draft: Draft, row: Row, value: object, origin: Path, outside: int) -> None:
    member: Path = row.steps[outside:]
    if isinstance(row.form, Structure):
        draft.place(member, origin)
        if value is not None:
            put_keys(draft, rows_below(row.path), value, origin, outside)
    elif isinstance(row.form, Structures) and isinstance(value, tuple):
        items = [_item(row, item, (*origin, index)) for index, item in enumerate(value)]
        draft.put(member, tuple(item.members for item in items), origin)
        for index, item in enumerate(items):
            for path, there in item.origins.items():
                draft.place((*member, index, *path), there)
    else:
        draft.put(member, value, origin)
        parts: Iterable[str | int] = range(len(value)) if isinstance(value, tuple) else ()
        for part in value if isinstance(value, dict) else parts:
            draft.place((*member, part), (*origin, part))


def _item(row: Row, item: object, origin: Path) -> Draft:
    draft = Draft()
    draft.place((), origin)
    put_keys(draft, rows_below(f"{row.path}.*"), item, origin, len(row.steps) + 1)
    return draft

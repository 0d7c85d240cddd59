"""The names of a program at one place: copies for branches, and what is known after either branch."""

from __future__ import annotations

from smspec.importer.sdk.values import Collection, Entries, Instance, Items, Method, Unknown, Value, same

Names = dict[str, Value]


def copied(value: Value, memo: dict[int, Value]) -> Value:
    """Return a copy of a collection, with the collections in it; other values cannot change and are shared."""
    if isinstance(value, Method):
        return Method(copied(value.owner, memo), value.name)
    if not isinstance(value, Collection):
        return value
    found = memo.get(id(value))
    if found is not None:
        return found
    copy: Items | Entries | Instance
    if isinstance(value, Items):
        copy = memo[id(value)] = Items([], is_fixed=value.is_fixed)
        copy.values = [copied(item, memo) for item in value.values]
    elif isinstance(value, Entries):
        copy = memo[id(value)] = Entries({})
        copy.values = {key: copied(item, memo) for key, item in value.values.items()}
    else:
        copy = memo[id(value)] = Instance(value.kind, [], {}, value.place)
        copy.name = value.name
        copy.positional = [copied(item, memo) for item in value.positional]
        copy.arguments = {key: copied(item, memo) for key, item in value.arguments.items()}
    copy.is_known = value.is_known
    return copy


def copied_names(names: Names, memo: dict[int, Value]) -> Names:
    """Return a copy of all names and their values."""
    return {name: copied(value, memo) for name, value in names.items()}


def merge_names(names: Names, others: Names, *, keeps_new: bool) -> None:
    """Keep what is equal after two branches; ``names`` is changed.

    ``keeps_new``: a name that only the first branch has keeps its value.
    """
    done: set[tuple[int, int]] = set()
    for name in list(dict.fromkeys((*names, *others))):
        if name in names and name in others:
            names[name] = merged(names[name], others[name], done, name)
        elif name in others or not keeps_new:
            names[name] = Unknown(name)


def merged(one: Value, two: Value, done: set[tuple[int, int]], name: str = "") -> Value:
    """Return what is known of a value after two branches. A collection becomes what both have, in place."""
    if one is two or (not isinstance(one, Collection) and same(one, two)):
        return one
    if isinstance(one, Unknown) and isinstance(two, Unknown):
        return one if one.is_text <= two.is_text else two
    if not _is_mergeable(one, two):
        forget(one)
        return Unknown(name)
    if (id(one), id(two)) in done:
        return one
    done.add((id(one), id(two)))
    if isinstance(one, Items) and isinstance(two, Items):
        one.is_known = one.is_known and two.is_known and len(one.values) == len(two.values)
        one.values = [merged(a, b, done) for a, b in zip(one.values, two.values, strict=False)]
    elif isinstance(one, Entries) and isinstance(two, Entries):
        one.is_known = one.is_known and two.is_known and list(one.values) == list(two.values)
        one.values = {k: merged(v, two.values[k], done, str(k)) for k, v in one.values.items() if k in two.values}
    elif isinstance(one, Instance) and isinstance(two, Instance):
        one.is_known = one.is_known and two.is_known
        one.positional = [merged(a, b, done) for a, b in zip(one.positional, two.positional, strict=True)]
        names = list(dict.fromkeys((*one.arguments, *two.arguments)))
        one.arguments = {
            k: merged(one.arguments[k], two.arguments[k], done, k)
            if k in one.arguments and k in two.arguments
            else Unknown(k)
            for k in names
        }
    return one


def _is_mergeable(one: Value, two: Value) -> bool:
    if isinstance(one, Instance) and isinstance(two, Instance):
        return (one.kind, one.place) == (two.kind, two.place) and len(one.positional) == len(two.positional)
    return isinstance(one, Items | Entries) and type(one) is type(two)


def forget(value: Value, done: set[int] | None = None) -> None:
    """Treat a collection, and all that it contains, as changed by unknown code."""
    seen = set[int]() if done is None else done
    if isinstance(value, Method):
        value = value.owner
    if not isinstance(value, Collection) or id(value) in seen:
        return
    seen.add(id(value))
    value.is_known = False
    inner = (
        value.values
        if isinstance(value, Items)
        else value.values.values()
        if isinstance(value, Entries)
        else [*value.positional, *value.arguments.values()]
    )
    for item in inner:
        forget(item, seen)

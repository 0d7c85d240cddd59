"""``[defaults]`` of smspec.toml: values for keys that specs do not set, as the lowest layer of every spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache

from smspec.diagnostics import Rule
from smspec.diagnostics.quoting import quoted, secret_of
from smspec.diagnostics.suggestions import did_you_mean
from smspec.organization.organization_config import Fault, OrganizationConfig, TomlPlaces, rejected_values
from smspec.source import Document, Mapping, Node, Path, Scalar, Sequence, dotted
from smspec.source.frozen import replace
from smspec.spec.layers import Fold

INVALID_DEFAULT = Rule("SM754", "invalid default")

TABLE = "defaults"
KEYS = (
    *("account", "environment", "hosts", "network", "output", "region", "retries", "role", "spot", "stopping"),
    "tags",
)
"""Keys that can have a default: where a job runs, not what it does. None of them contains a path of a file."""

_OF_A_GROUP = ("instance_type", "count")


def default_layers(files: Iterable[OrganizationConfig]) -> Document | None:
    """Return the defaults of all files, merged key by key: those of an inner file are above those of an outer one."""
    layers = [layer for layer in map(default_layer, files) if layer is not None]
    if len(layers) < 2:
        return next(iter(layers), None)
    spec = Fold().under(*layers).spec
    assert spec is not None
    return Document(spec, tuple(text for layer in reversed(layers) for text in layer.texts))


def default_layer(file: OrganizationConfig) -> Document | None:
    """Return the defaults in a file, with positions; None if it has none. Raise `InvalidInput`."""
    table = file.tables.get(TABLE)
    if table is None or table == {}:
        return None
    faults = [*_faults(table)]
    if faults:
        raise rejected_values(file, faults, INVALID_DEFAULT)
    places = TomlPlaces(file)
    return Document(_node(table, (TABLE,), places), (places.text,))


@lru_cache(maxsize=16)  # specs share their defaults
def defaults_for_several_types(layer: Document) -> Document:
    """Return the defaults for a spec with `hosts.groups` or `hosts.any_of`: each item has its own instances."""
    hosts = layer.node(("hosts",))
    if not isinstance(hosts, Mapping):
        return layer
    rest = replace(hosts, entries=tuple(entry for entry in hosts.entries if entry[0].text not in _OF_A_GROUP))
    assert isinstance(layer.root, Mapping)
    entries = tuple((key, rest if value is hosts else value) for key, value in layer.root.entries)
    return Document(replace(layer.root, entries=entries), layer.texts)


def _faults(table: object) -> Iterator[Fault]:
    if not isinstance(table, dict):
        yield (TABLE,), f"`{TABLE}` is not a table", f"write `[{TABLE}]` and below it `role = …`"
        return
    for key, value in table.items():
        if key in KEYS:
            yield from _faults_in(value, (TABLE, key))
            continue
        help = did_you_mean(key, KEYS) or f"remove it, or use {', '.join(KEYS)}"
        yield (TABLE, key), f"{quoted(key)} cannot have a default", help


def _faults_in(value: object, path: tuple[str, ...]) -> Iterator[Fault]:
    """Yield the faults in the value of a key: what a spec cannot contain, and what no file may."""
    name = dotted(path)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _faults_in(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from _faults_in(item, path)
    elif isinstance(value, str) and "${{" in value:
        yield path, f"`{name}` contains a variable", "write the value; specs declare their own variables"
    elif isinstance(value, str) and secret_of(path[-1], value) is not None:
        yield path, f"`{name}` looks like a secret", "remove it; all who read the repository can read it"
    elif not isinstance(value, str | bool | int | Decimal):
        yield path, f"`{name}` is a date or a time", "write it as a string, in quotes"


def _node(value: object, path: Path, places: TomlPlaces) -> Node:
    """Return a value as a tree; parts without a position of their own have that of the key."""
    span = places.of(path)
    if isinstance(value, dict):
        entries = (
            (Scalar(key, key, False, places.of((*path, key))), _node(item, (*path, key), places))
            for key, item in value.items()
        )
        return Mapping(tuple(entries), span)
    if isinstance(value, list):
        return Sequence(tuple(_node(item, path, places) for item in value), span)
    if isinstance(value, str):
        return Scalar(value, value, False, span)
    if isinstance(value, bool):
        return Scalar("true" if value else "false", value, True, span)
    assert isinstance(value, int | Decimal)
    return Scalar(str(value), value if isinstance(value, int) else float(value), True, span)

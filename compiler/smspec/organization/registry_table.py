"""``[registry]`` of smspec.toml: how `smspec build --push` creates repositories in Amazon ECR."""

from __future__ import annotations

from itertools import islice

from smspec.diagnostics.diagnostic import MOST
from smspec.diagnostics.quoting import quoted
from smspec.diagnostics.suggestions import nearest
from smspec.organization.toml_faults import Fault

TABLE = "registry"
_SWITCHES = ("create", "scan_on_push", "immutable_tags")
_KEEP_IMAGES = "keep_images"
_KEYS = (*_SWITCHES, _KEEP_IMAGES)
_MOST_IMAGES = 100_000


def read_registry(table: object) -> tuple[dict[str, bool | int], list[Fault]]:
    """Return the settings that the table has, and the faults in it."""
    if not isinstance(table, dict):
        return {}, [((TABLE,), f"`{TABLE}` is not a table", f"write `[{TABLE}]` and below it its keys")]
    unknown = (key for key in table if key not in _KEYS)
    faults: list[Fault] = [_unknown(key) for key in islice(unknown, MOST)]
    settings: dict[str, bool | int] = {}
    for name in _SWITCHES:
        value = table.get(name)
        if value is None:
            continue
        if not isinstance(value, bool):
            faults.append(((TABLE, name), f"`{TABLE}.{name}` must be true or false", "use `true` or `false`"))
        settings[name] = value is not False
    most = table.get(_KEEP_IMAGES)
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= _MOST_IMAGES):
        message = f"`{TABLE}.{_KEEP_IMAGES}` must be a number of images from 1 to {_MOST_IMAGES:,}"
        faults.append(((TABLE, _KEEP_IMAGES), message, f"write `{_KEEP_IMAGES} = 100`"))
    elif most is not None:
        settings[_KEEP_IMAGES] = most
    return settings, faults


def _unknown(key: str) -> Fault:
    near = nearest(key, _KEYS)
    return (
        (TABLE, key),
        f"unknown key {quoted(f'{TABLE}.{key}')}",
        f"did you mean `{near}`?" if near else (f"use {', '.join(_KEYS)}"),
    )

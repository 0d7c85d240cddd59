"""Write `hosts.any_of` from specs that are alike but for their hosts."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.importer.imported import RequestNotFound

_HOSTS = ("hosts", "spot")
_OWN = ("instance_type", "count", "volume")


def with_alternatives(specs: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return the first spec with the hosts of all as its alternatives: what all share is in `hosts`.

    Raise `RequestNotFound` if they differ in more than that.
    """
    hosts = [_mapping(spec.get("hosts")) for spec in specs]
    shared = {key: value for key, value in hosts[0].items() if all(each.get(key) == value for each in hosts)}
    shared.pop("instance_type", None)
    items: list[object] = []
    for spec, each in zip(specs, hosts, strict=True):
        own = {key: value for key, value in each.items() if key not in shared}
        unlike = [f"hosts.{key}" for key in own if key not in _OWN]
        unlike += [key for key in {**specs[0], **spec} if key not in _HOSTS and spec.get(key) != specs[0].get(key)]
        if unlike:
            raise RequestNotFound(f"the alternatives differ in `{unlike[0]}`, but those of `hosts.any_of` share it")
        items.append({**own, **({"spot": spec["spot"]} if "spot" in spec else {})})
    rest = {key: value for key, value in specs[0].items() if key != "spot"}
    return {**rest, "hosts": {**shared, "any_of": items}}


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}

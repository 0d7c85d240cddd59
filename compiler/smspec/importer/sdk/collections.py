"""Collections of tensors that Debugger saves."""

from __future__ import annotations

from smspec.importer.sdk.arguments import arguments_of
from smspec.importer.sdk.values import Instance, Items, Value
from smspec.importer.sdk.variables import NotResolved, Variables

NOT_KNOWN = "its collections are known only when the program runs"


def collections(configs: Value, variables: Variables) -> list[object]:
    """Return CollectionConfigurations; raise `NotResolved` if they are not known."""
    if configs is None:
        return []
    if not isinstance(configs, Items) or not configs.is_known:
        raise NotResolved(NOT_KNOWN)
    found: list[object] = []
    for config in configs.values:
        given = arguments_of(config) if isinstance(config, Instance) and config.is_known else {}
        if "name" not in given or not given.keys() <= {"name", "parameters"}:
            raise NotResolved(NOT_KNOWN)
        item = {"CollectionName": variables.json(given["name"], "name")}
        if given.get("parameters") is not None:
            item["CollectionParameters"] = variables.json(given["parameters"], "parameters")
        found.append(item)
    return found

"""Set members of a request by their paths."""

from __future__ import annotations


def put(request: dict[str, object], path: tuple[str, ...], value: object) -> None:
    """Set the member at ``path``; objects that are missing on the way are created."""
    holder = request
    for name in path[:-1]:
        inner = holder.setdefault(name, {})
        if not isinstance(inner, dict):
            return
        holder = inner
    holder[path[-1]] = value

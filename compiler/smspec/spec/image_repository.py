"""How the repository of an image, in ECR or a different registry, is written."""

from __future__ import annotations


def names_registry(repository: str) -> bool:
    """Return whether a repository begins with a registry, as Docker decides: its first part looks like a host name."""
    first, slash, _ = repository.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")

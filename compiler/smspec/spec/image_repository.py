"""How the repository of an image, in ECR or another registry, is written."""

from __future__ import annotations


def names_registry(repository: str) -> bool:
    """Return whether a repository begins with a registry, by the rule of Docker: its first part looks like a host."""
    first, slash, _ = repository.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")

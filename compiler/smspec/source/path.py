"""The path of a part of a tree: the keys and indexes that lead to it."""

from __future__ import annotations

import json

Path = tuple["str | int", ...]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def dotted(path: Path) -> str:
    """Return a path in dotted form: ``channels.train.input_mode``, ``Tags[0].Key``, ``tags["a b"]``."""
    words: list[str] = []
    for step in path:
        if isinstance(step, int):
            words.append(f"[{step}]")
        elif step and _PLAIN.issuperset(step):
            words.append(f".{step}" if words else step)
        else:
            words.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return "".join(words)


def is_near(path: Path, other: Path) -> bool:
    """Return whether one path leads to the other, or is the same."""
    length = min(len(path), len(other))
    return path[:length] == other[:length]

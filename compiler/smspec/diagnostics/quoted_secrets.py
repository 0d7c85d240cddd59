"""Mask secrets that only their path in a document identifies, in messages that quote them."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics.secret_spans import withheld_spans
from smspec.diagnostics.secrets import is_withheld, names_a_secret, option_name
from smspec.source import Document, Node, Path, Scalar
from smspec.source.node import Mapping, Sequence

_MASK = "*"
_SHORTEST = 4
"""Characters; a shorter secret is masked only where it is the whole quotation."""
_SHORTEST_CUT = 8
_LONGEST_CUT = 200
_MOST_SCALARS = 200


def secrets_at(document: Document, path: Path) -> list[str]:
    """Return the secret parts of the value at a path, and of what is below a secret name on the path."""
    name, top, node = "", None, None
    parent: Node | None = document.root
    for length, step in enumerate(path, 1):
        node = document.node(path[:length])
        if isinstance(step, str) and names_a_secret(step):
            name, top = step, node
        elif isinstance(parent, Sequence) and isinstance(step, int) and 0 < step < len(parent.items):
            before = parent.items[step - 1]
            option = option_name(before.text) if isinstance(before, Scalar) else ""
            name, top = (option, node) if names_a_secret(option) else (name, top)
        parent = node
    found = [scalar.text for scalar in _scalars(top) if is_withheld(name, scalar.text)]
    for scalar in _scalars(node):
        found += [scalar.text[start:stop] for start, stop in withheld_spans(scalar.text)]
    return sorted({secret for secret in found if secret.strip()}, key=len, reverse=True)


def without_quoted(words: str, secrets: list[str]) -> str:
    """Return a message with secrets, or their truncated parts, masked."""
    for secret in secrets:
        if len(secret) < _SHORTEST:
            words = words.replace(f"`{secret}`", f"`{_MASK * len(secret)}`")
            continue
        for length in range(min(len(secret), _LONGEST_CUT), min(len(secret), _SHORTEST_CUT) - 1, -1):
            piece = secret if length == min(len(secret), _LONGEST_CUT) else secret[:length]
            if piece in words:
                words = words.replace(piece, _MASK * len(piece))
                break
    return words


def _scalars(node: Node | None) -> Iterator[Scalar]:
    """Yield the first scalars of a value."""
    waiting = [node] if node is not None else []
    left = _MOST_SCALARS
    while waiting and left:
        left -= 1
        current = waiting.pop(0)
        if isinstance(current, Scalar):
            yield current
        elif isinstance(current, Mapping):
            waiting += [value for _, value in current.entries]
        else:
            waiting += current.items

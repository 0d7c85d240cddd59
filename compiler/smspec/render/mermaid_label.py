"""A text as a label of a Mermaid flowchart."""

from __future__ import annotations

import string

from smspec.diagnostics.masking import without_tokens
from smspec.diagnostics.visible import visible

_PLAIN = frozenset(string.ascii_letters + string.digits + "-_./,: ()…")

# Mermaid takes the last `;` off a line that looks as if it styled a node, and so the end off an entity.
_STYLING = {"style": "st#121;le", "classDef": "class#68;ef"}


def mermaid_label(text: str) -> str:
    """Return a text in quotes, in which whatever might mean something to Mermaid, or to HTML, is a number."""
    label = "".join(
        character if character in _PLAIN else f"#{ord(character)};" for character in visible(without_tokens(text))
    )
    for word, entity in _STYLING.items():
        label = label.replace(word, entity)
    return f'"{label}"'

"""Format a text as a label of a Mermaid flowchart."""

from __future__ import annotations

import string

from smspec.diagnostics.masking import without_tokens
from smspec.diagnostics.visible import visible

_PLAIN = frozenset(string.ascii_letters + string.digits + "-_./,: ()…")

# Mermaid removes the last `;` of a line that looks like a style, and so breaks an entity at its end.
_STYLING = {"style": "st#121;le", "classDef": "class#68;ef"}


def mermaid_label(text: str) -> str:
    """Return a text in quotes, with all characters that have a meaning in Mermaid or HTML as numeric entities."""
    label = "".join(
        character if character in _PLAIN else f"#{ord(character)};" for character in visible(without_tokens(text))
    )
    for word, entity in _STYLING.items():
        label = label.replace(word, entity)
    return f'"{label}"'

"""Unquote values of ENV and LABEL by the documented rules of BuildKit."""

from __future__ import annotations


def meaning(word: str) -> str:
    """Return what a Dockerfile word means without any variable defined; a bare ``$`` would be an expansion."""
    result = []
    quoted = False
    at = 0
    while at < len(word):
        character = word[at]
        if character == '"':
            quoted = not quoted
        elif character == "\\" and (not quoted or word[at + 1 : at + 2] in ('"', "$", "\\")):
            at += 1
            assert at < len(word), "a backslash at the end escapes the line break"
            result.append(word[at])
        else:
            assert character != "$", "this would be expanded"
            assert quoted or not character.isspace(), "this would be two words"
            assert quoted or character != "'", "this would open another kind of quote"
            result.append(character)
        at += 1
    assert not quoted
    return "".join(result)

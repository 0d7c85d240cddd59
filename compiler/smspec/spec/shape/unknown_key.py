"""What an author probably meant by an unknown key."""

from __future__ import annotations

from smspec.diagnostics.suggestions import nearest
from smspec.source import Path
from smspec.source.frozen import dataclass
from smspec.spec.schema.keys import KeyPath, key_path, keys_in, spec_keys, written_key
from smspec.spec.shape.foreign_keys import Hint, hint


@dataclass(frozen=True, slots=True)
class Suggestion:
    """``key`` is the path of the key that was meant; ``tool`` is the tool that uses the word, empty for a typo."""

    key: KeyPath
    tool: str = ""
    is_hint: bool = False

    def named_from(self, mapping: Path) -> str:
        """Return the name of the key as seen from ``mapping``."""
        return self.key[-1] if self.key[:-1] == key_path(mapping) else written_key(self.key)


def suggestion(word: str, mapping: Path) -> Suggestion | None:
    """Return what ``word`` was meant to be in the mapping at the path ``mapping``, or None."""
    here = key_path(mapping)
    if here is None:
        return None
    near = nearest(word, keys_in(here))
    known = hint(word)
    if known and not (near and _is_same(word, near)):
        key = _fitting(known, here)
        return Suggestion(key) if key[-1] == word else Suggestion(key, known.tool, is_hint=True)
    if near:
        return Suggestion((*here, near))
    elsewhere = _misplaced(word, here)
    return Suggestion(elsewhere) if elsewhere else None


def _is_same(word: str, name: str) -> bool:
    return word.replace("_", "").replace("-", "").lower() == name.replace("_", "")


def _fitting(known: Hint, here: KeyPath) -> KeyPath:
    """Return the key of a hint that belongs to this mapping; else one near it; else the first."""
    keys = [tuple(key.split(".")) for key in known.keys]
    return max(keys, key=lambda key: (key[:-1] == here, key[:1] == here[:1]))


def _misplaced(word: str, here: KeyPath) -> KeyPath | None:
    """Return the key of this name that belongs somewhere else, if there is only one."""
    found = [key for key in spec_keys() if _is_same(word, key[-1])]
    near = [key for key in found if here and key[0] == here[0]] or [key for key in found if len(key) <= 2]
    return min(near, key=len) if near else None

"""The names of a module that may be the handler, as far as its text shows."""

from __future__ import annotations

import re

# With any of these, a module may have names that do not occur in its text.
_BY_OTHER_MEANS = re.compile(
    r"\bimport\s*\(?\s*\*|\b(?:exec|eval|globals|locals|vars|setattr|__getattr__|__dict__|sys\s*\.\s*modules)\b"
)
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


def lacks(text: str, name: str) -> bool:
    """Return whether a module certainly has nothing called ``name``: the word does not occur in its text."""
    if re.search(rf"\b{re.escape(name)}\b", text) or _BY_OTHER_MEANS.search(text):
        return False
    if text.isascii():
        return True
    import unicodedata  # imported late, and only for a likely finding: the module is slow to load

    # Python normalizes letters that only look different, such as `ﬁ` and `fi`.
    return not re.search(rf"\b{re.escape(name)}\b", unicodedata.normalize("NFKC", text))


def definitions(text: str) -> tuple[str, ...]:
    """Return the public functions and classes of a module, in order."""
    return tuple(name for name in dict.fromkeys(_DEFINITION.findall(text)) if not name.startswith("_"))

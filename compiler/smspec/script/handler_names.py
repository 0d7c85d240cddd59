"""Which names a module has for the function that is called with the job, as far as its text tells."""

from __future__ import annotations

import re

# With any of these in it, a module may have names that are written nowhere.
_BY_OTHER_MEANS = re.compile(
    r"\bimport\s*\(?\s*\*|\b(?:exec|eval|globals|locals|vars|setattr|__getattr__|__dict__|sys\s*\.\s*modules)\b"
)
_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


def lacks(text: str, name: str) -> bool:
    """Return whether a module surely has nothing called ``name``: the word is nowhere in its text."""
    if re.search(rf"\b{re.escape(name)}\b", text) or _BY_OTHER_MEANS.search(text):
        return False
    if text.isascii():
        return True
    import unicodedata  # late, and only for what is nearly told: the module is a file of its own to load

    # Python takes letters that only look different, such as `ﬁ` and `fi`, for the same.
    return not re.search(rf"\b{re.escape(name)}\b", unicodedata.normalize("NFKC", text))


def definitions(text: str) -> tuple[str, ...]:
    """Return the functions and classes of a module that others may use, in their order."""
    return tuple(name for name in dict.fromkeys(_DEFINITION.findall(text)) if not name.startswith("_"))

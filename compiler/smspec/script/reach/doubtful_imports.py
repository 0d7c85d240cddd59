"""The names that imports below a condition, in `try`, or in a function have in the text of a module."""

from __future__ import annotations

import re
from collections.abc import Iterator

_IMPORT = r"^[ \t]{indent}(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*\(?([\w, \t\r\n]+)|import[ \t]+([\w., \t]+))"
_INDENTED = _IMPORT.replace("{indent}", "+")
_ANY = _IMPORT.replace("{indent}", "*")


def doubtful_imports(text: str, *, all_of_them: bool = False) -> Iterator[str]:
    """Yield the names that indented imports may import, as written; ``all_of_them``: those of the other imports, too.

    More names than there are do no harm: they are looked up in the source.
    """
    for match in re.finditer(_ANY if all_of_them else _INDENTED, text, re.MULTILINE):
        module, names, modules = match.groups()
        if modules is not None:
            yield from re.findall(r"[.\w]+", modules)
        else:
            yield module
            dot = "" if module.endswith(".") else "."
            yield from (f"{module}{dot}{name}" for name in re.findall(r"\w+", names))

"""The explanation page of a code: what it reports, why, and what to write instead.

A page is a section of the Markdown file next to its rule: ``rules/channels.md`` has those of ``rules/channels.py``. A
directory whose modules have few rules each has one file, ``codes.md``. The index ``pages.txt`` lists the codes of each
file, so that a list of all codes reads no page, and a page is one file. docs/diagnostics.py writes the index.
"""

from __future__ import annotations

import functools
import os
import re

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_INDEX = os.path.join(_PACKAGE, "diagnostics", "pages.txt")
_HEADING = re.compile(r"^## (SM\d{3}): ", re.MULTILINE)
_REFERENCES = re.compile(r"^## References\n+((?:https://\S+\n+)+)", re.MULTILINE)
_AWS = "https://docs.aws.amazon.com/"


@functools.cache
def _files() -> dict[str, str]:
    """Return the file with the page of each code, in the order of the codes."""
    with open(_INDEX, encoding="utf-8") as index:
        rows = [line.split() for line in index]
    return dict(sorted((code, os.path.join(_PACKAGE, file)) for file, *codes in rows for code in codes))


@functools.cache
def _pages(file: str) -> dict[str, tuple[str, int]]:
    """Return each page in a file, with its headings one level up, as a page of its own has them, and its first line."""
    with open(file, encoding="utf-8", newline="\n") as opened:
        text = opened.read()
    headings = list(_HEADING.finditer(text))
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    return {
        heading[1]: (
            re.sub("^##", "#", text[heading.start() : end], flags=re.MULTILINE).rstrip("\n") + "\n",
            text.count("\n", 0, heading.start()) + 1,
        )
        for heading, end in zip(headings, ends, strict=True)
    }


def explained_codes() -> tuple[str, ...]:
    """Return every code that has a page, in order."""
    return tuple(_files())


def explanation(code: str) -> str | None:
    """Return the page of ``code`` as Markdown, or None if there is no such code."""
    return _pages(_files()[code])[code][0] if code in _files() else None


def explanation_place(code: str) -> tuple[str, int] | None:
    """Return the file with the page of ``code`` on this machine and the line of its heading, or None."""
    return (_files()[code], _pages(_files()[code])[code][1]) if code in _files() else None


@functools.cache
def references(code: str) -> tuple[str, ...]:
    """Return the URLs in the page of ``code``, in the order of the page."""
    found = _REFERENCES.search(explanation(code) or "")
    return tuple(found[1].split()) if found else ()


def reference(code: str) -> str:
    """Return the most relevant URL: of AWS's own documentation if the page has one, or ""."""
    addresses = references(code)
    return next((address for address in addresses if address.startswith(_AWS)), next(iter(addresses), ""))

"""The explanation page of a code: what it reports, why, and what to write instead."""

from __future__ import annotations

import functools
import os
import re

_REFERENCES = re.compile(r"^## References\n+((?:https://\S+\n+)+)", re.MULTILINE)
_AWS = "https://docs.aws.amazon.com/"
_PAGES = os.path.join(os.path.dirname(__file__), "explanations")


@functools.cache
def explained_codes() -> tuple[str, ...]:
    """Return every code that has a page, in order."""
    return tuple(sorted(name[:-3] for name in os.listdir(_PAGES) if name.endswith(".md")))


def explanation(code: str) -> str | None:
    """Return the page of ``code`` as Markdown, or None if there is no such code."""
    if code not in explained_codes():
        return None
    with open(os.path.join(_PAGES, f"{code}.md"), encoding="utf-8", newline="\n") as page:
        return page.read()


def explanation_file(code: str) -> str | None:
    """Return the path of the page of ``code`` on this machine, or None."""
    return os.path.abspath(os.path.join(_PAGES, f"{code}.md")) if code in explained_codes() else None


@functools.cache
def references(code: str) -> tuple[str, ...]:
    """Return the URLs in the page of ``code``, in the order of the page."""
    found = _REFERENCES.search(explanation(code) or "")
    return tuple(found[1].split()) if found else ()


def reference(code: str) -> str:
    """Return the most relevant URL: of AWS's own documentation if the page has one, or ""."""
    addresses = references(code)
    return next((address for address in addresses if address.startswith(_AWS)), next(iter(addresses), ""))

"""What modules of Python's library take from each other when they are imported, in each version from 3.8 to 3.13.

A module of the source with the same name comes first: without the name, the import fails. The table is from imports
beside a copy that lacks one name. A module that an interpreter may import before the script is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator

_EMAIL = ("email.message", "http.client", "http.server", "smtplib", "urllib.request")
_LOGGING = ("asyncio", "concurrent.futures", "logging", "logging.config", "logging.handlers")

TAKEN: dict[str, dict[str, tuple[str, ...]]] = {
    "copy": {"deepcopy": ("smtplib", "xml.etree.ElementTree")},
    "logging": {"getLogger": ("asyncio", "concurrent.futures")},
    "numbers": {"Rational": ("fractions", "statistics")},
    "queue": {"Queue": ("multiprocessing.managers",)},
    "random": {
        "Random": ("multiprocessing.managers", "multiprocessing.pool", "tempfile", "urllib.request"),
        "SystemRandom": ("secrets",),
    },
    "socket": {
        "socket": ("asyncio", "multiprocessing", "multiprocessing.managers", "multiprocessing.pool", "ssl"),
        "_GLOBAL_DEFAULT_TIMEOUT": ("http.client", "http.server", "smtplib", "urllib.request"),
    },
    "string": {"Template": _LOGGING, "ascii_letters": _EMAIL},
    "token": {"EXACT_TOKEN_TYPES": ("asyncio", "dataclasses", "inspect", "unittest")},
}
"""Module → name in it → the modules that cannot be imported without it."""


def taken_by(name: str) -> Iterator[tuple[str, str]]:
    """Yield the modules, each with a name in it, that an import of a module of Python's library needs."""
    parts = name.split(".")
    above = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    for module, names in TAKEN.items():
        yield from ((module, each) for each, users in names.items() if not above.isdisjoint(users))

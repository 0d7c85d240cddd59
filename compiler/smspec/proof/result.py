"""A proof as a value: the request for it, and what was proven."""

from __future__ import annotations

from smspec.diagnostics import Finding
from smspec.source.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """``python`` None: the version of the image, which may be fetched if ``fetches_python``.

    ``seconds``: the limit of each process. ``scratch_dir`` is removed.
    """

    scratch_dir: str
    python: str | None
    fetches_python: bool
    may_install: bool
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was proven, and what is wrong. ``python`` empty: no interpreter was needed. ``parsed`` names the script.

    ``packages``: how many are installed. ``compiled`` and ``imported``: how many modules.
    """

    findings: tuple[Finding, ...] = ()
    python: str = ""
    packages: int = 0
    compiled: int = 0
    imported: int = 0
    parsed: str = ""

    def summary(self) -> str:
        """Return one line."""
        parts = [f"Python {self.python}", count(self.packages, "package")]
        parts.append(f"{count(self.compiled, 'module')} compiled, {self.imported} imported")
        parts.append(f"arguments parsed by {self.parsed}" if self.parsed else "no arguments parsed")
        return ", ".join(parts)


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

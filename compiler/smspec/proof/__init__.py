"""The proof of a job on this machine: its script compiled, imported, and parsed by the Python of its image.

It runs code of the author, in processes that can write nowhere else and reach no network where the system supports it.
`check_job` makes a `Proof` for each different job of a spec: a value with findings, and with what was not proven and
why. A `Proving` is the work for one: syntax, then imports, then the start of the script, which ends at its parser.

`driver` is what the Python of the image runs, and `confinement` the program that takes the network, other processes,
and files from it. Both are standalone: they import nothing of the compiler. The machinery of hosts is that of
`smspec.local`.

The package repeats no check that reads the script: those are `smspec.rules`, and a proof only adds what running shows.
"""

from __future__ import annotations

from smspec.diagnostics import Finding, Rule, count
from smspec.source.frozen import dataclass

UNCOMPILED = Rule("SM543", "module that the interpreter rejects")
FAILED_IMPORT = Rule("SM544", "failing import")
MISSING_LIBRARY = Rule("SM545", "missing shared library")
CRASHED_IMPORT = Rule("SM546", "crashing import")
SLOW_IMPORT = Rule("SM547", "import above the time limit", "warning")
REJECTED_ARGUMENTS = Rule("SM548", "rejected arguments")
FAILED_SCRIPT = Rule("SM549", "failure before the parser")
UNPROVEN = Rule("SM550", "unproven part of a job", "note")
UNCOMPILED_OPTIONAL = Rule("SM551", "rejected module behind a condition", "warning")
LIBRARY_OF_THIS_MACHINE = Rule("SM552", "shared library that only this machine has", "warning")

CODES = frozenset(
    rule.code
    for rule in (
        UNCOMPILED,
        FAILED_IMPORT,
        MISSING_LIBRARY,
        CRASHED_IMPORT,
        SLOW_IMPORT,
        REJECTED_ARGUMENTS,
        FAILED_SCRIPT,
        UNPROVEN,
        UNCOMPILED_OPTIONAL,
        LIBRARY_OF_THIS_MACHINE,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRequest:
    """``python`` None: the version of the image, which may be fetched if ``fetches_python``.

    ``seconds``: the limit of each process. ``scratch_dir`` is removed. ``verbosity`` 1 shows each line of installers.
    """

    scratch_dir: str
    python: str | None
    fetches_python: bool
    may_install: bool
    seconds: float
    verbosity: int = 0


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

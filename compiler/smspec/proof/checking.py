"""Prove a spec with its overlays; jobs with the same environment, source, and inputs are proven once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from smspec.diagnostics import Diagnostic, InvalidInput, count, counted, placed
from smspec.local.python.environment import EnvironmentCache
from smspec.local.running.request import RunFailed
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs, gather, gather_all
from smspec.pipeline.job_findings import standing
from smspec.pipeline.validation_result import check_of_variants
from smspec.proof import CODES, Proof, ProofRequest
from smspec.proof.proving import Proving
from smspec.source import SourceText
from smspec.source.frozen import dataclass

_PARTS = ("HyperParameters", "Environment", "InputDataConfig", "ResourceConfig", "AlgorithmSpecification")
"""Members of a request that a script can see at its start."""

_OF_THE_LOCK = ("SM722", "SM730")
"""Warnings of `validate` about a lock that does not have the packages: others were proven than those that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """``proofs``: the names of overlays, None being the spec on its own, with their result; equal ones are together.

    ``failure``: why a proof could not be made on this machine.
    """

    diagnostics: tuple[Diagnostic, ...]
    texts: tuple[SourceText, ...]
    proofs: tuple[tuple[tuple[str | None, ...], Proof], ...]
    overlays: int
    failure: RunFailed | None = None

    def summary(self) -> str:
        """Return what was proven, a line for each different job, and the number of findings."""
        lines = [_line(names, proof) for names, proof in self.proofs if proof.python]
        jobs = "1 job" + (f" and {count(self.overlays, 'overlay')}" if self.overlays else "")
        good = "no problems found" if self.failure is None else "not completed"
        return "\n".join([*lines, f"checked {jobs}: {counted(self.diagnostics) or good}"])


class _Session:
    """The proofs of one command."""

    def __init__(self, request: ProofRequest, show: Callable[[str], None]) -> None:
        self.proofs: dict[str, tuple[list[str | None], Proof]] = {}
        self.failure: RunFailed | None = None
        self._request = request
        self._show = show
        self._warned: set[str] = set()

    def outcome(self, overlay: str | None, compiled: Compiled) -> Faulty:
        """Return the findings of the proof of a job, located; they may be no errors."""
        key = _key(compiled)
        if key in self.proofs:
            self.proofs[key][0].append(overlay)
        else:
            self.proofs[key] = ([overlay], self._proof(compiled))
        inputs = compiled.inputs
        kept = standing(inputs, compiled.job, self.proofs[key][1].findings)
        findings = [finding for finding in kept if finding.code in CODES]  # `validate` reports unused entries
        of_the_lock = [each for each in compiled.diagnostics if each.code in _OF_THE_LOCK]
        return Faulty(diagnostics=(*of_the_lock, *placed(findings, inputs.document)), texts=compiled.texts)

    def _warn(self, line: str) -> None:
        """Show what is true of all jobs of the command once."""
        if line not in self._warned:
            self._warned.add(line)
            self._show(line)

    def _proof(self, compiled: Compiled) -> Proof:
        with EnvironmentCache() as cache:
            proving = Proving(compiled, self._request, cache, self._show, self._warn)
            try:
                return proving.prove()
            except RunFailed as failure:
                self.failure = self.failure or failure
                return Proof(findings=tuple(proving.findings))


def check_job(
    path: str,
    overlay: str | None,
    settings: Mapping[str, str],
    inputs: InputCache,
    request: ProofRequest,
    show: Callable[[str], None],
) -> CheckResult:
    """Prove the spec at ``path`` with the requested overlay, or on its own and with each of its overlays.

    Raise `OptionError` for an overlay or a setting that does not exist, OSError if the disk fails.
    """
    try:
        gathered: list[tuple[str | None, Inputs | InvalidInput]]
        if overlay is not None:
            gathered = [(None, gather(path, overlay, settings, inputs))]
        else:
            gathered = list(gather_all(path, settings, inputs))
    except InvalidInput as rejected:
        found = check_of_variants([(None, rejected)])
        return CheckResult(diagnostics=found.diagnostics, texts=found.texts, proofs=(), overlays=0)
    session = _Session(request, show)
    outcomes: list[tuple[str | None, Faulty | InvalidInput]] = []
    for name, each in gathered:
        compilation = each if isinstance(each, InvalidInput) else compile_spec(each)
        if isinstance(compilation, Compiled):
            outcomes.append((name, session.outcome(name, compilation)))
        else:
            outcomes.append((name, _errors(compilation)))
    found = check_of_variants(outcomes)
    return CheckResult(
        diagnostics=found.diagnostics,
        texts=found.texts,
        proofs=tuple((tuple(names), proof) for names, proof in session.proofs.values()),
        overlays=found.overlays,
        failure=session.failure,
    )


def _errors(compilation: Faulty | InvalidInput) -> Faulty:
    """Return the errors of a spec that cannot be compiled; `validate` reports the rest."""
    errors = tuple(found for found in compilation.diagnostics if found.severity == "error")
    return Faulty(diagnostics=errors, texts=tuple(compilation.texts))


def _key(compiled: Compiled) -> str:
    """Return everything that the proof of a job depends on."""
    plan, job = compiled.plan, compiled.job
    parts = {name: plan.request.payload.get(name) for name in _PARTS}
    image = None if plan.image is None else plan.image.tag
    members = [
        parts,
        image,
        repr(job.image),
        repr(job.distribution),
        repr(job.entry_point),
        compiled.inputs.build_inputs.source.digest,
    ]
    return json.dumps(members, sort_keys=True, default=repr)


def _line(names: tuple[str | None, ...], proof: Proof) -> str:
    overlays = [f"`{name}`" for name in names if name is not None]
    with_them = "" if None in names or not overlays else f" (with the overlay {', '.join(overlays)})"
    return f"proven{with_them}: {proof.summary()}"

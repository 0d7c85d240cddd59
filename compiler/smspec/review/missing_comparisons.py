"""The parts of a spec that could not be compared, and why: it has errors, now or before, in some variants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from smspec.diagnostics import Diagnostic
from smspec.diagnostics.masking import without_tokens
from smspec.review.version import Version
from smspec.source.frozen import dataclass

Side = Literal["old", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A spec, or a request, called ``file``: its result on its own (None) and with each overlay.

    ``place`` is equal for two states of one spec. ``faults`` prevent the other variants from being compiled;
    ``is_read`` False: they prevent the spec from being parsed, so its overlays are unknown. ``is_found``: a search of a
    directory lists it.
    """

    file: str
    place: str
    versions: Mapping[str | None, Version]
    faults: Mapping[str | None, tuple[Diagnostic, ...]]
    is_read: bool = True
    is_found: bool = True

    @property
    def name(self) -> str:
        """The name of the job; empty if nothing could be compiled."""
        return next((version.name for version in self.versions.values()), "")

    def is_unknown(self, overlay: str | None) -> bool:
        """Return whether faults prevent a result for the variant."""
        return not self.is_read or overlay in self.faults


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The first fault of one side, and how many ``more`` it has. ``overlays``: where it occurs, None being the spec."""

    side: Side
    overlays: tuple[str | None, ...]
    first: Diagnostic
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncompared:
    """A spec that could not be compared completely. ``file`` is its current path, or its previous one."""

    name: str
    file: str
    reasons: tuple[Reason, ...]


def uncompared(old: State | None, new: State | None) -> Uncompared | None:
    """Return what could not be compared of a spec; None if nothing is unknown. Either may be missing, but not both."""
    sides: tuple[tuple[Side, State | None], ...] = (("new", new), ("old", old))
    reasons: dict[tuple[Side, Diagnostic], tuple[int, list[str | None]]] = {}
    for side, state in sides:
        for overlay, faults in state.faults.items() if state is not None else ():
            errors = [fault for fault in faults if fault.severity == "error"]
            reasons.setdefault((side, errors[0]), (len(errors) - 1, []))[1].append(
                None if overlay is None else without_tokens(overlay)
            )
    known = [state for _, state in sides if state is not None]
    if not reasons:
        return None
    return Uncompared(
        name=without_tokens(next((state.name for state in known if state.name), "")),
        file=known[0].file,
        reasons=tuple(
            Reason(side=side, overlays=tuple(overlays), first=first, more=more)
            for (side, first), (more, overlays) in reasons.items()
        ),
    )


def variants(reason: Reason) -> tuple[str, ...]:
    """Return the overlays that a reason is limited to; none if it is about the spec on its own."""
    return () if None in reason.overlays else tuple(name for name in reason.overlays if name is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedReason:
    """A reason, and the jobs that could not be compared because of it: an error of a base spec is one of many."""

    reason: Reason
    jobs: tuple[Uncompared, ...]


def shared_reasons(jobs: Iterable[Uncompared]) -> tuple[SharedReason, ...]:
    """Return the reasons of all jobs, each once, in the order of the jobs."""
    found: dict[tuple[object, ...], list[tuple[Reason, Uncompared]]] = {}
    for job in jobs:
        for reason in job.reasons:
            first = reason.first
            key = (reason.side, first.code, first.message, first.span.file, first.span.line, variants(reason))
            found.setdefault(key, []).append((reason, job))
    return tuple(
        SharedReason(reason=among[0][0], jobs=tuple(dict.fromkeys(job for _, job in among))) for among in found.values()
    )

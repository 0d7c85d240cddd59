"""``smspec validate``: everything that is wrong with job specs, and with each under each of its overlays."""

from __future__ import annotations

import argparse

from smspec.cli.console import Console
from smspec.cli.faults import Usage
from smspec.cli.spec_arguments import add_variation_arguments, settings
from smspec.diagnostics import Diagnostic, Note, Rejected
from smspec.pipeline.compilation import compile_spec
from smspec.pipeline.inputs import gather, gather_all
from smspec.pipeline.job_search import find_job_specs
from smspec.source import Document, SourceText
from smspec.source.frozen import replace
from smspec.spec.layers import Misuse

HELP = """\
Say everything that is wrong with job specs. Each is checked as it is and under each of its overlays.

A directory means the job specs below it: YAML files with a top-level `smspec`, without the bases that others extend.
Exit status: 0 when nothing is wrong, 1 when something is (warnings count with --strict)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: job.yaml)")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")
    parser.add_argument("--strict", action="store_true", help="let warnings fail too")
    add_variation_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    verdict = _Verdict()
    known: dict[str, Document] = {}
    try:
        for path in find_job_specs(args.paths or ["job.yaml"], known):
            _check(path, args, known, verdict)
    except Misuse as misuse:
        raise Usage(str(misuse)) from misuse

    diagnostics, texts = verdict.diagnostics(), verdict.texts.values()
    if args.format == "json":
        # Late: text is the usual format.
        from smspec.diagnostics.records import records

        console.result(records(diagnostics))
    elif diagnostics:
        console.diagnosed(diagnostics, texts)
    console.say(verdict.summary(diagnostics))
    severities = {diagnostic.severity for diagnostic in diagnostics}
    return 1 if "error" in severities or (args.strict and severities) else 0


def _check(path: str, args: argparse.Namespace, known: dict[str, Document], verdict: _Verdict) -> None:
    verdict.specs += 1
    try:
        if args.overlay is not None:
            compilation = compile_spec(gather(path, args.overlay, settings(args)))
            verdict.add(compilation.diagnostics, compilation.texts, None)
            return
        for overlay, inputs in gather_all(path, settings(args), known):
            verdict.overlays += overlay is not None
            outcome = inputs if isinstance(inputs, Rejected) else compile_spec(inputs)
            verdict.add(outcome.diagnostics, outcome.texts, overlay)
    except Rejected as rejected:
        verdict.add(rejected.diagnostics, rejected.texts, None)


class _Verdict:
    """What was found in all specs, each thing once, with the overlays under which it is wrong."""

    def __init__(self) -> None:
        self.specs = 0
        self.overlays = 0
        self.texts: dict[str, SourceText] = {}
        self._found: dict[Diagnostic, list[str | None]] = {}

    def add(self, diagnostics: tuple[Diagnostic, ...], texts: tuple[SourceText, ...], overlay: str | None) -> None:
        for text in texts:
            self.texts.setdefault(text.name, text)
        for diagnostic in diagnostics:
            self._found.setdefault(diagnostic, []).append(overlay)

    def diagnostics(self) -> list[Diagnostic]:
        """Return everything found; what is wrong only under overlays says so."""
        return [_under(diagnostic, overlays) for diagnostic, overlays in self._found.items()]

    def summary(self, diagnostics: list[Diagnostic]) -> str:
        errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
        warnings = len(diagnostics) - errors
        counts = [_count(errors, "error")] * bool(errors) + [_count(warnings, "warning")] * bool(warnings)
        checked = _count(self.specs, "job") + (f" with {_count(self.overlays, 'overlay')}" if self.overlays else "")
        return f"{checked} checked: {', '.join(counts) or 'nothing to say'}"


def _under(diagnostic: Diagnostic, overlays: list[str | None]) -> Diagnostic:
    names = [f"`{name}`" for name in overlays if name is not None]
    if len(names) < len(overlays):
        return diagnostic
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    word = "overlay" if len(names) == 1 else "overlays"
    return replace(diagnostic, notes=(*diagnostic.notes, Note(f"with the {word} {shown}")))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

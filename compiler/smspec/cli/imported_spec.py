"""Write the spec of an imported job, compare its request with that of the source, and report what it lacks."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.cli.command_errors import CommandRefused
from smspec.cli.console import Console
from smspec.diagnostics import InvalidInput
from smspec.importer.imported import Imported, RequestNotFound
from smspec.importer.request_equality import differences, expected_request
from smspec.importer.spec_writer import WrittenSpec, write_spec
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.source import Path, SourceText
from smspec.source.frozen import dataclass, replace
from smspec.source.node import dotted

_FAULTY = "\n# This spec has errors; `smspec validate` shows them.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSpec:
    """The text of a spec, and whether it has errors to fix."""

    text: str
    has_errors: bool


def imported_spec(found: Imported, console: Console, file: str, prefix: str = "") -> ImportedSpec:
    """Return the spec, after everything about it was said on stderr.

    ``file``: its name in findings. ``prefix``: what begins each line, if there are several specs.
    """
    try:
        written = write_spec(found)
    except RequestNotFound as nothing:
        raise CommandRefused(f"{prefix}{nothing}") from nothing
    if written.settings:
        names = ", ".join(f"`{name}`" for name in written.settings)
        console.say(f"{prefix}variables whose value only a run of the source has: {names}")
    if written.additions:
        console.say(f"{prefix}added by the SDK: {', '.join(written.additions)}")
    for part in written.not_imported:
        console.say(f"{prefix}not imported: {part}")
    if written.left_out:
        console.say(f"{prefix}ignored, not part of a request: {', '.join(written.left_out)}")
    has_errors = _has_errors(found, written, console, file, prefix)
    return ImportedSpec(text=written.text + (_FAULTY if has_errors else ""), has_errors=has_errors)


def _has_errors(found: Imported, written: WrittenSpec, console: Console, file: str, prefix: str) -> bool:
    """Compile the spec, compare the requests, print the errors, and return whether there are any."""
    text = SourceText(file, written.text)
    try:
        compilation = compile_spec(in_memory_inputs(text, written.settings, written.script))
    except InvalidInput as rejected:
        compilation = Faulty(diagnostics=rejected.diagnostics, texts=rejected.texts)
    if compilation.diagnostics:
        console.warned(compilation.diagnostics, compilation.texts)
    if not isinstance(compilation, Compiled):
        return True
    unlike = [
        dotted(path)
        for request, wanted in zip(compilation.plan.requests, (written.request, *written.alternatives), strict=True)
        for path in _differences(request.payload, wanted, found)
    ]
    for place in dict.fromkeys(unlike):
        console.say(f"{prefix}not imported: {place}: smspec sends a different value")
    return bool(unlike)


def _differences(payload: dict[str, object], wanted: dict[str, object], found: Imported) -> Iterator[Path]:
    sent = dict(payload)
    if "TrainingJobName" not in wanted:
        del sent["TrainingJobName"]
    yield from differences(sent, expected_request(replace(found, request=wanted), sent))

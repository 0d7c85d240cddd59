"""``smspec validate --fix``: apply the suggestions that are certain, and report what is left.

Only spelling is certain: one known name, a typo away, with equal numbers. A fix that leads to a new finding is not
applied, even if that is true: a command that repairs should not leave more findings than before.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from smspec.cli.command_errors import ResourceUnavailable, UsageError
from smspec.cli.console import Console
from smspec.cli.findings import exit_status, show_findings
from smspec.cli.signal_handling import signals_interrupt
from smspec.cli.spec_arguments import root, settings
from smspec.diagnostics.visible import visible
from smspec.output.atomic_file import OutputFailed, is_generated, replace_content
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.repairing import Repaired, Repairing
from smspec.pipeline.validation_result import ValidationResult, validate_specs
from smspec.spec.layers.variables import OptionError
from smspec.spec.yaml.scalar_edits import in_style_of
from smspec.workspace.command_line_file import USUAL_SPEC


def validate_and_fix(args: argparse.Namespace, console: Console) -> int:
    """Write the repaired files, and show the changes and the findings that are left."""
    generated: dict[str, None] = {}

    def check(contents: Mapping[str, bytes]) -> tuple[ValidationResult, InputCache]:
        cache = InputCache(root(args), contents)
        return validate_specs(args.paths or [USUAL_SPEC], args.overlay, settings(args), cache), cache

    def may_change(path: str, content: bytes) -> bool:
        if is_generated(content):
            generated[path] = None
        return not is_generated(content)

    try:
        with signals_interrupt():
            repaired = Repairing(check, may_change).repaired()
            _write(repaired)
    except OptionError as error:
        raise UsageError(str(error)) from error
    except OutputFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure
    return _report(repaired, tuple(generated), args, console)


def _write(repaired: Repaired) -> None:
    for identity, content in repaired.after.contents.items():
        path = repaired.after.names[identity]
        replace_content(path, repaired.before.cache.content(path), content)


def _report(repaired: Repaired, generated: tuple[str, ...], args: argparse.Namespace, console: Console) -> int:
    result = repaired.after.result
    changes = {(change.diagnostic.span, change.fix): change for change in repaired.after.changes}
    for path in generated:
        console.say(visible(f"{path}: not changed, because a program generates it"))
    for diagnostic, reason in repaired.refused:
        if diagnostic.fix:
            words = f"`{diagnostic.fix.written}` -> `{diagnostic.fix.meant}`"
            why = reason or "run the command again"
            console.say(visible(f"{diagnostic.span.file}:{diagnostic.span.line}: not changed: {words}: {why}"))
    if args.format == "json":
        # Imported late, as all formats are.
        from smspec.diagnostics.formats import records_with_fixed

        fixed = [change.diagnostic for change in changes.values()]
        console.content(records_with_fixed(fixed, result.diagnostics))
        console.remark(result.summary())
        return exit_status(result.diagnostics, args)
    for (span, fix), change in changes.items():
        became = in_style_of(change.was, fix.meant)
        line = f"{span.file}:{span.line}: `{change.was}` -> `{became}` ({change.diagnostic.code})"
        (console.result if args.format == "text" else console.write)(visible(line) + "\n")
    summary = f"{len(changes)} fixed; {result.summary()}"
    return show_findings(result.diagnostics, result.texts, summary, args, console)

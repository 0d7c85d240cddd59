"""``smspec validate``: check job specs, each on its own and with each overlay."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from smspec.cli.console import Console, UsageError
from smspec.cli.parser import add_findings_arguments, add_verbosity_arguments, exit_status, show_findings
from smspec.cli.spec_arguments import (
    add_changed_argument,
    add_variation_arguments,
    affected,
    name_skipped,
    root,
    searched_cache,
    searched_paths,
    settings,
)
from smspec.diagnostics.formats import FORMATS
from smspec.diagnostics.quoting import one_of, visible
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import ValidationResult, validate_specs
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.spec_reading import USUAL_SPEC

if TYPE_CHECKING:
    from smspec.pipeline.repairing import Repaired

HELP = """\
Check job specs. Checks each spec on its own and with each overlay.

A directory means the job specs below it: YAML files with a top-level `smspec` key, except base specs that others
extend. Also checks specs against each other for shared checkpoints, outputs, and names.

  --format mermaid  a graph of the jobs that read what a different job writes; errors and warnings go to stderr
  --format html     a page with all jobs, their cost, data flow, and findings, in one file
  --changed REV     only the jobs that files changed since a git revision affect, and their conflicts with others
  --api-json FILE   a CreateTrainingJob request instead of a spec
  --fix             edits the specs where only one replacement is possible and no new finding follows from it

Exit status: 0 no errors; 1 errors, or warnings with --strict."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: job.yaml)")
    parser.add_argument("--api-json", metavar="FILE", help="check a CreateTrainingJob request; - reads stdin")
    parser.add_argument("--fix", action="store_true", help="replace misspelled keys and values where that is certain")
    add_findings_arguments(parser, "mermaid", "html")
    add_verbosity_arguments(
        parser, quiet="show only errors and warnings", verbose="also name each job that was checked, with its cost"
    )
    add_changed_argument(parser)
    add_variation_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    is_overview = args.format in ("mermaid", "html")
    if args.fix and (args.api_json is not None or is_overview):
        other = "--api-json" if args.api_json is not None else f"--format {args.format}"
        raise UsageError(f"--fix cannot be combined with {other}")
    if args.changed is not None and (args.fix or args.api_json is not None):
        raise UsageError(f"--changed cannot be combined with {'--fix' if args.fix else '--api-json'}")
    if args.api_json is not None and is_overview:
        raise UsageError(f"--format {args.format} cannot be combined with --api-json")
    if args.api_json is not None:
        return validate_request(args, console)
    if args.fix:
        return validate_and_fix(args, console)
    cache = searched_cache(args, root(args))
    with signals_interrupt():
        if args.changed is not None:
            result = _of_changes(args, cache, console)
        else:
            result = _with_extended(validate_specs(searched_paths(args), args.overlay, settings(args), cache))
            name_skipped(args, cache, console)

    for line in result.lines() if console.verbosity > 0 else ():
        console.detail(line)
    checked = result.summary() if result.specs or args.changed is None else ""
    summary = "\n".join(filter(None, (checked, result.ceiling(), result.unpinned())))
    if args.format == "html":
        # Imported late, like the graph.
        from smspec.cli.validate_page import validation_page

        console.result(validation_page(result))
        if summary:
            console.remark(*summary.splitlines(), has_verdict=True)
        return exit_status(result.diagnostics, args)
    if args.format == "mermaid":
        # Imported late: the graph is rarely requested.
        from smspec.render.data_flow import mermaid

        console.result(mermaid(result.jobs))
        console.warned(result.diagnostics, result.texts)
        if summary:
            console.remark(*summary.splitlines(), has_verdict=True)
        return exit_status(result.diagnostics, args)
    return show_findings(result.diagnostics, result.texts, summary, args, console)


def _with_extended(result: ValidationResult) -> ValidationResult:
    """Return the result with the jobs that others extend: `build` accepts them, too."""
    if not result.extended:
        return result
    from smspec.pipeline.validation_result import with_specs  # imported late: such jobs are rare

    return with_specs(result, result.extended)


def _of_changes(args: argparse.Namespace, cache: InputCache, console: Console) -> ValidationResult:
    """Return the result for the jobs that changes affect, also those that the search did not list."""
    # Imported late: a part of the result is rarely requested.
    from smspec.pipeline.affected_specs import changed_files
    from smspec.pipeline.changed_result import changed_result, discovered_specs, few_specs
    from smspec.pipeline.validation_result import check_spec, narrowed_result, with_specs

    paths, values = searched_paths(args), settings(args)
    # A setting, or an overlay, must fit all specs.
    is_simple = args.overlay is None and not values
    changed = changed_files(paths[0], args.changed) if is_simple else None
    few = few_specs(paths, changed, cache) if args.root is None else None
    untouched, listed = few or (None, discovered_specs(paths, cache) if is_simple else None)
    whole = validate_specs(paths, args.overlay, values, cache) if listed is None else None
    jobs = listed.jobs if listed is not None else [path for path, _ in whole.checked] if whole is not None else []
    result: ValidationResult | None = None

    def check(specs: tuple[str, ...], touches: Callable[[str], bool]) -> None:
        nonlocal result
        result = None if listed is None else changed_result(listed, specs, touches, cache, untouched)
        if result is None:
            everything = whole or validate_specs(paths, args.overlay, values, cache)
            result = narrowed_result(everything, specs, touches)

    found = affected(jobs, args, values, cache, console, "checked, but not against others", check, changed, untouched)
    assert result is not None
    more = [(path, check_spec(path, args.overlay, values, cache)) for path in found.unlisted]
    return with_specs(result, more)


def validate_request(args: argparse.Namespace, console: Console) -> int:
    """Check the request in ``--api-json``. Raise `UsageError` for arguments that require a spec."""
    # Imported late: it reads a different kind of file.
    from smspec.pipeline.request_file import check_request_file

    only_for_specs = {
        "PATH": args.paths,
        "--overlay": args.overlay is not None,
        "--set": args.set,
        "--root": args.root is not None,
    }
    for name, is_given in only_for_specs.items():
        if is_given:
            raise UsageError(f"--api-json cannot be combined with {name}")
    if args.format not in FORMATS:
        raise UsageError(f"--format {args.format} cannot be combined with --api-json; use {one_of(list(FORMATS))}")
    checked = check_request_file(args.api_json)
    summary = "\n".join(filter(None, (checked.summary(), checked.ceiling())))
    return show_findings(checked.diagnostics, checked.texts, summary, args, console)


def validate_and_fix(args: argparse.Namespace, console: Console) -> int:
    """Write the repaired files, and show the changes and the findings that are left.

    Only spelling is certain: one known name, a typo away, with equal numbers. A fix that leads to a new finding is not
    applied, even if that is true: a command that repairs should not leave more findings than before.
    """
    # Imported late, as below: `--fix` alone writes files.
    from smspec.output.atomic_file import is_generated
    from smspec.pipeline.repairing import Repairing

    generated: dict[str, None] = {}

    def check(contents: Mapping[str, bytes]) -> tuple[ValidationResult, InputCache]:
        cache = InputCache(root(args), contents)
        return validate_specs(args.paths or [USUAL_SPEC], args.overlay, settings(args), cache), cache

    def may_change(path: str, content: bytes) -> bool:
        if is_generated(content):
            generated[path] = None
        return not is_generated(content)

    with signals_interrupt():
        repaired = Repairing(check, may_change).repaired()
        _write_repaired(repaired)
    return _report_repaired(repaired, tuple(generated), args, console)


def _write_repaired(repaired: Repaired) -> None:
    from smspec.output.atomic_file import replace_content

    for identity, content in repaired.after.contents.items():
        path = repaired.after.names[identity]
        replace_content(path, repaired.before.cache.content(path), content)


def _report_repaired(repaired: Repaired, generated: tuple[str, ...], args: argparse.Namespace, console: Console) -> int:
    from smspec.pipeline.repairing import in_style_of

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
        console.remark(result.summary(), has_verdict=True)
        return exit_status(result.diagnostics, args)
    for (span, fix), change in changes.items():
        became = in_style_of(change.was, fix.meant)
        line = f"{span.file}:{span.line}: `{change.was}` -> `{became}` ({change.diagnostic.code})"
        (console.result if args.format == "text" else console.write)(visible(line) + "\n")
    summary = f"{len(changes)} fixed; {result.summary()}"
    return show_findings(result.diagnostics, result.texts, summary, args, console)

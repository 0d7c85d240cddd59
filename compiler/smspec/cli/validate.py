"""``smspec validate``: check job specs, each on its own and with each overlay."""

from __future__ import annotations

import argparse

from smspec.cli.command_errors import UsageError
from smspec.cli.console import Console
from smspec.cli.findings import add_findings_arguments, exit_status, show_findings
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.signal_handling import signals_interrupt
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
from smspec.diagnostics.quoting import one_of
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.validation_result import ValidationResult, validate_specs
from smspec.spec.layers.variables import OptionError

HELP = """\
Check job specs. Checks each spec on its own and with each overlay.

A directory means the job specs below it: YAML files with a top-level `smspec` key, except base specs that others
extend. Also checks specs against each other for shared checkpoints, outputs, and names.
`--format mermaid` prints a graph of the jobs that read what a different job writes; errors and warnings go to stderr.
`--format html` prints a page with all jobs, their cost, data flow, and findings, in one file.
`--changed REV` reports only on jobs that files changed since a git revision affect, and on their conflicts with others.
`--api-json FILE` checks a CreateTrainingJob request instead of a spec.
`--fix` edits the files of the specs where only one replacement is possible and no new finding follows from it.

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
        # Imported late: it writes files.
        from smspec.cli.validate_fix import validate_and_fix

        return validate_and_fix(args, console)
    cache = searched_cache(args, root(args))
    try:
        with signals_interrupt():
            result = validate_specs(searched_paths(args), args.overlay, settings(args), cache)
            if args.changed is not None:
                result = _of_changes(result, args, cache, console)
            else:
                result = _with_extended(result)
                name_skipped(args, cache, console)
    except OptionError as error:
        raise UsageError(str(error)) from error

    for line in result.lines() if console.verbosity > 0 else ():
        console.detail(line)
    checked = result.summary() if result.specs or args.changed is None else ""
    summary = "\n".join(filter(None, (checked, result.ceiling(), result.unpinned())))
    if args.format == "html":
        # Imported late, like the graph.
        from smspec.cli.validate_page import validation_page

        console.result(validation_page(result))
        if summary:
            console.remark(*summary.splitlines())
        return exit_status(result.diagnostics, args)
    if args.format == "mermaid":
        # Imported late: the graph is rarely requested.
        from smspec.render.data_flow import mermaid

        console.result(mermaid(result.jobs))
        console.warned(result.diagnostics, result.texts)
        if summary:
            console.remark(*summary.splitlines())
        return exit_status(result.diagnostics, args)
    return show_findings(result.diagnostics, result.texts, summary, args, console)


def _with_extended(result: ValidationResult) -> ValidationResult:
    """Return the result with the jobs that others extend: `build` accepts them, too."""
    if not result.extended:
        return result
    from smspec.pipeline.validation_result import with_specs  # imported late: such jobs are rare

    return with_specs(result, result.extended)


def _of_changes(
    result: ValidationResult, args: argparse.Namespace, cache: InputCache, console: Console
) -> ValidationResult:
    """Return the result for the jobs that changes affect, also those that the search did not list."""
    # Imported late: a part of the result is rarely requested.
    from smspec.pipeline.spec_check import check_spec
    from smspec.pipeline.validation_result import narrowed_result, with_specs

    listed = [path for path, _ in result.checked]
    found = affected(listed, args, settings(args), cache, console, "checked, but not against others")
    more = [(path, check_spec(path, args.overlay, settings(args), cache)) for path in found.unlisted]
    return with_specs(narrowed_result(result, found.specs, found.touches), more)


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
    try:
        checked = check_request_file(args.api_json)
    except OptionError as error:
        raise UsageError(str(error)) from error
    summary = "\n".join(filter(None, (checked.summary(), checked.ceiling())))
    return show_findings(checked.diagnostics, checked.texts, summary, args, console)

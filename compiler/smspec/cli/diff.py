"""``smspec diff``: show what changed between two versions of a job, and its effects."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smspec.cli.console import Console, UsageError
from smspec.cli.parser import add_quiet_argument
from smspec.cli.spec_arguments import add_variation_arguments, root, settings
from smspec.diagnostics import InvalidInput
from smspec.diagnostics.quoting import masked, visible

if TYPE_CHECKING:
    from smspec.cli.comparison import Outcome
    from smspec.review.fail_on import Failure

HELP = """\
Show what changed and its effects: rebuilt image layers, input data, checkpoints, cost ceiling, and access.

`diff OLD NEW` compares two specs. OLD can also be saved DescribeTrainingJob output, a CreateTrainingJob request, or
any other file that `smspec import` reads. `diff NEW` compares with the last build, build/NAME. `diff --base REV
[PATH…]` compares every spec in the given files and directories with its version in that git revision; it does not
change the working tree. Without -O, smspec compares each spec on its own and with each overlay. Instance prices come
from [prices] of smspec.toml and from smspec.prices.json.

With --fail-on, a line on stderr names each job and kind that fails, and the limit.

Exit status: 0 no differences; 1 differences (with --fail-on: only of those kinds); 2 bad arguments, or a spec with
errors; 3 git is missing or failed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument("paths", metavar="OLD NEW | PATH", nargs="*", help="specs to compare (default: job.yaml, or .)")
    parser.add_argument("--base", metavar="REV", help="compare with this revision of git")
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "json", "github"),
        default="text",
        help="text for a terminal, markdown for a pull request comment, json for scripts, github for annotations of "
        "what --fail-on fails",
    )
    parser.add_argument(
        "--fail-on",
        metavar="KIND,…",
        action="append",
        default=[],
        help="exit 1 only for these kinds of changes, for example security,cost>20%%",
    )
    add_variation_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    # Imported late: `diff --help` and a wrong option do not need it.
    from smspec.cli.base_comparison import against_base
    from smspec.cli.comparison import NothingToCompare, against_build, against_other
    from smspec.organization.organization_config import MalformedConfig
    from smspec.review.fail_on import UnknownChangeKind, decode_fail_on
    from smspec.workspace.deferred_signals import signals_interrupt
    from smspec.workspace.last_build import BuildNotFound

    paths: list[str] = args.paths
    try:
        fail_on = decode_fail_on(args.fail_on) if args.fail_on else None
        with signals_interrupt():
            if args.base is not None:
                outcome = against_base(args.base, paths or ["."], args.overlay, settings(args), root(args))
            elif len(paths) > 2:
                raise UsageError("expected two paths: `smspec diff OLD NEW`; to compare more specs, add `--base REV`")
            elif len(paths) == 2:
                outcome = against_other(paths[0], paths[1], args.overlay, settings(args), root(args))
            else:
                outcome = against_build(paths[0] if paths else "job.yaml", args.overlay, settings(args), root(args))
    except (MalformedConfig, UnknownChangeKind, BuildNotFound, NothingToCompare) as error:
        raise UsageError(str(error)) from error
    except InvalidInput as rejected:
        console.warned(rejected.diagnostics, rejected.texts)
        return 2

    reviews = (*outcome.comparison.settings, *outcome.comparison.reviews)
    failures = fail_on.failures(reviews) if fail_on is not None else ()
    write = console.commands if args.format == "github" else console.painted_result
    write(_shown(args, outcome, failures, console))
    for note in outcome.notes:
        console.say(note)
    for failed in failures:
        console.say(f"smspec: {masked(failed.line())}")
    if outcome.comparison.uncompared or outcome.obstacle:
        for faulty in outcome.faults:
            console.warned(faulty.diagnostics, faulty.texts)
        for line in filter(None, (outcome.obstacle, outcome.comparison.summary())):
            console.say(f"smspec: {visible(masked(line))}")
        return 2
    if not reviews:
        console.remark("no differences")
    return int(bool(reviews) if fail_on is None else bool(failures))


def _shown(args: argparse.Namespace, outcome: Outcome, failures: tuple[Failure, ...], console: Console) -> str:
    # Imported late, each of them: only one is used.
    if args.format == "json":
        from smspec.review.fail_on import records

        return records(outcome.comparison, failures)
    if args.format == "markdown":
        from smspec.review.markdown import markdown

        return markdown(outcome.comparison, failures)
    if args.format == "github":
        from smspec.review.fail_on import workflow_annotations

        return workflow_annotations(outcome.comparison, failures, args.base)
    from smspec.review.text import text

    return text(outcome.comparison, colour=console.out_in_colour)

"""``--changed REV``: only the jobs that changes since a git revision affect."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence

from smspec.cli.command_errors import ResourceUnavailable
from smspec.cli.console import Console
from smspec.diagnostics.visible import visible
from smspec.pipeline.input_cache import InputCache
from smspec.workspace.command_line_file import USUAL_SPEC

MOST_NAMED = 5
"""How many changed files are named."""


def add_changed_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--changed",
        metavar="REV",
        help="only the jobs that files changed since this git revision affect (default PATH: .)",
    )


def searched_paths(args: argparse.Namespace) -> list[str]:
    """Return the paths of the command line, or the usual ones."""
    return args.paths or [USUAL_SPEC if args.changed is None else "."]


def affected(
    specs: Sequence[str], args: argparse.Namespace, cache: InputCache, console: Console
) -> tuple[tuple[str, ...], Callable[[str], bool]]:
    """Return the specs that changes affect, and whether a file changed; report if there is no such spec."""
    # Imported late: it starts git.
    from smspec.pipeline.affected_specs import affected_specs, changed_settings
    from smspec.pipeline.unsearched_specs import unsearched_specs
    from smspec.workspace.git import GitFailed
    from smspec.workspace.working_tree import unexecuted

    try:
        found, changed = affected_specs(specs, searched_paths(args)[0], args.changed, cache)
    except GitFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure
    settings = changed_settings(found, changed, cache)
    if settings:
        what = f"these jobs are judged by settings that changed since {args.changed}: {_listed(settings)}"
        console.say(visible(f"{what}; run `smspec diff --base {args.changed}`"))
    if changed.filtered:
        console.say(visible(unexecuted(changed.filtered)))
    hidden = unsearched_specs(changed, searched_paths(args), specs, cache)
    if hidden:
        console.say(visible(f"not searched, but job specs: {_listed(map(os.path.relpath, hidden))}; pass them by name"))
    if not found:
        jobs = "1 job" if len(specs) == 1 else f"{len(specs)} jobs"
        console.say(visible(f"no changes since {args.changed} affect any of {jobs}"))
    return found, changed.touches


def _listed(paths: Iterable[str]) -> str:
    names = [f"`{path}`" for path in paths]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more

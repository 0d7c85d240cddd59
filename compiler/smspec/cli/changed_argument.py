"""``--changed REV``: only the jobs that changes since a git revision affect."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from smspec.cli.command_errors import ResourceUnavailable, UsageError
from smspec.cli.console import Console
from smspec.diagnostics.visible import visible
from smspec.pipeline.input_cache import InputCache
from smspec.source.frozen import dataclass
from smspec.spec.layers.variables import OptionError
from smspec.workspace.command_line_file import USUAL_SPEC

MOST_NAMED = 5
"""How many changed files are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """``specs`` that changes affect, ``unlisted`` ones that no search lists, and whether a file changed."""

    specs: tuple[str, ...]
    unlisted: tuple[str, ...]
    touches: Callable[[str], bool]


def add_changed_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--changed",
        metavar="REV",
        help="only the jobs that files changed since this git revision affect (default PATH: .)",
    )


def searched_paths(args: argparse.Namespace) -> list[str]:
    """Return the paths of the command line, or the usual ones."""
    return args.paths or [USUAL_SPEC if args.changed is None else "."]


def searched_cache(args: argparse.Namespace, root: str | None) -> InputCache:
    """Return the cache for a search: with ``--changed``, no marker that a commit brings hides a directory."""
    if args.changed is None:
        return InputCache(root)
    # Imported late: it starts git.
    from smspec.pipeline.compared_specs import tracked_files
    from smspec.workspace.git import GitFailed, repository_of

    searched = searched_paths(args)[0]
    try:
        repository = repository_of(searched if os.path.isdir(searched) else os.path.dirname(searched) or os.curdir)
        return InputCache(root, is_output=tracked_files(repository).hides)
    except GitFailed:
        return InputCache(root)  # reported after the specs, which may not exist


def affected(
    specs: Sequence[str],
    args: argparse.Namespace,
    values: Mapping[str, str],
    cache: InputCache,
    console: Console,
    what: str = "pass them by name",
) -> Affected:
    """Return the specs that changes affect; report if there is no such spec.

    Name the jobs at other paths that changes affect, too, and ``what`` that means. ``values``: those of the variables.
    """
    # Imported late: it starts git.
    from smspec.pipeline.affected_specs import affected_specs, changed_settings
    from smspec.pipeline.compared_specs import unlisted_specs
    from smspec.workspace.git import GitFailed
    from smspec.workspace.working_tree import unexecuted

    paths = searched_paths(args)
    try:
        found, changed = affected_specs(specs, paths[0], args.changed, cache)
        unlisted = unlisted_specs(changed, paths, specs, values, cache)
    except GitFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure
    except OptionError as error:
        raise UsageError(str(error)) from error
    hidden = tuple(path for path, is_compiled in unlisted.items() if is_compiled)
    unset = [path for path in unlisted if path not in hidden]
    settings = changed_settings(found, changed, cache)
    if settings:
        what = f"these jobs are judged by settings that changed since {args.changed}: {_listed(settings)}"
        console.say(visible(f"{what}; run `smspec diff --base {args.changed}`"))
    if changed.filtered:
        console.say(visible(unexecuted(changed.filtered)))
    if unset:
        console.say(
            visible(
                f"not checked, because they have errors, or a value of --set or --region is missing: {_listed(unset)}"
            )
        )
    if hidden:
        console.say(visible(f"not searched, but job specs: {_listed(hidden)}; {what}"))
    elif not found and not unset:
        jobs = "1 job" if len(specs) == 1 else f"{len(specs)} jobs"
        console.say(visible(f"no changes since {args.changed} affect any of {jobs}"))
    return Affected(specs=found, unlisted=hidden, touches=changed.touches)


def name_skipped(args: argparse.Namespace, cache: InputCache, console: Console) -> None:
    """Name the job specs that git tracks, and that a search skips, in one line: they are not checked."""
    if not any(map(os.path.isdir, args.paths)):
        return
    # Imported late: it starts git.
    from smspec.pipeline.compared_specs import skipped_specs

    skipped = skipped_specs(args.paths, cache)
    if skipped:
        count = "1 job spec" if len(skipped) == 1 else f"{len(skipped)} job specs"
        within = _listed(dict.fromkeys(skipped.values()))
        what = f"not searched, but {count} that git tracks: {_listed(skipped)}"
        console.say(visible(f"{what} (a search does not enter {within}); pass them by name"))


def _listed(paths: Iterable[str]) -> str:
    names = [f"`{path}`" for path in paths]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more

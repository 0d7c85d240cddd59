"""The arguments of every command that reads a spec, the compilation with them, and what ``--changed`` selects."""

from __future__ import annotations

import argparse
import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.cli.console import Console, UsageError
from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.diagnostics.quoting import visible
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import gather
from smspec.pipeline.spec_discovery import find_job_specs, skipped_specs
from smspec.source import SourceText
from smspec.source.frozen import dataclass
from smspec.workspace.path_targets import is_directory
from smspec.workspace.source_walk import is_output_of_ours
from smspec.workspace.spec_reading import USUAL_SPEC

if TYPE_CHECKING:
    from smspec.pipeline.untouched_specs import UntouchedSpecs
    from smspec.workspace.working_tree import ChangedFiles

MOST_NAMED = 5
"""How many changed files are named."""


def add_spec_arguments(parser: argparse.ArgumentParser) -> None:
    """Add SPEC, and the arguments of `add_variation_arguments`."""
    parser.add_argument(
        "spec",
        metavar="SPEC",
        nargs="?",
        default=USUAL_SPEC,
        help="the job spec, or a directory with one (default: job.yaml)",
    )
    add_variation_arguments(parser)


def single_spec(path: str, args: argparse.Namespace) -> str:
    """Return the spec at ``path``; of a directory, the only job spec in it, within the root of the arguments.

    Raise `UsageError` for a directory with several job specs, and `NoJobs` for one without.
    """
    if not is_directory(path):
        return path
    specs = find_job_specs([path], InputCache(root(args))).jobs
    if len(specs) > 1:
        raise UsageError(visible(f"`{path}` has {len(specs)} job specs; pass one: {_listed(specs)}"))
    return specs[0] if specs else path


def add_variation_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that select a variant of a spec."""
    parser.add_argument("-O", "--overlay", metavar="NAME", help="apply an overlay")
    parser.add_argument(
        "--set", metavar="vars.NAME=VALUE", action="append", default=[], help="set a variable declared in `vars`"
    )
    add_root_argument(parser)


def add_root_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that sets the directory that the files of a spec must be in."""
    parser.add_argument(
        "--root", metavar="DIR", help="only read files inside DIR (default: the repository of each spec)"
    )


def root(args: argparse.Namespace) -> str | None:
    """Return the directory of ``--root``."""
    named: str | None = args.root
    if named is not None and not os.path.isdir(named):
        raise UsageError(f"--root {named}: no such directory")
    return named


def settings(args: argparse.Namespace) -> dict[str, str]:
    """Return the values of ``--set``, by the names of the variables; the last one wins."""
    words: list[str] = args.set
    values: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.startswith("vars."):
            raise UsageError(
                f"--set: expected `vars.NAME=VALUE`, got `{word}`; only variables declared in `vars` can be set"
            )
        values[name.removeprefix("vars.")] = value
    return values


def compiled(args: argparse.Namespace, console: Console) -> Compiled:
    """Return the job for the arguments, after showing its warnings. Raise `InvalidInput` if it has errors."""
    args.spec = single_spec(args.spec, args)
    compilation = spec_job(args.spec, args)
    if compilation.diagnostics:
        console.warned(compilation.diagnostics, compilation.texts)
    return compilation


def spec_job(path: str, args: argparse.Namespace, region: str | None = None) -> Compiled:
    """Return the job of a spec in the variant of the arguments. Raise `InvalidInput` if it has errors.

    ``region``: that of the caller, for a spec that leaves it open.
    """
    compilation = compile_spec(
        gather(path, args.overlay, settings(args), InputCache(root(args)), region_of_caller=region)
    )
    if isinstance(compilation, Faulty):
        raise InvalidInput(compilation.diagnostics, compilation.texts)
    return compilation


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledJobs:
    """``jobs``: each with the path of its spec. ``invalid``: the errors of the other specs; None if there are none."""

    jobs: list[tuple[str, Compiled]]
    invalid: InvalidInput | None


def searched_specs(args: argparse.Namespace, cache: InputCache | None = None) -> tuple[str, ...]:
    """Return the specs of ``args.paths``, files and directories to search."""
    paths = searched_paths(args)
    if len(paths) == 1 and not is_directory(paths[0]):
        return tuple(paths)
    return find_job_specs(paths, cache or searched_cache(args, root(args))).jobs


def compiled_all(args: argparse.Namespace, console: Console) -> CompiledJobs:
    """Return the jobs of ``args.paths``, files and directories to search, after showing their warnings.

    With ``args.changed``, only those that changes affect.
    """
    cache = searched_cache(args, root(args))
    jobs: list[tuple[str, Compiled]] = []
    diagnostics: list[Diagnostic] = []
    texts: list[SourceText] = []
    specs = searched_specs(args, cache)
    if args.changed is not None:
        specs = affected(specs, args, settings(args), cache, console).specs
    for spec in specs:
        try:
            compilation = compile_spec(gather(spec, args.overlay, settings(args), cache))
        except InvalidInput as invalid:
            diagnostics += invalid.diagnostics
            texts += invalid.texts
            continue
        if isinstance(compilation, Compiled):
            jobs.append((spec, compilation))
        has_errors = isinstance(compilation, Faulty)
        diagnostics += compilation.diagnostics if has_errors else ()
        texts += compilation.texts if has_errors else ()
    for _, job in jobs:
        if job.diagnostics:
            console.warned(job.diagnostics, job.texts)
    return CompiledJobs(jobs=jobs, invalid=InvalidInput(diagnostics, texts) if diagnostics else None)


def default_directory(above: str, job: Compiled) -> str:
    """Return the default output directory: below ``above`` in the current directory."""
    overlay = job.inputs.overlay
    return os.path.join(above, f"{job.plan.name}.{overlay}" if overlay else job.plan.name)


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


def searched_cache(args: argparse.Namespace, top: str | None) -> InputCache:
    """Return the cache for a search: with ``--changed``, no marker that a commit brings hides a directory."""
    if args.changed is None:
        return InputCache(top)

    @functools.cache
    def is_output() -> Callable[[str], bool]:
        # Imported late: it starts git.
        from smspec.pipeline.affected_specs import repository_at
        from smspec.pipeline.compared_specs import tracked_files
        from smspec.workspace.git import GitFailed

        try:
            return tracked_files(repository_at(searched_paths(args)[0])).hides
        except GitFailed:
            return is_output_of_ours  # reported after the specs, which may not exist

    return InputCache(top, is_output=lambda directory: is_output()(directory))


def affected(
    specs: Sequence[str],
    args: argparse.Namespace,
    values: Mapping[str, str],
    cache: InputCache,
    console: Console,
    what: str = "pass them by name",
    check: Callable[[tuple[str, ...], Callable[[str], bool]], None] | None = None,
    changed: ChangedFiles | None = None,
    untouched: UntouchedSpecs | None = None,
) -> Affected:
    """Return the specs that changes affect; report if there is no such spec.

    Name the jobs at other paths that changes affect, too, and ``what`` that means. ``values``: those of the variables.
    ``check`` is called for the specs before others are read: a file has the name by which it was read first.
    ``changed``: the changed files, if they are known; ``untouched``: specs besides these that they do not affect.
    """
    # Imported late: it starts git.
    from smspec.pipeline.affected_specs import affected_specs, changed_settings
    from smspec.pipeline.compared_specs import unlisted_specs
    from smspec.workspace.working_tree import unexecuted

    paths = searched_paths(args)
    found, changed = affected_specs(specs, paths[0], args.changed, values, cache, changed)
    if check is not None:
        check(found, changed.touches)
    unlisted = unlisted_specs(changed, paths, specs, values, cache, untouched)
    hidden = tuple(path for path, is_compiled in unlisted.items() if is_compiled)
    unset = [path for path in unlisted if path not in hidden]
    keys = changed_settings(found, changed, cache)
    if keys:
        what = f"these jobs are judged by settings that changed since {args.changed}: {_listed(keys)}"
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

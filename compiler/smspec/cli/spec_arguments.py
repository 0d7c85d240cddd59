"""The arguments of every command that reads a spec, and the compilation with them."""

from __future__ import annotations

import argparse
import os

from smspec.cli.changed_argument import affected, searched_cache, searched_paths
from smspec.cli.command_errors import UsageError
from smspec.cli.console import Console
from smspec.diagnostics import Diagnostic, InvalidInput
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import gather
from smspec.pipeline.spec_discovery import find_job_specs
from smspec.source import SourceText
from smspec.source.frozen import dataclass
from smspec.spec.layers.assembly import OptionError
from smspec.workspace.command_line_file import USUAL_SPEC
from smspec.workspace.path_targets import is_directory


def add_spec_arguments(parser: argparse.ArgumentParser) -> None:
    """Add SPEC, and the arguments of `add_variation_arguments`."""
    parser.add_argument("spec", metavar="SPEC", nargs="?", default=USUAL_SPEC, help="the job spec (default: job.yaml)")
    add_variation_arguments(parser)


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
    compilation = spec_job(args.spec, args)
    if compilation.diagnostics:
        console.warned(compilation.diagnostics, compilation.texts)
    return compilation


def spec_job(path: str, args: argparse.Namespace, region: str | None = None) -> Compiled:
    """Return the job of a spec in the variant of the arguments. Raise `InvalidInput` if it has errors.

    ``region``: that of the caller, for a spec that leaves it open.
    """
    try:
        compilation = compile_spec(
            gather(path, args.overlay, settings(args), InputCache(root(args)), region_of_caller=region)
        )
    except OptionError as error:
        raise UsageError(str(error)) from error
    if isinstance(compilation, Faulty):
        raise InvalidInput(compilation.diagnostics, compilation.texts)
    return compilation


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledJobs:
    """``jobs``: each with the path of its spec. ``invalid``: the errors of the other specs; None if there are none."""

    jobs: list[tuple[str, Compiled]]
    invalid: InvalidInput | None


def compiled_all(args: argparse.Namespace, console: Console) -> CompiledJobs:
    """Return the jobs of ``args.paths``, files and directories to search, after showing their warnings.

    With ``args.changed``, only those that changes affect.
    """
    paths = searched_paths(args)
    cache = searched_cache(args, root(args))
    jobs: list[tuple[str, Compiled]] = []
    diagnostics: list[Diagnostic] = []
    texts: list[SourceText] = []
    try:
        specs = find_job_specs(paths, cache).jobs if len(paths) > 1 or is_directory(paths[0]) else tuple(paths)
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
    except OptionError as error:
        raise UsageError(str(error)) from error
    for _, job in jobs:
        if job.diagnostics:
            console.warned(job.diagnostics, job.texts)
    return CompiledJobs(jobs=jobs, invalid=InvalidInput(diagnostics, texts) if diagnostics else None)


def default_directory(above: str, job: Compiled) -> str:
    """Return the default output directory: below ``above`` in the current directory."""
    overlay = job.inputs.overlay
    return os.path.join(above, f"{job.plan.name}.{overlay}" if overlay else job.plan.name)

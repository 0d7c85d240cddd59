"""The arguments of the commands that run the job, and the request that they make."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from smspec.cli.argument_types import add_python_arguments, host_count
from smspec.cli.command_errors import ResourceUnavailable, UsageError
from smspec.local.engines import AUTO, ENGINES
from smspec.local.request import RunRequest
from smspec.output.atomic_file import OutputFailed
from smspec.output.writing import write_temporary_tree
from smspec.pipeline.compilation import Compiled
from smspec.render.tree import FileTree
from smspec.script.program import Program


def add_engine_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--engine``."""
    parser.add_argument(
        "--engine",
        choices=(AUTO, *ENGINES),
        help="how to run the hosts (default: SMSPEC_ENGINE, or auto, which never builds an image)",
    )


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the hosts, the data, the Python, and what the job may reach."""
    parser.add_argument("--hosts", metavar="N", type=host_count, help="number of hosts (default: `hosts.count`)")
    parser.add_argument(
        "--data", metavar="CH=PATH", action="append", default=[], help="data of a channel: a local path or an S3 URI"
    )
    add_python_arguments(parser)
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="run a script that uses literal /opt/ml paths, which are outside the run directory",
    )
    parser.add_argument(
        "--host-loopback",
        action="store_true",
        help="let hosts with a separate network reach servers on 127.0.0.1 of this machine",
    )


def run_request(
    args: argparse.Namespace, job: Compiled, directory: str, scratch_dir: str, data: dict[str, str], engine: str
) -> RunRequest:
    """Return the request of these arguments, with those of the job."""
    program, build_inputs = job.inputs.program, job.inputs.build_inputs
    return RunRequest(
        directory=directory,
        scratch_dir=scratch_dir,
        base_dir=job.inputs.directory,
        python=args.python,
        may_install=not args.no_install,
        fetches_python=args.fetch_python,
        outside=() if args.allow_outside or not isinstance(program, Program) else program.file_uses,
        hosts=args.hosts,
        data=data,
        requirements=build_inputs.requirements,
        engine=engine,
        reaches_loopback=args.host_loopback,
        startup=None if build_inputs.startup is None else build_inputs.startup.environment,
    )


def write_generated_files(tree: FileTree, request: RunRequest) -> None:
    """Write what `smspec build` generates to the temporary directory. Raise ResourceUnavailable."""
    try:
        write_temporary_tree(tree, request.tree_dir)
    except OutputFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure


def engine_of(named: str | None, variables: Mapping[str, str]) -> str:
    """Return the engine of ``--engine``, or the one that SMSPEC_ENGINE names."""
    name = named or variables.get("SMSPEC_ENGINE") or AUTO
    if name not in (AUTO, *ENGINES):
        raise UsageError(f"SMSPEC_ENGINE: expected one of {', '.join((AUTO, *ENGINES))}, got `{name}`")
    return name


def channel_data(words: list[str]) -> dict[str, str]:
    """Return the values of ``--data``, path by channel; the last one wins."""
    paths: dict[str, str] = {}
    for word in words:
        channel, equals, path = word.partition("=")
        if not (equals and channel and path):
            raise UsageError(f"--data: expected `CHANNEL=PATH`, got `{word}`")
        paths[channel] = path
    return paths

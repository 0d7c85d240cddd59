"""``smspec run``: run the job on this machine. ``check`` and ``rehearse`` share its arguments, and its request."""

from __future__ import annotations

import argparse
import gc
import os
import re
from collections.abc import Mapping
from typing import Literal

from smspec.cli.console import Console, UsageError
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.spec_arguments import add_spec_arguments, compiled, default_directory
from smspec.cli.waiting import Waiting
from smspec.diagnostics import placed
from smspec.local.engines.choice import AUTO, ENGINES, builds_images
from smspec.local.feeder.plan import Injection
from smspec.local.running.request import RunRequest
from smspec.output.writing import write_temporary_tree
from smspec.pipeline.compilation import Compiled, compiled_digest
from smspec.render.tree_rendering import render_tree
from smspec.script.program import Program
from smspec.source.frozen import replace
from smspec.spec.keys.row import duration_meant, size_in_bytes, size_meant
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory

HELP = """\
Run the job on this machine with the files that `smspec build` generates. Each host gets its own /opt/ml directory and
its channels as SageMaker provides them. Needs no AWS account, and Docker only for `--engine docker`.

smspec installs the job's Python packages into an environment in its cache, never into your Python.

Exit status: 0 the job completed; 1 the job failed; 3 smspec could not run it on this machine."""

_BYTES = ("", "B")
_UNITS = (*_BYTES, "kB", "MB", "GB", "KiB", "MiB", "GiB")
_MOST_DIGITS = 15
_SELDOM = 1_000_000
"""Objects until the next garbage collection: imports make many, all of which stay."""

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_spec_arguments(parser)
    add_engine_argument(parser)
    parser.add_argument(
        "--strict", action="store_true", help="exit with status 3 if the run differs from SageMaker for this job"
    )
    add_verbosity_arguments(
        parser,
        quiet="show only warnings, errors, and the result",
        verbose="also show times, each line of pip or uv, and the measurements that the runtime logs",
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="result on stdout: a table, or summary.json"
    )
    add_run_arguments(parser)
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        type=memory_size,
        help="memory of each host, such as 16GB; auto is that of its instance type (default: no limit)",
    )
    parser.add_argument("--rate", metavar="R", type=byte_rate, help="limit per Pipe channel and host, such as 50MB/s")
    parser.add_argument(
        "--stall",
        metavar="S",
        type=stall_seconds,
        help="fault injection: pause each Pipe stream for S halfway through an epoch",
    )
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--truncate", metavar="N", type=byte_count, help="fault injection: end each Pipe stream after N bytes"
    )
    ends.add_argument(
        "--kill-writer", action="store_true", help="fault injection: kill the stream writer halfway through an epoch"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="run directory (default: run/NAME, with an overlay run/NAME.OVERLAY)",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    gc.set_threshold(_SELDOM)
    data = channel_data(args.data)
    engine = engine_of(args.engine, os.environ)
    if not builds_images(engine):
        _look_at_machine(engine, args.python)
    # Imported late: `check` imports this module, and does not run jobs.
    from smspec.cli.submission import commit_of
    from smspec.local.running.local_run import run_locally

    job = compiled(args, console)
    digest = compiled_digest(job.plan)
    tree = render_tree(job.plan, job.inputs.build_inputs, digest, builds_image=builds_images(engine))
    # From here on it may take minutes or hours, in which nothing that exists now is garbage.
    gc.freeze()
    gc.set_threshold(700)
    with signals_interrupt(), temporary_directory() as temporary:
        directory = args.output or default_directory("run", job)
        request = replace(
            run_request(args, job, directory, temporary, data, engine),
            waits=Waiting(console).of,
            commit=commit_of(job, tree),
            rate=args.rate,
            memory=args.memory,
            injection=_injection(args),
            is_strict=args.strict,
            verbosity=console.verbosity,
            prints_json=args.format == "json",
            predicts=True,
        )
        write_temporary_tree(tree, request.tree_dir)
        outcome = run_locally(job.job, job.plan, tree, request, console)
    if outcome.findings:
        console.warned(placed(outcome.findings, job.inputs.document), job.texts)
    return outcome.exit_status


def _look_at_machine(engine: str, python: str | None) -> None:
    """Start what looks at this machine in processes of its own, which takes as long as compiling the spec."""
    if engine != "process":
        from smspec.local.engines.namespace.availability import start_probe

        start_probe()
    if python is None:
        from smspec.local.python.interpreter import ask_usual

        ask_usual()


def _injection(args: argparse.Namespace) -> Injection | None:
    if args.stall is None and args.truncate is None and not args.kill_writer:
        return None
    return Injection(stall=args.stall or 0, truncate=args.truncate, kill_writer=args.kill_writer)


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


def host_count(word: str) -> int:
    """Parse a number of hosts, 1 or more."""
    if not (word.isascii() and word.isdigit() and int(word[:9])):
        raise argparse.ArgumentTypeError(f"expected a number of hosts, got `{word}`")
    return int(word)


def byte_count(word: str) -> int:
    """Parse a number of bytes: `1000`, `50MB`."""
    count = _bytes(word)
    if count is None:
        raise _no("a number of bytes", word, size_meant(word), "`1000` or `50MB`")
    return count


def memory_size(word: str) -> int | Literal["auto"]:
    """Parse a number of bytes, more than 0, or ``auto``."""
    if word == "auto":
        return "auto"
    count = _bytes(word)
    if not count:
        raise _no("`auto` or a size", word, size_meant(word), "`16GB`")
    return count


def byte_rate(word: str) -> int:
    """Parse bytes per second, more than 0: `50MB/s`, `50MB`."""
    size = word.removesuffix("/s")
    rate = _bytes(size)
    if not rate:
        meant = size_meant(size)
        raise _no("a rate", word, meant and f"{meant}{word[len(size) :]}", "`50MB/s`")
    return rate


def stall_seconds(word: str) -> float:
    """Parse a duration, more than 0, in seconds: `30s`, `1.5m`; the default unit is seconds."""
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smh]?)", word)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else 0.0
    if not seconds:
        raise _no("a duration", word, duration_meant(word), "`30s` or `2m`")
    return seconds


def _bytes(word: str) -> int | None:
    number = word.rstrip("BGKMik")
    unit = word[len(number) :]
    if unit not in _UNITS or not (number.isascii() and number.isdigit()) or len(number) > _MOST_DIGITS:
        return None
    return size_in_bytes(int(number) if unit in _BYTES else word)


def _no(kind: str, word: str, meant: str | None, examples: str) -> argparse.ArgumentTypeError:
    if meant and meant != word:
        return argparse.ArgumentTypeError(f"expected {kind}, got `{word}`; did you mean `{meant}`?")
    return argparse.ArgumentTypeError(f"expected {kind} such as {examples}, got `{word}`")


def add_python_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--python``, ``--fetch-python``, and ``--no-install``."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--python",
        metavar="EXE",
        help="Python to use, with its packages (default: the version and packages of the image)",
    )
    choice.add_argument(
        "--fetch-python", action="store_true", help="if this machine lacks the Python of the image, fetch it with uv"
    )
    parser.add_argument(
        "--no-install", action="store_true", help="exit with status 3 instead of installing Python packages of the job"
    )

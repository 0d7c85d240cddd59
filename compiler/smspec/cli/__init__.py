"""The command line: its commands, and how every exception of a command becomes a message and an exit status.

Exit statuses: 0 success; 1 the spec or the job has errors; 2 bad arguments; 3 something on this machine or on the
network is missing or broken; 70 a bug in smspec; 130 Ctrl-C; 128 + n for signal n: SIGTERM, SIGHUP, SIGQUIT.

`GROUPS` has a module for each command, with ``HELP``, ``add_arguments``, and ``run``. A command parses options, calls
a package below, and prints through the `Console`. Other packages raise exceptions with a sentence; here they get their
exit status, so no command ends with a traceback.

A command must not decide anything about jobs: whatever two commands need is in the package that both call. Only the
module of the chosen command is imported, and each imports late what it does not always need.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing` is slow to import, and until `main` runs Ctrl-C shows a traceback
if TYPE_CHECKING:
    from typing import NoReturn

    from smspec.cli.console import Console

# Modules by name, so that a command does not import the others.
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "write a spec": {
        "init": ("smspec.cli.init", "create a working example job with comments"),
        "import": ("smspec.cli.import_", "convert an existing training job to a spec"),
        "fmt": ("smspec.cli.fmt", "order the keys of job specs"),
        "explain": ("smspec.cli.explain", "explain an error code or a spec key"),
        "schema": ("smspec.cli.schema", "print the JSON Schema of job specs"),
        "lsp": ("smspec.cli.lsp", "serve an editor while specs are typed"),
    },
    "prove that it works": {
        "validate": ("smspec.cli.validate", "check job specs"),
        "check": ("smspec.cli.check", "prove on this machine that a job starts"),
        "run": ("smspec.cli.run", "run the job on this machine"),
        "rehearse": ("smspec.cli.rehearse", "run the job under interruptions and show what it withstands"),
        "lock": ("smspec.cli.lock", "pin base images and requirements in smspec.lock"),
    },
    "build and review": {
        "build": ("smspec.cli.build", "write the Dockerfile, entrypoint, and request to a directory"),
        "render": ("smspec.cli.render", "print one generated file"),
        "diff": ("smspec.cli.diff", "show what changed between two versions of a job, and its effects"),
    },
    "submit and operate": {
        "submit": ("smspec.cli.submit", "create the job in SageMaker, with its image and source, and follow it"),
        "status": ("smspec.cli.status", "show the status of training jobs in SageMaker"),
        "logs": ("smspec.cli.logs", "print the log of a training job in SageMaker"),
        "stop": ("smspec.cli.stop", "stop a training job in SageMaker"),
        "collect": ("smspec.cli.collect", "download, check, and merge the result of a job"),
        "history": ("smspec.cli.history", "show what ran, its cost, and what changed each time"),
        "compare": ("smspec.cli.compare", "show two jobs or local runs side by side"),
    },
    "facts": {
        "prices": ("smspec.cli.prices", "print or update the prices of training instances"),
        "quotas": ("smspec.cli.quotas", "print or update the quotas of accounts for training jobs"),
        "facts": ("smspec.cli.facts", "print or update what smspec knows of AWS, and how old it is"),
        "offers": ("smspec.cli.offers", "list the instance types that fit, the cheapest first"),
    },
}
"""What commands are for → their names, each with its module and summary, in the order of the help.

A module has HELP, ``add_arguments(parser)`` and ``run(args, console) -> int``.
"""
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
FIRST = ("init", "validate", "run", "build", "submit")
"""The commands of the first hour, in their order."""

_INTERRUPTED = 128
"""The exit status of a command that a signal has ended is this and the number of the signal."""


def main(argv: list[str] | None = None) -> int:
    """Run the command on a command line, in this process, and return its exit status."""
    try:
        from smspec.cli.console import process_console

        _occupy_standard_streams()
        return execute(sys.argv[1:] if argv is None else argv, process_console())
    except KeyboardInterrupt as interrupt:
        number: int = getattr(interrupt, "number", 2)  # Ctrl-C is SIGINT; others are in `deferred_signals`
        return _INTERRUPTED + number


def run_process() -> NoReturn:
    """Run the command of this process, and exit.

    Output was flushed as it was written (`smspec.cli.console`), so the interpreter need not free all objects: that took
    a fifteenth of the time of `smspec validate`. Nor need it wait for threads that wait for a server: a command does
    that itself where it has to, and they would delay the end by minutes.
    """
    _hear_signals()
    status = main()
    if status < _INTERRUPTED and "atexit" in sys.modules:
        sys.modules["atexit"]._run_exitfuncs()
    os._exit(status)


def _hear_signals() -> None:
    """Let this process and those that it starts hear of signals, whatever the program that started it has set.

    Where SIGCHLD is ignored, as servers do, the kernel forgets how a process has ended, and Python takes every end for
    a success. Where it is blocked, what waits for it waits for ever; and a blocked SIGTERM ends no job.
    """
    import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations of its numbers, which takes longer

    if _signal.getsignal(_signal.SIGCHLD) == _signal.SIG_IGN:
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def execute(words: list[str], console: Console) -> int:
    """Run the command on a command line and return its exit status; only Ctrl-C is not handled here."""
    try:
        status = _run(words, console)
    except Exception as fault:
        from smspec.cli.console import report_error

        status = report_error(fault, console)
    console.finish()
    return status


def _occupy_standard_streams() -> None:
    """Open /dev/null for closed standard streams; otherwise the next file would get their number, and their output."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number


def _run(words: list[str], console: Console) -> int:
    if not words:
        console.paint(_overview(console.err_columns))
        return 2
    name, *rest = words
    if name in ("-h", "--help"):
        console.painted_result(_overview(console.out_columns))
        return 0
    if name == "help":
        if not rest:
            console.painted_result(_overview(console.out_columns))
            return 0
        name, rest = rest[0], ["--help"]  # `smspec help submit`, as in git
    if name == "--version":
        from smspec import __version__

        if rest in (["-v"], ["--verbose"]):
            from smspec.cli.machine import show_machine

            show_machine(console)
        else:
            console.result(f"smspec {__version__}\n")
        return 0
    if name == "--completion":
        # Imported late: it loads the modules of all commands.
        from smspec.cli.completion import completion

        return completion(rest, COMMANDS, console)
    command = COMMANDS.get(name)
    if command is None:
        from smspec.cli.console import UsageError

        raise UsageError(_unknown(name), "usage: smspec COMMAND …, see smspec --help\n")

    from smspec.cli.parser import CommandParser

    # Nearly all objects from here on live to the end: garbage collection took a tenth of the time. Objects that
    # survived once are not scanned again.
    gc.set_threshold(50_000, 1_000_000)
    module = import_module(command[0])
    parser = CommandParser(name, module.HELP, console)
    module.add_arguments(parser)
    try:
        args = parser.read(rest)
    except SystemExit as done:  # argparse, after --help
        return int(done.code or 0)
    console.verbosity = getattr(args, "verbose", 0) - getattr(args, "quiet", 0)
    status: int = module.run(args, console)
    return status


def _overview(screen: int | None) -> str:
    # Imported late: a command that runs shows no overview.
    from smspec.cli.parser import help_columns
    from smspec.diagnostics.wrapping import wrapped

    columns = help_columns(screen)
    width = max(map(len, COMMANDS))
    parts = ["Compile a YAML spec into what an Amazon SageMaker training job needs.", f"Start with {_in_words(FIRST)}."]
    shown = ["usage: smspec COMMAND …\n", *(f"{wrapped(part, columns)}" for part in parts), ""]
    for group, commands in GROUPS.items():
        shown.append(f"{group}:")
        for name, (_, summary) in commands.items():
            shown.append(wrapped(summary, columns, first=f"  {name:{width}}  ", rest=" " * (width + 4)))
        shown.append("")
    shown += ["options:"]
    for option, what in (
        ("--version", "print the version; with `-v`, what a report about smspec needs"),
        ("--completion SHELL", "print a completion script (bash, zsh, fish)"),
    ):
        shown.append(wrapped(what, columns, first=f"  {option:18}  ", rest=" " * 22))
    shown += ["", wrapped("Run `smspec COMMAND --help` or `smspec help COMMAND` for details.", columns), ""]
    return "\n".join(shown)


def _in_words(names: tuple[str, ...]) -> str:
    *others, last = [f"`{name}`" for name in names]
    return f"{', '.join(others)}, and {last}"


def _unknown(name: str) -> str:
    from smspec.diagnostics.suggestions import nearest

    if name.startswith("-"):
        return f"unknown option `{name}`; the command comes first"
    guess = nearest(name, COMMANDS)
    return f"unknown command `{name}`" + (f"; did you mean `{guess}`?" if guess else "")

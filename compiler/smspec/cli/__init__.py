"""The command line: which commands there are, and what becomes of everything that can go wrong in one.

Exit statuses: 0 done; 1 the spec or the job is at fault; 2 misuse; 3 the surroundings are at fault; 70 our own bug;
130 Ctrl-C; 143 and 129 SIGTERM and SIGHUP.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing` takes long to import, and until `main` runs Ctrl-C shows a traceback
if TYPE_CHECKING:
    from typing import NoReturn

    from smspec.cli.console import Console

# Modules by name, so that a command does not pay for importing the others.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("smspec.cli.init", "write a working, commented job to start from"),
    "validate": ("smspec.cli.validate", "say everything that is wrong with job specs"),
    "build": ("smspec.cli.build", "write the Dockerfile, the entrypoint and the request as one file tree"),
    "render": ("smspec.cli.render", "print one of the generated files"),
    "import": ("smspec.cli.import_", "write the spec of a job that exists: a request, an ACK object, a state, a name"),
    "diff": ("smspec.cli.diff", "say what changes between two states of jobs, and what that means"),
    "run": ("smspec.cli.run", "run the job here, with the generated files"),
    "lock": ("smspec.cli.lock", "pin the base images and requirements of a job in smspec.lock"),
    "explain": ("smspec.cli.explain", "tell what a code or a key of the spec means"),
    "schema": ("smspec.cli.schema", "print the JSON Schema of job specs"),
}
"""Name → module and summary. A module has HELP, ``add_arguments(parser)`` and ``run(args, console) -> int``."""


def main(argv: list[str] | None = None) -> int:
    """Run the command that the words name, in this process, and return its exit status."""
    try:
        from smspec.cli.console import process_console

        _occupy_standard_streams()
        return execute(sys.argv[1:] if argv is None else argv, process_console())
    except KeyboardInterrupt as interrupt:
        number: int = getattr(interrupt, "number", 2)  # Ctrl-C is SIGINT; others are in `signal_handling`
        return 128 + number


def run_process() -> NoReturn:
    """Run the command of this process, and end it.

    Everything was flushed as it was written (`smspec.cli.console`), so unless something is registered for the end, the
    interpreter need not take apart all that was made: that took a fifteenth of the time of `smspec validate`.
    """
    status = main()
    if "atexit" in sys.modules or "threading" in sys.modules:
        sys.exit(status)
    os._exit(status)


def execute(words: list[str], console: Console) -> int:
    """Run the command that the words name and return its exit status; only Ctrl-C gets past."""
    try:
        status = _run(words, console)
    except Exception as fault:
        # Late: nothing goes wrong is the usual case.
        from smspec.cli.error_exit import report_error

        status = report_error(fault, console)
    console.finish()
    return status


def _occupy_standard_streams() -> None:
    """Open nothing where a standard stream is closed, or the next file has its number and gets what others write."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free


def _run(words: list[str], console: Console) -> int:
    if not words:
        console.write(_overview())
        return 2
    name, *rest = words
    if name in ("-h", "--help"):
        console.result(_overview())
        return 0
    if name == "--version":
        from smspec import __version__

        console.result(f"smspec {__version__}\n")
        return 0
    if name == "--completion":
        # Late: it loads the modules of all commands.
        from smspec.cli.completion import completion

        return completion(rest, COMMANDS, console)
    command = COMMANDS.get(name)
    if command is None:
        from smspec.cli.command_errors import UsageError

        raise UsageError(_unknown(name), "usage: smspec COMMAND …, see smspec --help\n")

    from smspec.cli.parser import CommandParser

    # Nearly everything that is made from here on lives to the end: looking for garbage took a tenth of the time.
    # What has survived once is not looked at again.
    gc.set_threshold(50_000, 1_000_000)
    module = import_module(command[0])
    parser = CommandParser(name, module.HELP, console)
    module.add_arguments(parser)
    try:
        args = parser.read(rest)
    except SystemExit as done:  # argparse, after --help
        return int(done.code or 0)
    status: int = module.run(args, console)
    return status


def _overview() -> str:
    width = max(map(len, COMMANDS))
    commands = "".join(f"  {name:{width}}  {summary}\n" for name, (_, summary) in COMMANDS.items())
    return (
        "usage: smspec COMMAND …\n\n"
        "Compile one reviewed YAML file into everything an Amazon SageMaker training job needs.\n\n"
        f"commands:\n{commands}\n"
        "smspec COMMAND --help tells more; smspec --version prints the version,\n"
        "smspec --completion bash|zsh|fish a script that completes all this in your shell.\n"
    )


def _unknown(name: str) -> str:
    from smspec.diagnostics.suggestions import nearest

    if name.startswith("-"):
        return f"unknown option `{name}`; the command comes first"
    guess = nearest(name, COMMANDS)
    return f"unknown command `{name}`" + (f"; did you mean `{guess}`?" if guess else "")

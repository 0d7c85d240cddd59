"""The command line: which commands there are, and what becomes of everything that can go wrong in one.

Exit statuses: 0 done; 1 the spec or the job is at fault; 2 misuse; 3 the surroundings are at fault; 70 our own bug;
130 Ctrl-C; 143 and 129 SIGTERM and SIGHUP.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from importlib import import_module

TYPE_CHECKING = False  # `typing` takes long to import, and until `main` runs Ctrl-C shows a traceback
if TYPE_CHECKING:
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
        number: int = getattr(interrupt, "number", 2)  # Ctrl-C is SIGINT; what else it may be is in `interruption`
        return 128 + number


def execute(words: list[str], console: Console) -> int:
    """Run the command that the words name and return its exit status; only Ctrl-C gets past."""
    try:
        return _run(words, console)
    except Exception as fault:
        return _told(fault, console)


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

        return completion(rest, console)
    command = COMMANDS.get(name)
    if command is None:
        from smspec.cli.faults import Usage

        raise Usage(_unknown(name), "usage: smspec COMMAND …, see smspec --help\n")

    from smspec.cli.parser import CommandParser

    # Nearly everything that is made from here on lives to the end: looking for garbage took a tenth of the time.
    gc.set_threshold(50_000)
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
    from smspec.diagnostics.nearest import nearest

    if name.startswith("-"):
        return f"unknown option `{name}`; the command comes first"
    guess = nearest(name, COMMANDS)
    return f"unknown command `{name}`" + (f"; did you mean `{guess}`?" if guess else "")


def _told(fault: Exception, console: Console) -> int:
    """Say what went wrong in a sentence and return the exit status for it."""
    # Late, all of it: nothing went wrong is the usual case.
    from smspec.cli.faults import Refused, Unavailable, Usage
    from smspec.diagnostics import Rejected
    from smspec.diagnostics.masking import masked
    from smspec.diagnostics.visible import visible

    def shown(text: str) -> str:
        # The words of a command line hold secrets too, and end in the logs of a pipeline.
        return visible(masked(text))

    if os.environ.get("SMSPEC_DEBUG"):
        import traceback

        console.write("".join(traceback.format_exception(fault)))
    if isinstance(fault, Rejected):
        console.warned(fault.diagnostics, fault.texts)
        return 1
    if isinstance(fault, Usage):
        console.write(fault.usage)
        console.say(f"smspec: {shown(str(fault))}")
        return 2
    if isinstance(fault, Refused | Unavailable):
        console.say(f"smspec: {shown(str(fault))}")
        return 1 if isinstance(fault, Refused) else 3
    if isinstance(fault, OSError):
        console.say(f"smspec: {shown(_sentence(fault))}")
        return 3
    if isinstance(fault, MemoryError):
        console.say("smspec: there is not enough memory")
        return 3
    console.say(f"smspec: internal error: {type(fault).__name__}: {shown(str(fault))}")
    console.say(
        "this is a bug of smspec, not of your spec: please report this line, the command and, if you may, the spec"
    )
    console.say("with SMSPEC_DEBUG=1 in the environment it also shows where it happened")
    return 70


def _sentence(fault: OSError) -> str:
    reason = fault.strerror or str(fault)
    reason = reason[:1].lower() + reason[1:]
    named = fault.filename
    if fault.filename2 is not None and fault.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS):
        named = fault.filename2  # a copy names its original first, and it is the copy that has no room
    if named is None:
        return reason
    name = named if isinstance(named, str) else os.fsdecode(named)
    return f"`{name}`: {reason}"

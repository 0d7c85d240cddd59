"""How libraries parse a command line: one file per grammar."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.script.argument_fault import Fault
from smspec.script.program import Program
from smspec.script.script_environment import ScriptEnvironment


def faults_of(program: Program, environment: ScriptEnvironment) -> Iterator[Fault]:
    """Yield what the parsers of a script would reject of the arguments of a job."""
    arguments = environment.arguments
    if arguments is None:
        return
    for line in program.command_lines:
        if line.not_for_one_word and len(environment.words) == 1:
            continue
        # Imported late: most scripts use one library, and only argparse is loaded anyway.
        match line.grammar:
            case "argparse":
                from smspec.script.grammars.argparse_words import faults
            case "click":
                from smspec.script.grammars.click_words import faults
            case "absl":
                from smspec.script.grammars.absl_words import faults
            case "fire":
                from smspec.script.grammars.fire_words import faults
            case "lightning":
                from smspec.script.grammars.lightning_words import faults
            case "pairs":
                from smspec.script.grammars.pair_words import faults
        yield from faults(line, arguments)

"""Shell completion: ``smspec --completion bash``, ``zsh``, or ``fish`` prints a script made from the commands' parsers.

A script requests candidates that depend on files, such as the overlays of a spec: ``--completion overlays SPEC``.

argcomplete would start Python for every Tab, and shtab cannot complete what depends on files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from smspec.cli.command_errors import UsageError
from smspec.cli.completion import bash, fish, zsh
from smspec.cli.completion.candidates import CANDIDATES
from smspec.cli.completion.grammar import Grammar, grammars
from smspec.cli.console import Console

SHELLS: dict[str, Callable[[tuple[Grammar, ...]], str]] = {"bash": bash.script, "zsh": zsh.script, "fish": fish.script}


def completion(words: list[str], commands: Mapping[str, tuple[str, str]], console: Console) -> int:
    """Print the script of a shell, or the candidates that such a script requests."""
    topic, *rest = words or [""]
    if topic in SHELLS:
        console.content(SHELLS[topic](grammars(commands)))
        return 0
    if topic in CANDIDATES:
        console.content("".join(f"{word}\n" for word in CANDIDATES[topic](*rest[:1])))
        return 0
    raise UsageError("--completion is for a shell: write `smspec --completion bash`, `zsh` or `fish`")

"""Shell completion: ``smspec --completion bash``, ``zsh``, or ``fish`` prints a script made from the commands' parsers.

A script requests candidates that depend on files, such as the overlays of a spec: ``--completion overlays SPEC``.
An error yields no candidates.

argcomplete would start Python for every Tab, and shtab cannot complete what depends on files.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module

from smspec.cli.completion.scripts import (
    Grammar,
    Kind,
    OptionGrammar,
    ValueGrammar,
    bash_script,
    fish_script,
    zsh_script,
)
from smspec.cli.console import Console, UsageError
from smspec.source import Document
from smspec.source import Mapping as MappingNode

KINDS: dict[str, Kind] = {
    "CH=PATH": "channels",
    "CODE|KEY": "topics",
    "DIR": "directory",
    "EXE": "file",
    "FILE": "file",
    "FILE|NAME": "file",
    "KIND,…": "changes",
    "NAME|RUNDIR": "file",
    "NAME|SPEC": "file",
    "NAME|SPEC|RUNDIR": "file",
    "OLD NEW | PATH": "file",
    "PATH": "file",
    "REV": "revision",
    "SPEC": "file",
    "SPEC|DIR": "file",
    "vars.NAME=VALUE": "variables",
}
"""The kind of a value by its metavar in ``--help``; any other value has no completion."""

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""The only candidates: a shell inserts them into a command line, and a spec may contain anything."""

SHELLS: dict[str, Callable[[tuple[Grammar, ...]], str]] = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}


def grammars(commands: Mapping[str, tuple[str, str]]) -> tuple[Grammar, ...]:
    """Return the grammar of every command from its parser; ``commands``: name → module and summary."""
    return tuple(_grammar(name, module, summary) for name, (module, summary) in commands.items())


def _grammar(name: str, module: str, summary: str) -> Grammar:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    import_module(module).add_arguments(parser)
    # argparse has no public access to them.
    actions = parser._actions
    positions = [action for action in actions if not action.option_strings]
    return Grammar(
        command=name,
        summary=summary,
        options=tuple(_options(actions)),
        position=_value(positions[0]) if positions else None,
        many=any(position.nargs in ("*", "+") for position in positions),
    )


def _options(actions: list[argparse.Action]) -> Iterator[OptionGrammar]:
    # `--iam-policy=role` is an option name for argparse, but a value for the user.
    attached: dict[str, list[str]] = {}
    for action in actions:
        for name, _, value in (spelling.partition("=") for spelling in action.option_strings if "=" in spelling):
            attached.setdefault(name, []).append(value)
    for action in actions:
        names = tuple(spelling for spelling in action.option_strings if "=" not in spelling)
        if names:
            yield OptionGrammar(
                names=names,
                help=" ".join((action.help or "").replace("%%", "%").split()),
                value=None if action.nargs == 0 else _value(action),
                attached=tuple(value for name in names for value in attached.get(name, ())),
                repeats=isinstance(action, argparse._AppendAction),
            )


def _value(action: argparse.Action) -> ValueGrammar:
    shown = action.metavar if isinstance(action.metavar, str) else action.dest
    if action.choices is not None:
        return ValueGrammar(kind="choice", shown=shown, choices=tuple(map(str, action.choices)))
    kind = "overlays" if action.dest == "overlay" else KINDS.get(shown, "word")
    return ValueGrammar(kind=kind, shown=shown)


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


def overlays(path: str = "job.yaml") -> Iterator[str]:
    """Yield the names of the overlays of a spec and its base specs."""
    from smspec.spec.layers import overlay_names

    return _plain(overlay_names(*_layers(path)))


def variables(path: str = "job.yaml") -> Iterator[str]:
    """Yield the settings of the variables of a spec and its base specs, up to the value."""
    from smspec.spec.layers.variables import declared

    names = dict.fromkeys(name for layer in _layers(path) for name in declared(layer.node(("vars",)))[0])
    return (f"vars.{name}=" for name in _plain(names))


def channels(path: str = "job.yaml") -> Iterator[str]:
    """Yield the channels of a spec and its base specs, up to the value of ``--data``."""
    entries = (layer.node(("channels",)) for layer in _layers(path))
    names = dict.fromkeys(key.text for node in entries if isinstance(node, MappingNode) for key, _ in node.entries)
    return (f"{name}=" for name in _plain(names))


def changes(_: str = "") -> Iterator[str]:
    """Yield the kinds of changes of `diff --fail-on`."""
    from smspec.review.kinds import KINDS

    return iter(KINDS)


def topics(_: str = "") -> Iterator[str]:
    """Yield the topics of `explain`. A name replaces the `*` of a key, which shells would expand to files."""
    from smspec.diagnostics.explanation import explained_codes
    from smspec.spec.schema.reference import keys

    return iter([*explained_codes(), *(key.replace("*", "NAME") for key in keys())])


CANDIDATES: dict[str, Callable[..., Iterator[str]]] = {
    "overlays": overlays,
    "variables": variables,
    "channels": channels,
    "changes": changes,
    "topics": topics,
}


def _layers(path: str) -> tuple[Document, ...]:
    from smspec.diagnostics import InvalidInput
    from smspec.pipeline.input_cache import InputCache
    from smspec.pipeline.inputs import read_spec_files
    from smspec.spec.layers.variables import OptionError

    try:
        return read_spec_files(path, InputCache()).documents
    except (InvalidInput, OptionError, OSError):
        return ()


def _plain(names: Iterable[str]) -> Iterator[str]:
    return (name for name in names if _PLAIN.fullmatch(name))

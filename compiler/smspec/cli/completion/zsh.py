"""The script for zsh: a file `_smspec` on its `fpath`, or sourced."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from smspec.cli.completion.grammar import Grammar, Option, Value

_SCRIPT = r"""#compdef smspec
# Completion of smspec for zsh. `smspec --completion zsh` wrote it, of the version that it completes.
_smspec_ask() {
    # _arguments puts what compadd needs before the word of ours.
    local topic=$argv[-1] spec=job.yaml word
    local -a found
    argv[-1]=()
    for word in $words; do
        [[ $word == *.(yaml|yml) && -f $word ]] && spec=$word
    done
    found=(${(f)"$($program --completion $topic $spec 2>/dev/null)"})
    if [[ $topic == (variables|channels) ]]; then
        compadd "$@" -S '' -a found
    else
        compadd "$@" -a found
    fi
}

_smspec_revisions() {
    local -a found
    found=(${(f)"$(git -c safe.bareRepository=explicit for-each-ref '--format=%(refname:short)' 2>/dev/null)"})
    compadd "$@" -a found
}

_smspec() {
    local program=$words[1]
    if (( CURRENT == 2 )); then
        local -a commands
        commands=(
@COMMANDS@
        )
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
@CASES@
    esac
}

if [[ $funcstack[1] == _smspec ]]; then
    _smspec "$@"
else
    compdef _smspec smspec
fi
"""


def script(grammars: tuple[Grammar, ...]) -> str:
    """Return the script that completes these commands."""
    commands = (shlex.quote(f"{grammar.command}:{grammar.summary}") for grammar in grammars)
    text = _SCRIPT.replace("@COMMANDS@", "\n".join(f"            {command}" for command in commands))
    return text.replace("@CASES@", "\n".join(map(_case, grammars)))


def _case(grammar: Grammar) -> str:
    specs = [spec for option in grammar.options for spec in _specs(option)]
    if grammar.position is not None:
        specs.append(f"{'*' if grammar.many else ''}:{_taken(grammar.position)}")
    lines = " \\\n".join(f"            {shlex.quote(spec)}" for spec in specs)
    return f"    {grammar.command})\n        _arguments -s \\\n{lines}\n        ;;"


def _specs(option: Option) -> Iterator[str]:
    others = "*" if option.repeats else f"({' '.join(option.names)})"
    help = f"[{_plain(option.help)}]"
    for name in option.names:
        if option.attached and name == option.names[-1]:
            yield f"{others}{name}=-{help}::{_plain(name)}:({' '.join(option.attached)})"
        elif option.value is None:
            yield f"{others}{name}{help}"
        else:
            yield f"{others}{name}{'=' if name.startswith('--') else '+'}{help}:{_taken(option.value)}"


def _taken(value: Value) -> str:
    action = {
        "file": "_files",
        "directory": "_files -/",
        "revision": "_smspec_revisions",
        "choice": f"({' '.join(value.choices)})",
        "word": " ",
    }.get(value.kind, f"_smspec_ask {value.kind}")
    return f"{_plain(value.shown)}:{action}"


def _plain(text: str) -> str:
    return re.sub(r"([\\:\[\]])", r"\\\1", text)

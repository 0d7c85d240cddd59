"""The completion script of each shell, made from the grammars of the commands.

That for bash 3.2 or later never expands or runs text from a spec or a repository; that for zsh is a file `_smspec` on
its `fpath`, or sourced; that for fish requires 3.1.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Literal

from smspec.source.frozen import dataclass

Kind = Literal[
    "file", "directory", "overlays", "variables", "channels", "changes", "topics", "revision", "choice", "word"
]

_BASH = r"""# Completion of smspec for bash. `smspec --completion bash` wrote it, of the version that it completes.
_smspec() {
    local line=${COMP_LINE:0:COMP_POINT} command='' current='' previous='' spec=job.yaml is_ours='' word found=''
    local -a words
    read -r -a words <<<"$line"
    if [[ $line != *[[:blank:]] ]]; then
        current=${words[${#words[@]} - 1]}
        unset "words[${#words[@]} - 1]"
    fi
    for word in "${words[@]}"; do
        if [[ -z $is_ours ]]; then
            [[ $word == "$1" ]] && is_ours=1
            continue
        fi
        [[ -n $command ]] || command=$word
        [[ $word == *.y*ml && -f $word ]] && spec=$word
        previous=$word
    done
    COMPREPLY=()

    # bash breaks words at `=`, and replaces only what stands behind it.
    local start=''
    if [[ $current == -*=* ]]; then
        previous=${current%%=*}=
        current=${current#*=}
        [[ $COMP_WORDBREAKS == *=* ]] || start=$previous
    fi

    local kind=word options='' choices=''
    case $command in
    '')
        kind=choice choices=@COMMANDS@
        ;;
@OPTIONS@
    esac
    if [[ -n $command ]]; then
        case "$command $previous" in
@VALUES@
        *)
            if [[ $current == -* ]]; then
                kind=choice choices=$options
            else
                case $command in
@POSITIONS@
                esac
            fi
            ;;
        esac
    fi

    case $kind in
    file) return ;;
    directory)
        compopt -o filenames 2>/dev/null
        found=$(compgen -d -- "$current")
        ;;
    choice) found=$choices ;;
    revision) found=$(git -c safe.bareRepository=explicit for-each-ref '--format=%(refname:short)' 2>/dev/null) ;;
    overlays | variables | channels | changes | topics) found=$("$1" --completion "$kind" "$spec" 2>/dev/null) ;;
    esac
    compopt +o default 2>/dev/null
    while IFS= read -r word; do
        [[ $kind != directory && $word == *[!A-Za-z0-9._/=+@-]* ]] && continue
        [[ -n $word && $word == "$current"* ]] && COMPREPLY+=("$start$word")
    done <<<"$found"
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _smspec smspec
"""

_ZSH = r"""#compdef smspec
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

_FISH = r"""# Completion of smspec for fish. `smspec --completion fish` wrote it, of the version that it completes.
function __smspec_begins
    test (count (commandline -opc)) -eq 1
end

function __smspec_is -a command
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$command"
end

function __smspec_ask -a topic
    set -l words (commandline -opc)
    set -l spec job.yaml
    for word in $words
        if string match -qr '\.ya?ml$' -- $word; and test -f $word
            set spec $word
        end
    end
    command $words[1] --completion $topic $spec 2>/dev/null
end

function __smspec_revisions
    git -c safe.bareRepository=explicit for-each-ref '--format=%(refname:short)' 2>/dev/null
end

complete -c smspec -e
complete -c smspec -f
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGrammar:
    """The value of an option or a position; ``choices`` are all possible values."""

    kind: Kind
    shown: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionGrammar:
    """``attached`` are words that can follow the name only after ``=``. ``repeats``: can be repeated."""

    names: tuple[str, ...]
    help: str
    value: ValueGrammar | None
    attached: tuple[str, ...] = ()
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """One command. ``position`` is its positional argument, ``many`` whether there may be several."""

    command: str
    summary: str
    options: tuple[OptionGrammar, ...]
    position: ValueGrammar | None
    many: bool


def bash_script(grammars: tuple[Grammar, ...]) -> str:
    """Return the script that completes these commands."""
    parts = {
        "@COMMANDS@": _bash_words(grammar.command for grammar in grammars),
        "@OPTIONS@": "\n".join(
            f"    {grammar.command}) options={_bash_words(_bash_names(grammar))} ;;" for grammar in grammars
        ),
        "@VALUES@": "\n".join(line for grammar in grammars for line in _bash_values(grammar)),
        "@POSITIONS@": "\n".join(
            f"                {grammar.command}) {_bash_kind(grammar.position)} ;;"
            for grammar in grammars
            if grammar.position
        ),
    }
    text = _BASH
    for place, part in parts.items():
        text = text.replace(place, part)
    return text


def _bash_words(words: Iterable[str]) -> str:
    """Return words as quoted lines."""
    return shlex.quote("\n".join(words))


def _bash_names(grammar: Grammar) -> Iterator[str]:
    for option in grammar.options:
        yield from option.names
        yield from (f"{option.names[-1]}={value}" for value in option.attached)


def _bash_values(grammar: Grammar) -> Iterator[str]:
    for option in grammar.options:
        if option.value is not None:
            yield f"        {_bash_cases(grammar, option, '', '=')}) {_bash_kind(option.value)} ;;"
        elif option.attached:
            listed = _bash_words(option.attached)
            yield f"        {_bash_cases(grammar, option, '=')}) kind=choice choices={listed} ;;"


def _bash_cases(grammar: Grammar, option: OptionGrammar, *ends: str) -> str:
    """Return the patterns of a command and the previous word: a name, or with `=` the same word up to there."""
    return " | ".join(f"'{grammar.command} {name}{end}'" for name in option.names for end in ends)


def _bash_kind(value: ValueGrammar) -> str:
    if value.kind == "choice":
        return f"kind=choice choices={_bash_words(value.choices)}"
    return f"kind='{value.kind}'"


def zsh_script(grammars: tuple[Grammar, ...]) -> str:
    """Return the script that completes these commands."""
    commands = (shlex.quote(f"{grammar.command}:{grammar.summary}") for grammar in grammars)
    text = _ZSH.replace("@COMMANDS@", "\n".join(f"            {command}" for command in commands))
    return text.replace("@CASES@", "\n".join(map(_zsh_case, grammars)))


def _zsh_case(grammar: Grammar) -> str:
    specs = [spec for option in grammar.options for spec in _zsh_specs(option)]
    if grammar.position is not None:
        specs.append(f"{'*' if grammar.many else ''}:{_zsh_taken(grammar.position)}")
    lines = " \\\n".join(f"            {shlex.quote(spec)}" for spec in specs)
    return f"    {grammar.command})\n        _arguments -s \\\n{lines}\n        ;;"


def _zsh_specs(option: OptionGrammar) -> Iterator[str]:
    others = "*" if option.repeats else f"({' '.join(option.names)})"
    help = f"[{_zsh_text(option.help)}]"
    for name in option.names:
        if option.attached and name == option.names[-1]:
            yield f"{others}{name}=-{help}::{_zsh_text(name)}:({' '.join(option.attached)})"
        elif option.value is None:
            yield f"{others}{name}{help}"
        else:
            yield f"{others}{name}{'=' if name.startswith('--') else '+'}{help}:{_zsh_taken(option.value)}"


def _zsh_taken(value: ValueGrammar) -> str:
    action = {
        "file": "_files",
        "directory": "_files -/",
        "revision": "_smspec_revisions",
        "choice": f"({' '.join(value.choices)})",
        "word": " ",
    }.get(value.kind, f"_smspec_ask {value.kind}")
    return f"{_zsh_text(value.shown)}:{action}"


def _zsh_text(text: str) -> str:
    return re.sub(r"([\\:\[\]])", r"\\\1", text)


def fish_script(grammars: tuple[Grammar, ...]) -> str:
    """Return the script that completes these commands."""
    lines = [f"-n __smspec_begins -a {grammar.command} -d {_fish_quoted(grammar.summary)}" for grammar in grammars]
    lines += [line for grammar in grammars for line in _fish_lines(grammar)]
    return _FISH + "".join(f"complete -c smspec {line}\n" for line in lines)


def _fish_lines(grammar: Grammar) -> Iterator[str]:
    here = f"-n '__smspec_is {grammar.command}'"
    for option in grammar.options:
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        yield f"{here} {names}{_fish_taken(option.value)} -d {_fish_quoted(option.help)}"
        for value in option.attached:
            yield f"{here} -a {option.names[-1]}={value}"
    if grammar.position is not None and grammar.position.kind != "word":
        yield here + (" -F" if grammar.position.kind == "file" else _fish_words(grammar.position))


def _fish_taken(value: ValueGrammar | None) -> str:
    if value is None:
        return ""
    if value.kind == "file":
        return " -r -F"
    return f" -x{_fish_words(value)}"


def _fish_words(value: ValueGrammar) -> str:
    words = {
        "directory": "(__fish_complete_directories (commandline -ct))",
        "revision": "(__smspec_revisions)",
        "choice": " ".join(value.choices),
        "word": "",
    }.get(value.kind, f"(__smspec_ask {value.kind})")
    return f" -a {_fish_quoted(words)}" if words else ""


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

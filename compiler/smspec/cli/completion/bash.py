"""The script for bash 3.2 or later. It never expands or runs text from a spec or a repository."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from smspec.cli.completion.grammar import Grammar, Option, Value

_SCRIPT = r"""# Completion of smspec for bash. `smspec --completion bash` wrote it, of the version that it completes.
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


def script(grammars: tuple[Grammar, ...]) -> str:
    """Return the script that completes these commands."""
    parts = {
        "@COMMANDS@": _listed(grammar.command for grammar in grammars),
        "@OPTIONS@": "\n".join(f"    {grammar.command}) options={_listed(_names(grammar))} ;;" for grammar in grammars),
        "@VALUES@": "\n".join(line for grammar in grammars for line in _values(grammar)),
        "@POSITIONS@": "\n".join(
            f"                {grammar.command}) {_kind(grammar.position)} ;;"
            for grammar in grammars
            if grammar.position
        ),
    }
    text = _SCRIPT
    for place, part in parts.items():
        text = text.replace(place, part)
    return text


def _listed(words: Iterable[str]) -> str:
    """Return words as quoted lines."""
    return shlex.quote("\n".join(words))


def _names(grammar: Grammar) -> Iterator[str]:
    for option in grammar.options:
        yield from option.names
        yield from (f"{option.names[-1]}={value}" for value in option.attached)


def _values(grammar: Grammar) -> Iterator[str]:
    for option in grammar.options:
        if option.value is not None:
            yield f"        {_cases(grammar, option, '', '=')}) {_kind(option.value)} ;;"
        elif option.attached:
            listed = _listed(option.attached)
            yield f"        {_cases(grammar, option, '=')}) kind=choice choices={listed} ;;"


def _cases(grammar: Grammar, option: Option, *ends: str) -> str:
    """Return the patterns of a command and the previous word: a name, or with `=` the same word up to there."""
    return " | ".join(f"'{grammar.command} {name}{end}'" for name in option.names for end in ends)


def _kind(value: Value) -> str:
    if value.kind == "choice":
        return f"kind=choice choices={_listed(value.choices)}"
    return f"kind='{value.kind}'"

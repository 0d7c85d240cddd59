"""The script for fish 3.1 or later."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.cli.completion.grammar import Grammar, Option, Value

_SCRIPT = r"""# Completion of smspec for fish. `smspec --completion fish` wrote it, of the version that it completes.
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


def script(grammars: tuple[Grammar, ...]) -> str:
    """Return the script that completes these commands."""
    lines = [f"-n __smspec_begins -a {grammar.command} -d {_quoted(grammar.summary)}" for grammar in grammars]
    lines += [line for grammar in grammars for line in _lines(grammar)]
    return _SCRIPT + "".join(f"complete -c smspec {line}\n" for line in lines)


def _lines(grammar: Grammar) -> Iterator[str]:
    here = f"-n '__smspec_is {grammar.command}'"
    for option in grammar.options:
        yield f"{here} {_names(option)}{_taken(option.value)} -d {_quoted(option.help)}"
        for value in option.attached:
            yield f"{here} -a {option.names[-1]}={value}"
    if grammar.position is not None and grammar.position.kind != "word":
        yield f"{here}{_position(grammar.position)}"


def _names(option: Option) -> str:
    return " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)


def _taken(value: Value | None) -> str:
    if value is None:
        return ""
    if value.kind == "file":
        return " -r -F"
    return f" -x{_words(value)}"


def _position(value: Value) -> str:
    return " -F" if value.kind == "file" else _words(value)


def _words(value: Value) -> str:
    words = {
        "directory": "(__fish_complete_directories (commandline -ct))",
        "revision": "(__smspec_revisions)",
        "choice": " ".join(value.choices),
        "word": "",
    }.get(value.kind, f"(__smspec_ask {value.kind})")
    return f" -a {_quoted(words)}" if words else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

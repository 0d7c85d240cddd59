"""``smspec fmt``: put the keys of job specs and base specs in order.

Lines are moved, and nothing is written anew: a writer of YAML would change quotes and indentation, and the first pull
request would show a thousand lines. The file of a generator stays, because its next run would undo the change.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from smspec.cli.console import Console
from smspec.cli.parser import add_quiet_argument
from smspec.cli.spec_arguments import add_root_argument, root
from smspec.diagnostics import InvalidInput
from smspec.diagnostics.quoting import MASK, masked, visible
from smspec.output.atomic_file import OutputFailed, is_generated, remove_unfinished, replace_content
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.spec_discovery import find_candidates
from smspec.source import SourceText
from smspec.source.frozen import dataclass
from smspec.spec.key_order import in_order
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.spec_reading import USUAL_SPEC, is_meant_as_spec

HELP = """\
Order the keys of job specs and base specs: first `smspec`, then what identifies the job, such as `extends` and `name`,
then what it does, in the order that you chose, and last `overlays` and `checks`. The keys of a mapping inside it follow
the reference. Comments move with their keys.

A directory means the specs below it. Names that you choose keep their order: channels, hyperparameters, variables.
smspec moves whole lines and changes nothing else, so a mapping on one line keeps its order.

Exit status: 0 done; 1 with --check or --diff: files would change; 1 also if a file is not valid YAML, and the others
are done."""

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Formatted:
    """A file, its content, and the content that it should have. ``kept``: lines of mappings that stay out of order."""

    path: str
    before: bytes
    after: bytes
    kept: tuple[int, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="files, or directories to search (default: job.yaml)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file would change")
    parser.add_argument("--diff", action="store_true", help="as --check, and print what would change as a diff")
    add_quiet_argument(parser, "print only errors, and the files that --check finds")
    add_root_argument(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    cache = InputCache(root(args))
    args.check |= args.diff
    statuses = [0]
    changed = 0
    with signals_interrupt():
        paths = tuple(find_candidates(args.paths or [USUAL_SPEC], cache).found.values())
        if not args.check:
            for directory in {os.path.dirname(os.path.realpath(path)) for path in paths}:
                remove_unfinished(directory)
        for path in paths:
            try:
                changed += _format(path, cache, args, console)
            except InvalidInput as invalid:
                console.warned(invalid.diagnostics, invalid.texts)
                statuses.append(1)
            except OutputFailed as failure:
                console.say(f"smspec: {visible(str(failure))}")
                statuses.append(3)
    verb = "would change" if args.check else "changed"
    console.remark(f"{len(paths)} {'spec' if len(paths) == 1 else 'specs'}, {changed} {verb}")
    return max(*statuses, int(args.check and changed > 0))


def _format(path: str, cache: InputCache, args: argparse.Namespace, console: Console) -> bool:
    """Write a file, or only report it; return whether it changes. Raise `InvalidInput` and `OutputFailed`."""
    formatted = _formatted(path, cache)
    is_changed = formatted.after != formatted.before
    if is_changed and not args.check:
        replace_content(path, formatted.before, formatted.after)
    if is_changed and args.diff:
        console.result(_difference(formatted))
    elif is_changed and args.check:
        console.result(f"{visible(path)}\n")
    for line in _report(formatted, args):
        console.remark(line)
    return is_changed


def _difference(formatted: _Formatted) -> str:
    """Return the change of a file as a unified diff, whose values are visible."""
    from difflib import unified_diff  # imported late: it takes longer than the parser of most specs

    path = visible(formatted.path)
    before, after = _without_secrets(formatted.before.decode("utf-8"), formatted.after.decode("utf-8"))
    return "".join(f"{visible(line)}\n" for line in unified_diff(before, after, path, path, n=1, lineterm=""))


def _without_secrets(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the lines of two texts with the same lines, masked: what is a secret in one of them is one in the other.

    A secret may have several lines, such as a private key, or be recognized by the line above it.
    """
    hidden: dict[str, str] = {}
    for text in (before, after):
        for line, shown in zip(text.split("\n"), masked(text).split("\n"), strict=True):
            words = line.lstrip(" -")  # the first line of an item gets a dash
            if line != shown and shown.count(MASK) > hidden.get(words, "").count(MASK):
                hidden[words] = shown[len(line) - len(words) :]

    def masked_line(line: str) -> str:
        words = line.lstrip(" -")
        return line[: len(line) - len(words)] + hidden.get(words, words).removesuffix("\r")

    return [*map(masked_line, _lines(before))], [*map(masked_line, _lines(after))]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _formatted(path: str, cache: InputCache) -> _Formatted:
    """Return a file with its keys in order. Raise `InvalidInput` if it cannot be parsed."""
    text = cache.spec(path).texts[0]
    before = cache.content(path)
    if is_generated(before) or not is_meant_as_spec(before):
        return _Formatted(path=path, before=before, after=before, kept=())
    ordered = in_order(SourceText(path, text.text))
    mark = _MARK if before.startswith(_MARK) else b""
    return _Formatted(path=path, before=before, after=mark + ordered.text.encode("utf-8"), kept=ordered.kept)


def _report(formatted: _Formatted, args: argparse.Namespace) -> Iterator[str]:
    """Yield what to say about a file besides its name."""
    path = visible(formatted.path)
    if is_generated(formatted.before):
        yield f"{path}: not changed, because a program generates it"
    elif not is_meant_as_spec(formatted.before):
        yield f"{path}: not changed, because it is not a spec; a spec sets `smspec: v1`"
    elif formatted.before != formatted.after and not args.check:
        yield f"{path}: ordered"
    for line in formatted.kept:
        yield f"{path}:{line}: keys keep their order here, because moving the lines could change the spec"

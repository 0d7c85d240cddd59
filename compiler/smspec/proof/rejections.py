"""Judge a parser that rejects the arguments of a job on this machine: whether it rejects them in the container, too.

A type or a check of the author may look at files, devices, or data, which are others there. The messages of the
libraries themselves are about the words alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from smspec.diagnostics import HERE, Finding, Note
from smspec.proof import REJECTED_ARGUMENTS
from smspec.proof.failures import OF_THE_INSTANCE, Circumstances, unproven
from smspec.script.program import bare
from smspec.source import Path
from smspec.spec.model import CommandEntry, JobSpec, ScriptEntry

LONGEST_LINE = 110

_ABOUT_WORDS = re.compile(
    r"unrecognized arguments|arguments are required|expected (?:one|at |\d+ )|not allowed with argument"
    r"|ambiguous option|one of the arguments .* is required|invalid choice: .*\(choose from [^)]"
    r"|invalid \w+ value: '[^/']*'$"
    r"|[Nn]o such (?:option|command)|Missing (?:option|argument|parameter|command)|[Uu]nexpected extra argument"
    r"|is not a valid (?:\w+ )?(?:integer|float|boolean|UUID|range|datetime)|is not one of|[Uu]nknown command line flag"
    r"|not used by the HfArgumentParser|requires (?:(?:an|\d+) )?argument|does not take a value"
    r"|option --?\S+ (?:not recognized|must not have an argument|not a unique prefix)"
)
_OF_THIS_MACHINE = re.compile(r"\bcpus?\b|\bcores?\b|\bmemory\b|\bdisk\b|\bhost\b|\bnetwork\b", re.IGNORECASE)
_NOTHING_TO_CHOOSE = re.compile(r"\(choose from ?\)|choose from:? *$")
_CHANGES = re.compile(r"Permission denied|Read-only file system|smspec check|not writable", re.IGNORECASE)
_OF_HYDRA_OR_THE_SOURCE = ("pkg://hydra.", "structured://", "file:///opt/ml/code/")
"""Where Hydra looks for configurations, other than in data."""

_ABSOLUTE = re.compile(r"(?<![\w.~/:])/[^\s'\":,;)]+")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w.-]*")


def rejection(message: str, job: JobSpec, here: Circumstances, argv: Sequence[str]) -> Finding:
    """Return the finding about arguments that the parser of the script rejects; ``argv``: what it reads."""
    line = " ".join(message.split())
    path = _cause(line, job) or here.path
    reason = _reason(line, here, argv)
    if reason:
        shown = Note(message_line(message, here))
        return unproven(path, f"the arguments of `{here.script}` were not checked: {reason}", shown)
    what = "its arguments" if path == here.path else HERE
    return REJECTED_ARGUMENTS.at(
        path,
        f"`{here.script}` rejects {what}",
        help=f"fix the value, or the parser of `{here.script}`",
        notes=(Note(message_line(message, here)),),
    )


def message_line(message: str, here: Circumstances) -> str:
    """Return a message in one line, with the paths of the container."""
    line = re.sub(r"^[\w./-]+: error: ", "", " ".join(here.shown(message).split()))
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def _reason(line: str, here: Circumstances, argv: Sequence[str]) -> str:
    """Return why the container may accept what is rejected here; empty if it certainly does not."""
    if _ABOUT_WORDS.search(line):
        return ""
    searched = re.findall(r" path=([a-z]+://[^\s,]*)", here.shown(line).partition("Config search path:")[2])
    if searched and all(f"{path}/".startswith(_OF_HYDRA_OR_THE_SOURCE) for path in searched):
        return ""
    head = line.partition(": ")[0] if line.startswith("argument ") else line
    options = _OPTION.findall(head)
    values = _values(options, argv)
    texts = [here.shown(text) for text in (line, *values)]
    paths = [os.path.normpath(path.rstrip(".")) for text in texts for path in _ABSOLUTE.findall(text)]
    if any(_is_around(path, place) for path in paths for place in here.data):
        return "the data of the job is not on this machine"
    if any(here.is_unknown(path) for path in paths):
        return "its surroundings differ on this machine"
    if here.data and (not values or _NOTHING_TO_CHOOSE.search(line)) and not _is_relative(line):
        return "they may depend on the data of the job"
    is_of_machine = OF_THE_INSTANCE.search(line) or _OF_THIS_MACHINE.search(line) or _NOTHING_TO_CHOOSE.search(line)
    is_about_words = re.search(r"invalid \w+ value: ", line) and not paths
    if _CHANGES.search(line) or (is_of_machine and not is_about_words):
        return "its surroundings differ on this machine"
    return ""


def _values(options: Sequence[str], argv: Sequence[str]) -> list[str]:
    """Return the words that options get, or all words if no option is named."""
    if not options:
        return list(argv)
    wanted = {bare(option) for option in options}
    found = []
    for number, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name.startswith("-") and bare(name) in wanted:
            found += [value] if equals else [*argv[number + 1 : number + 2]] or [""]
    return found


def _is_relative(line: str) -> bool:
    """Return whether a message is about a file of the source, which is the same everywhere."""
    named = re.search(r"(?:can't open|[Ff]ile|[Pp]ath|[Dd]irectory) '([^'/][^']*)'", line)
    return named is not None


def _is_around(path: str, place: str) -> bool:
    """Return whether what is at a path depends on the content of a place."""
    return f"{path}/".startswith(f"{place}/") or f"{place}/".startswith(f"{path}/") or path.startswith(f"{place}_")


def _cause(message: str, job: JobSpec) -> Path | None:
    """Return the key of the spec whose argument a message names first; None if there is none."""
    known = {bare(each.name): each.name for each in job.hyperparameters}
    words = re.findall(r"(?<![\w-])--?([A-Za-z][\w.-]*)", message)
    for word in [*words, *re.findall(r"'[+~]*([A-Za-z][\w.-]*)(?==|')", message)]:
        if bare(word) in known:
            return ("hyperparameters", known[bare(word)])
    if "required" in message.lower() and job.hyperparameters:
        return ("hyperparameters",)
    entry = job.entry_point
    if isinstance(entry, ScriptEntry) and entry.args:
        return ("entry_point", "args")
    return ("entry_point", "command") if isinstance(entry, CommandEntry) else None

"""Run a script until its parser has read the arguments of the job."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from smspec.diagnostics import Finding, Note
from smspec.diagnostics.finding import HERE
from smspec.proof import REJECTED_ARGUMENTS
from smspec.proof.failures import Circumstances, script_failure, unproven
from smspec.proof.observation import Observation
from smspec.script.program import Program, UnreadScript, bare
from smspec.source import Path, SourceText
from smspec.spec.model import CommandEntry, JobSpec, ScriptEntry

_WORDS = re.compile(r"\b(?:argparse|ArgumentParser|HfArgumentParser|click|typer|absl|jsonargparse|hydra|fire|tyro)\b")
_OTHERS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(hydra|fire|tyro|omegaconf|simple_parsing|docopt)\b", re.MULTILINE)
_PARSES = {
    "hydra": re.compile(r"\bhydra\.main\b|^[ \t]*from[ \t]+hydra[ \t]+import\b.*\bmain\b", re.MULTILINE),
    "fire": re.compile(r"\bFire\s*\("),
    "tyro": re.compile(r"\btyro\.cli\s*\(|^[ \t]*from[ \t]+tyro[ \t]+import\b.*\bcli\b", re.MULTILINE),
}
_CALLS_MORE = re.compile(r"\btyro\.extras\b|\bconstructor\s*=")
"""By these, tyro calls functions that the driver cannot know to be the program."""

_FROM_CLI = re.compile(r"\bfrom_cli\b")
_LONGEST = 110


def parser_count(program: Program | UnreadScript | None, texts: Sequence[SourceText]) -> int:
    """Return how many parsers read the command line; 0 if there is none that a script can be stopped after.

    ``texts``: the script, then the modules that it can import. Without a parser it would run to its end.
    """
    if foreign_parser(texts):
        return 0
    if isinstance(program, Program) and not program.command_lines and program.stop is None:
        texts = texts[:1]  # other modules may have parsers for themselves
    if not any(_WORDS.search(text.text) for text in texts):
        return 0
    return max(1, len(program.command_lines)) if isinstance(program, Program) else 1


def foreign_parser(texts: Iterable[SourceText]) -> str:
    """Return the library of a parser that a script cannot be stopped after; empty if there is none."""
    contents = [text.text for text in texts]
    used = dict.fromkeys(match[1] for text in contents for match in _OTHERS.finditer(text))
    return next((library for library in used if not _is_harmless(library, contents)), "")


def _is_harmless(library: str, texts: Iterable[str]) -> bool:
    """Return whether the driver stops the parser of a library, or the script uses none of it."""
    if library == "omegaconf":
        return not any(map(_FROM_CLI.search, texts))
    if library == "tyro" and any(map(_CALLS_MORE.search, texts)):
        return False
    return library in _PARSES and any(map(_PARSES[library].search, texts))


def argument_findings(seen: Observation, job: JobSpec, here: Circumstances, seconds: float) -> list[Finding]:
    """Return what is wrong with the arguments, or why that is unknown."""
    if seen.kind == "parsed" and seen.is_open:
        reason = "another parser may read what the first one leaves"
        return [unproven(here.path, f"only a part of the arguments of `{here.script}` was checked: {reason}")]
    if seen.kind == "parsed":
        return []
    if seen.kind == "caught":
        reason = "the script goes on after its parser rejects them"
        notes = (Note(_line(seen.message)),) if seen.message else ()
        return [unproven(here.path, f"the arguments of `{here.script}` were not checked: {reason}", *notes)]
    if seen.kind == "rejected":
        return [_rejected(seen.message or seen.ended.last_line, job, here)]
    if seen.raised is not None:
        return [script_failure(seen.raised, here)]
    if seen.kind == "late":
        reason = f"it did not reach its parser in {seconds:g} s"
    elif seen.kind == "killed":
        reason = f"{seen.signal_name} ended it before its parser"
    else:
        reason = "it ended before its parser"
    return [unproven(here.path, f"the arguments of `{here.script}` were not checked: {reason}", *_last(seen))]


def _last(seen: Observation) -> tuple[Note, ...]:
    line = seen.ended.last_line[:_LONGEST]
    return (Note(f"its last line: {line}"),) if line and seen.kind != "late" else ()


def _rejected(message: str, job: JobSpec, here: Circumstances) -> Finding:
    line = " ".join(message.split())
    path = _cause(line, job) or here.path
    what = "its arguments" if path == here.path else HERE
    return REJECTED_ARGUMENTS.at(
        path,
        f"`{here.script}` rejects {what}",
        help=f"fix the value, or the parser of `{here.script}`",
        notes=(Note(_line(message)),),
    )


def _line(message: str) -> str:
    line = re.sub(r"^[\w./-]+: error: ", "", " ".join(message.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


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

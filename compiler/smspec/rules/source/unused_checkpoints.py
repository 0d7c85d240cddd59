"""SageMaker restores and uploads the checkpoint directory; writing and reading checkpoints is up to the script."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Literal

from smspec.diagnostics import Finding, Note, Rule
from smspec.diagnostics.quoting import quoted
from smspec.rules.source.source_and_job import SourceAndJob, file_name, place_in
from smspec.source import SourceText
from smspec.source.by_identity import ByIdentity
from smspec.spec.model import CommandEntry, JobSpec, ScriptEntry

RULE = Rule("SM528", "unused checkpoints", "warning")
ELSEWHERE = Rule("SM529", "checkpoints in another directory", "warning")

DEFAULT = "/opt/ml/checkpoints"
_Mentioned = Literal["directory", "checkpoints", ""]
_OF_SOURCES: ByIdentity[set[_Mentioned]] = ByIdentity()  # many jobs can share a source
_WORDS = re.compile(r"check_?-?point|ckpt|resum|snapshot|restor", re.IGNORECASE)
_LITERAL = re.compile(r"/(?:opt/ml|tmp)/(?!model\b|output\b|input\b|code\b)[\w./-]*(?:checkpoint|ckpt)[\w./-]*")


def check(both: SourceAndJob) -> Iterator[Finding]:
    """Warn about checkpoints that nothing in the source or the job mentions, or that go to another directory."""
    checkpoints = both.job.checkpoints
    if checkpoints is None or "CheckpointConfig" in both.job.api:
        return
    local = (checkpoints.local or DEFAULT).rstrip("/")
    of_source = _OF_SOURCES.of(local, both.texts, lambda: {_mentioned(text.text, local) for text in both.texts})
    if "directory" in of_source:
        return
    words = _words_of(both.job)
    if not (any(of_source) or _WORDS.search(words) or _mentions(words, local)):
        yield RULE.at(
            ("checkpoints",),
            f"`checkpoints` has no effect: neither the source nor the job mentions `{local}`",
            help=f"save to and resume from `{local}` in the script, or remove `checkpoints`",
            notes=(Note("a restarted job begins at the first step: the script writes no checkpoints there"),),
        )
    elif not _mentions(words, local):
        yield from _elsewhere(both, local)


def _elsewhere(both: SourceAndJob, local: str) -> Iterator[Finding]:
    """Yield the first directory of checkpoints that the script names instead."""
    for text in both.modules:
        for literal in _LITERAL.finditer(text.text):
            path = literal[0].rstrip("/.")
            if path == local or path.startswith(f"{local}/") or not _is_string(text, path):
                continue
            yield ELSEWHERE.at(
                ("checkpoints",),
                f"`{file_name(text.name)}` uses {quoted(path)}, but the job saves `{local}`",
                help=f"use `{local}` in the script, or set `checkpoints.local` to the directory of the script",
                notes=(Note("the script names it here", place_in(text, literal.start(), literal.start() + len(path))),),
            )
            return


def _is_string(text: SourceText, path: str) -> bool:
    """Return whether a path is in a string that the script uses: not in a comment or a docstring."""
    from smspec.script.parsing import nodes_of, parsed  # imported late: few jobs write checkpoints elsewhere

    tree = parsed(text)
    if tree is None:
        return False
    idle = {id(node.value) for node in nodes_of(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in nodes_of(tree) if isinstance(node, ast.Constant) and id(node) not in idle)
    return any(isinstance(node.value, str) and node.value.rstrip("/.").startswith(path) for node in strings)


def _mentioned(text: str, local: str) -> _Mentioned:
    """Return what a text of a source mentions."""
    if _mentions(text, local):
        return "directory"
    return "checkpoints" if _WORDS.search(text) else ""


def _mentions(text: str, local: str) -> bool:
    """Return whether a text names the directory, or one of its parent directories as a string of its own."""
    if local in text:
        return True
    parent = local
    while (parent := parent.rpartition("/")[0]) and parent:
        if re.search(rf"{re.escape(parent)}/?(?=[\"'\s,]|\Z)", text):
            return True
    return False


def _words_of(job: JobSpec) -> str:
    """Return all texts of a job that its script can get."""
    entry = job.entry_point
    words = entry.args if isinstance(entry, ScriptEntry) else entry.command if isinstance(entry, CommandEntry) else ()
    hyperparameters = {one.name: one.value for one in job.hyperparameters}
    variables = {name: value for name, value in job.environment.items() if not name.startswith("SAGEMAKER_")}
    image = getattr(job.image, "env", {}), getattr(job.image, "run", ())
    return json.dumps([*words, hyperparameters, variables, *image], default=str)

"""Requirements on the text of a diagnostic, which a reviewer may see without the spec."""

from __future__ import annotations

import re

from smspec.spec.keys import ROWS

TITLE, HELP, NOTE, QUOTED = 90, 120, 120, 30
"""Longest allowed, in characters; what a user wrote counts as at most `QUOTED`."""

KEYS = {row.name for row in ROWS}

SYNTAX = re.compile(r"SM(10[1-9]|11[0-4]|15[0-5])")
"""Codes of text that YAML or JSON cannot read: there is no key to name."""

NAMED = {"SM140", "SM147", "SM148", "SM260", "SM261", "SM264", "SM429", "SM435", "SM456", "SM470", "SM473", "SM512"}
"""Codes whose titles name a file, a command, or what is there twice, in place of a key."""

VERBS = {
    *("add", "change", "check", "combine", "convert", "copy", "declare", "fix", "install", "list", "make", "merge"),
    *("move", "pass", "read", "reduce", "remove", "rename", "replace", "restore", "revoke", "run", "save", "set"),
    *("shorten", "use", "write"),
}
"""What the first word of a help may be."""

FOREIGN = re.compile(
    r"\b(told|nobody|somebody|whoever|beside|anew|aloud|ours?|organisation|licen[c]e|customis\w+|colour)\b"
    r"|all the same|half-way|\bis no (?!longer)|\bare no (?!longer)|takes? in\b|by itself|leave \S+ out|take \S+ out",
    re.IGNORECASE,
)
"""Words of an earlier voice."""


def faults(record: dict[str, object]) -> list[str]:
    """Return what is wrong with the words of a diagnostic, which is one object of ``--format json``."""
    title, help, note, path = (str(record[key]) for key in ("message", "help", "note", "path"))
    code, severity = str(record["code"]), record["severity"]
    found = []
    if not SYNTAX.fullmatch(code) and code not in NAMED and not _stands_alone(title, path):
        found.append("title names no key and no file")
    if severity != "note" and not help:
        found.append("neither help nor label")
    first = re.split(r"[ ,;:]", help.rpartition("\n")[2], maxsplit=1)[0]
    if help and "did you mean" not in help and first not in VERBS:
        found.append(f"help begins with `{first}`")
    if severity == "warning" and re.search(r"\b(must|rejects|cannot)\b", title):
        found.append("a warning that sounds like an error")
    if severity == "error" and re.search(r"\bmight\b", title):
        found.append("an error that sounds like a warning")
    for text, longest in ((title, TITLE), (help, HELP), (note, NOTE)):
        found += [f"more than {longest} characters: {line}" for line in text.split("\n") if _length(line) > longest]
        found += [f"`{match[0]}`" for match in FOREIGN.finditer(re.sub(r"`[^`]*`", "", text))]
    return found


def _length(line: str) -> int:
    return len(re.sub(r"`([^`]*)`", lambda quoted: f"`{quoted[1][:QUOTED]}`", line))


def _stands_alone(title: str, path: str) -> bool:
    """Return whether a title names a key of the spec, a member of the request, or a file."""
    last = re.split(r"[.\[]", re.sub(r"(\[\d+\])+$", "", path))[-1].strip('"]')
    return any(
        span.partition(":")[0] in KEYS
        or (last and re.search(rf"(^|[^\w]){re.escape(last)}($|[^\w])", span))
        or re.search(r"\w[./]\w|/$|\[\d|^[A-Z][a-z]+[A-Z]|\[\"", span)
        for span in re.findall(r"`([^`]+)`", title)
    )

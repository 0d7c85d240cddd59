"""Calls of pip with which every run of a script installs packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smspec.script.program import Installation
from smspec.script.sequences import items
from smspec.script.values import text

if TYPE_CHECKING:
    from smspec.script.call import Call

STARTERS = frozenset(
    {f"subprocess.{name}" for name in ("call", "check_call", "check_output", "run")}
    | {"os.system", "pip.main", "pip._internal.main", "pip._internal.cli.main.main"}
)

_UNKNOWN = "…"
_PIPS = ("pip", "pip3")
_ENDS = ("&", "|", ";", ">", "1>", "2>")
"""What begins a word with which a shell ends the command, or its arguments."""

_CONDITIONS = ("||", "if", "[", "[[", "test")
"""Words of a shell before a command that some runs skip."""

_OWN_INDEX = ("-i", "-f", "--index-url", "--extra-index-url", "--no-index", "--find-links", "--proxy")
_WITH_A_VALUE = (
    *(
        "-C",
        "-c",
        "-e",
        "-r",
        "-t",
        "--cache-dir",
        "--cert",
        "--config-settings",
        "--constraint",
        "--editable",
        "--log",
    ),
    *("--no-binary", "--only-binary", "--platform", "--prefix", "--progress-bar", "--python-version", "--report"),
    *("--requirement", "--retries", "--root", "--root-user-action", "--src", "--target", "--timeout", "--trusted-host"),
    *("--upgrade-strategy", "--use-feature"),
)
_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tar.bz2", ".tgz")


def note_installation(name: str, call: Call) -> None:
    """Record a call that installs a package by its name, from the index that pip uses by default."""
    if not call.is_certain or not call.arguments or call.run.may_have_set("PIP_INDEX_URL"):
        return
    words = _words(call)
    if name.startswith("pip."):
        words = ["pip", *words]
    for at, word in enumerate(words[:-1]):
        if word in _CONDITIONS:
            return
        if word.rpartition("/")[2] in _PIPS and words[at + 1] == "install":
            names = _packages(words[at + 2 :])
            if names:
                call.run.installations.append(Installation(packages=names, place=call.place))
            return


def _words(call: Call) -> list[str]:
    """Return the words of a command; an unknown one is `_UNKNOWN`."""
    line = text(call.arguments[0])
    if line is not None:
        return line.split()
    return [_UNKNOWN if (word := text(each)) is None else word for each in items(call.arguments[0]) or ()]


def _packages(words: list[str]) -> tuple[str, ...]:
    """Return the packages among the words after `pip install`; none if it does not use the default index."""
    found: list[str] = []
    is_value = False
    for word in words:
        if word.startswith(_ENDS):
            break
        if word.partition("=")[0] in _OWN_INDEX:
            return ()
        name = word.rstrip(";").strip("'\"")
        is_name = name[:1].isalnum() and "/" not in name and "$" not in name and not name.endswith(_ARCHIVES)
        if is_name and not is_value:
            found.append(name)
        if word.endswith(";"):
            break
        is_value = word in _WITH_A_VALUE
    return tuple(found)

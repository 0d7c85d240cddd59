"""Run uv or pip, and end it and everything that it started.

What it prints shows whether an index cannot be used, or nothing fits the requirements.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from smspec.source.real_file import OUTSIDE_PROJECTS
from smspec.workspace.deferred_signals import signals_deferred
from smspec.workspace.process_guard import MOST_MEMORY, end_by_closing_stdin, guarded

MOST_SECONDS = 900
_LARGEST_OUTPUT = 64 << 20
_SECONDS_TO_END = 10
_NO_MEMORY = re.compile(r"^(?:ERROR: )?MemoryError|^memory allocation of \d+ bytes failed", re.MULTILINE)

_UNREACHABLE = re.compile(
    r"Failed to establish a new connection|name resolution|Name or service not known|Connection (?:refused|reset)"
    r"|Network is unreachable|error sending request|Failed to fetch|Request failed|timed out|dns error"
    r"|tcp connect error|HTTP (?:error 5|status server)|Could not fetch URL|ReadTimeout|ConnectTimeout"
    r"|network (?:connectivity is|was) disabled|certificate verify failed|invalid peer certificate|IncompleteRead"
    r"|end of file before message|Connection broken|error decoding response|unexpected end of file",
    re.IGNORECASE,
)

_DENIED = re.compile(r"\b40[13]\b.{0,40}(?:Unauthorized|Forbidden|Client Error)|Unauthorized|Forbidden|401 Error")
NO_SOLUTION = "No solution found"
_FETCHED = re.compile(r"Failed to fetch: `?(https?://[^\s`]+)")
_MESSAGE = re.compile(r"(?:error|cause|caused by|WARNING|ERROR):\s*(.+)", re.IGNORECASE)


class ResolverFailed(Exception):
    """The resolver, or an index, does not work: a sentence."""


def output_of(words: Sequence[str], variables: Mapping[str, str], directory: str) -> tuple[int, str]:
    """Return the exit status of a resolver and what it printed. Raise `ResolverFailed` if it cannot run, or hangs."""
    path = os.path.join(directory, "output")
    try:
        with open(path, "w+b") as output:
            process = None
            try:
                with signals_deferred():  # one that interrupts Popen itself would leave a process that nothing ends
                    # In a session of its own: Ctrl-C is smspec's, which then ends all that the resolver started. Its
                    # guard does so too when smspec is killed.
                    process = subprocess.Popen(
                        guarded([*words], is_limited=True),
                        # A killed one leaves its files in the directory that the next command removes.
                        env={**variables, "TMPDIR": directory, "PWD": OUTSIDE_PROJECTS},
                        cwd=OUTSIDE_PROJECTS,  # others can write to what may be above the directory, /tmp
                        stdin=subprocess.PIPE,
                        stdout=output,
                        stderr=subprocess.STDOUT,
                        start_new_session=True,
                    )
                status = process.wait(MOST_SECONDS)
            finally:
                if process is not None:
                    end_by_closing_stdin(process, _SECONDS_TO_END)
            output.seek(0)
            text = output.read(_LARGEST_OUTPUT).decode("utf-8", "replace")
            if status == 127 and text.startswith("cannot start "):
                raise ResolverFailed(text.strip())
            if status and _NO_MEMORY.search(text):
                raise ResolverFailed(
                    f"`{_name(words)}` needs more than {MOST_MEMORY >> 30} GiB of memory; does a page of the package"
                    " index ever end?"
                )
            return status, text
    except subprocess.TimeoutExpired:
        raise ResolverFailed(f"`{_name(words)}` did not resolve the packages within {MOST_SECONDS} s") from None
    except OSError as fault:
        raise ResolverFailed(f"cannot start `{words[0]}`: {(fault.strerror or str(fault)).lower()}") from None


def _name(words: Sequence[str]) -> str:
    return os.path.basename(words[0])


def unusable_index(text: str, resolver: str) -> None:
    """Raise `ResolverFailed` if an index did not answer, as a resolver prints it."""
    if _DENIED.search(text):
        raise ResolverFailed(f"a package index denies access to {resolver}; check its credentials: {_reason(text)}")
    if _UNREACHABLE.search(text):
        raise ResolverFailed(f"{resolver} cannot reach a package index: {_reason(text)}")


def _reason(text: str) -> str:
    """Return the line of a message that has the reason, and the URL that uv names in an earlier one."""
    lines = [match[1].strip() for match in _MESSAGE.finditer(text)] or text.split("\n")
    named = [line for line in lines if _UNREACHABLE.search(line) or _DENIED.search(line)]
    reason, url = (named or lines)[-1][:200], _FETCHED.search(text)
    return reason if url is None or "://" in reason else f"{reason}, {url[1][:200]}"

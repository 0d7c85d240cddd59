"""Run a resolver: write the files that it reads, and end it and everything that it started.

What it prints shows whether an index cannot be used, or nothing fits the requirements.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from smspec.lock.environments.resolution import Question, ResolverFailed
from smspec.workspace.deferred_signals import signals_deferred
from smspec.workspace.process_guard import MOST_MEMORY, end_by_closing_stdin, guarded

MOST_SECONDS = 900
_LARGEST_OUTPUT = 64 << 20
_SECONDS_TO_END = 10
_NO_MEMORY = re.compile(r"^(?:ERROR: )?MemoryError|^memory allocation of \d+ bytes failed", re.MULTILINE)
_HASH = re.compile(rb"\s*\\?\s*--hash[=\s]+\w+:[0-9a-f]+")
_OPTIONS_OF_UV = ("--index-url", "--extra-index-url", "--find-links", "--no-index")
_OPTIONS_OF_BUILDS = ("--no-binary", "--only-binary")
"""They would replace the same option of the command line."""

PACKAGES, REQUIREMENTS = "packages.in", "requirements.in"

_UNREACHABLE = re.compile(
    r"Failed to establish a new connection|name resolution|Name or service not known|Connection (?:refused|reset)"
    r"|Network is unreachable|error sending request|Failed to fetch|Request failed|timed out|dns error"
    r"|tcp connect error|HTTP error 5|operation timed out|Could not fetch URL|ReadTimeout|ConnectTimeout"
    r"|Network connectivity is disabled|certificate verify failed|invalid peer certificate|IncompleteRead"
    r"|end of file before message|Connection broken|error decoding response|unexpected end of file",
    re.IGNORECASE,
)

_DENIED = re.compile(r"\b40[13]\b.{0,40}(?:Unauthorized|Forbidden|Client Error)|Unauthorized|Forbidden|401 Error")
_MESSAGE = re.compile(r"(?:error|cause|caused by|WARNING|ERROR):\s*(.+)", re.IGNORECASE)


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
                        env={**variables, "TMPDIR": directory},
                        cwd=directory,
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


def write_for_pip(question: Question, directory: str, *, with_hashes: bool) -> list[str]:
    """Write the requirements to a directory; return the names of the files. Lines keep their numbers."""
    content = question.content
    if content is not None and not with_hashes:
        # A space instead: nothing that was apart becomes the name of a variable.
        content = _HASH.sub(b" ", content)
    return _write_files(question, directory, content)


def write_for_uv(question: Question, directory: str) -> list[str]:
    """Write the requirements to a directory; return the names of the files.

    Without hashes, which uv would then require of every dependency, and with one option on a line.
    """
    known = [*_OPTIONS_OF_UV, *(_OPTIONS_OF_BUILDS if question.allow_builds else ())]
    options = [option for option in question.file.options if option.partition(" ")[0] in known]
    lines = [*options, *(each.text for each in question.file.requirements)]
    content = None if question.content is None else "".join(f"{line}\n" for line in lines).encode()
    return _write_files(question, directory, content)


def _write_files(question: Question, directory: str, content: bytes | None) -> list[str]:
    names = []
    if question.packages.requirements:
        names.append(PACKAGES)
        with open(os.path.join(directory, PACKAGES), "w", encoding="utf-8") as file:
            file.write("".join(f"{each.text}\n" for each in question.packages.requirements))
    if content is not None:
        names.append(REQUIREMENTS)
        with open(os.path.join(directory, REQUIREMENTS), "wb") as file:
            file.write(content)
    return names


def unusable_index(text: str, resolver: str) -> None:
    """Raise `ResolverFailed` if an index did not answer, as a resolver prints it."""
    if _DENIED.search(text):
        raise ResolverFailed(f"a package index denies access to {resolver}; check its credentials: {_reason(text)}")
    if _UNREACHABLE.search(text):
        raise ResolverFailed(f"{resolver} cannot reach a package index: {_reason(text)}")


def _reason(text: str) -> str:
    """Return the line of a message that has the reason."""
    lines = [match[1].strip() for match in _MESSAGE.finditer(text)] or text.split("\n")
    named = [line for line in lines if _UNREACHABLE.search(line) or _DENIED.search(line)]
    return (named or lines)[-1][:200]

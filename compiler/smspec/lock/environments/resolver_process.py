"""Run a resolver to its end, or end it and everything that it started."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence

from smspec.lock.environments.resolution import ResolverFailed
from smspec.workspace.deferred_signals import signals_deferred
from smspec.workspace.process_guard import MOST_MEMORY, end_by_closing_stdin, guarded

MOST_SECONDS = 900
_LARGEST = 64 << 20
_SECONDS_TO_END = 10
_NO_MEMORY = re.compile(r"^(?:ERROR: )?MemoryError|^memory allocation of \d+ bytes failed", re.MULTILINE)


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
            text = output.read(_LARGEST).decode("utf-8", "replace")
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

"""Run a command to its end and read its lines, for commands that may take minutes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping

from smspec.workspace.process_guard import guarded


def run_shown(
    words: list[str],
    variables: Mapping[str, str],
    take: Callable[[str], None],
    directory: str | None = None,
    lock: int = -1,
) -> int:
    """Run a command to its end, despite interrupts; return its exit status. ``lock`` stays held as long as it runs."""
    with subprocess.Popen(
        guarded(words, is_limited=True),
        env=dict(variables),
        cwd=directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=(lock,) if lock >= 0 else (),
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            for line in _decoded(process.stdout):
                take(line)
        finally:
            process.stdin.close()
    return process.returncode


def _decoded(stream: Iterable[bytes]) -> Iterator[str]:
    for line in stream:
        yield line.decode("utf-8", "replace").rstrip("\r\n")

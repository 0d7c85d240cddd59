"""Linux limits an argument or a variable to 128 KiB: a longer one cannot be passed to a process."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.source import Path, dotted
from smspec.source.listing import Listing
from smspec.spec.model import BuiltImage, CommandEntry, JobSpec, Mpi, ScriptEntry

RULE = Rule("SM382", "oversized argument")

MOST = 131_071
"""MAX_ARG_STRLEN of Linux, without the NUL at its end."""


def check(job: JobSpec, _: Listing) -> Iterator[Finding]:
    """Reject arguments, build commands, and image variables that exceed the limit."""
    for path, text in _texts(job):
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > MOST:
            yield RULE.at(
                path,
                f"`{dotted(path)}` is {size:,} bytes; Linux limits one argument or variable to {MOST:,}",
                help="move the text to a file of the source",
            )


def _texts(job: JobSpec) -> Iterator[tuple[Path, str]]:
    entry, image, launcher = job.entry_point, job.image, job.distribution
    words = entry.args if isinstance(entry, ScriptEntry) else entry.command if isinstance(entry, CommandEntry) else ()
    key = "args" if isinstance(entry, ScriptEntry) else "command"
    yield from ((("entry_point", key, index), word) for index, word in enumerate(words))
    if isinstance(launcher, Mpi):
        yield from ((("distribution", "mpi", "options", index), word) for index, word in enumerate(launcher.options))
    if isinstance(image, BuiltImage):
        for key, texts in (("env", image.env), ("env_prepend", image.env_prepend), ("build_args", image.build_args)):
            yield from ((("image", key, name), f"{name}={value}") for name, value in texts.items())
        for key, commands in (("pre_install", image.pre_install), ("run", image.run)):
            yield from ((("image", key, index), command) for index, command in enumerate(commands))

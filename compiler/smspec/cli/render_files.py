"""``smspec render -o DIR``: one file for each job."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from smspec.cli.command_errors import ResourceUnavailable, UsageError
from smspec.cli.console import Console
from smspec.cli.signal_handling import signals_interrupt
from smspec.cli.spec_arguments import compiled_all, default_directory
from smspec.diagnostics.visible import visible
from smspec.output.atomic_file import OutputFailed, write_whole
from smspec.pipeline.compilation import Compiled
from smspec.render import NothingToRender, Rendering


def write_renderings(
    args: argparse.Namespace, console: Console, render: Callable[[Compiled], Rendering], suffix: str
) -> int:
    """Write the text of each job to ``args.output``, print the paths, and return the exit status.

    A job without such a text is named, and has no file.
    """
    found = compiled_all(args, console)
    files: dict[str, tuple[str, Compiled]] = {}
    for spec, job in found.jobs:
        file = default_directory(args.output, job) + suffix
        other, _ = files.setdefault(file, (spec, job))
        if other != spec:
            raise UsageError(f"`{other}` and `{spec}` both belong in {file}; render them to different directories")
    with signals_interrupt():
        for file, (spec, job) in files.items():
            try:
                rendering = render(job)
            except NothingToRender as nothing:
                console.say(visible(f"{spec}: {nothing}"))
                continue
            _write(file, rendering.text)
            console.result(f"{visible(file)}\n")
            for note in rendering.notes:
                console.say(visible(f"{spec}: {note}"))
    if found.invalid is not None:
        console.warned(found.invalid.diagnostics, found.invalid.texts)
    return 0 if found.invalid is None else 1


def _write(file: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(file) or os.curdir, exist_ok=True)
        write_whole(file, text)
    except OutputFailed as failure:
        raise ResourceUnavailable(str(failure)) from failure

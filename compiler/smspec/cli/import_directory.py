"""Write imported jobs and their code to a new directory: everything, or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from smspec.cli.command_errors import CommandRefused, ResourceUnavailable
from smspec.cli.console import Console
from smspec.cli.imported_spec import imported_spec
from smspec.cli.signal_handling import signals_interrupt
from smspec.collection.result_tree import ResultRefused, ResultTree
from smspec.importer.imported import Imported
from smspec.importer.job_files import SOURCE, CodeFiles, PlacedJob, code_files, pieces_of, placed
from smspec.output.atomic_file import OutputFailed, OutputRefused
from smspec.output.writing import COLLECTING, as_output_failed, made_directory, put_directory
from smspec.source.listing import ListedFile
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.temporary_directory import temporary_directory

MOST_BYTES = 1 << 30
"""Of all files of a directory: an archive that is larger is not code."""


def write_directory(
    jobs_in: Callable[[ResultTree], Sequence[Imported]], directory: str, program: str | None, console: Console
) -> int:
    """Write a spec for each job, and its code; return the exit status.

    ``jobs_in`` returns the jobs, and may add their code. ``program``: the file that the code is next to, None if it
    came from elsewhere.
    """
    check_new(directory)
    has_errors = False
    parent = os.path.dirname(os.path.realpath(directory))
    written: list[str] = []
    try:
        with (
            signals_interrupt(),
            as_output_failed(directory),
            made_directory(parent),
            temporary_directory(parent, COLLECTING) as place,
        ):
            tree = ResultTree(place, console.say, MOST_BYTES)
            jobs = jobs_in(tree)
            all_placed = placed(jobs)
            for job in all_placed:
                prefix = f"{job.file}: " if len(jobs) > 1 else ""
                spec = imported_spec(job.imported, console, job.file, prefix)
                has_errors |= spec.has_errors
                _add(tree, job.file, spec.text)
                written.append(job.file)
            fetched = [SOURCE] if SOURCE in tree.directories else []
            sources, is_whole = _add_sources(tree, all_placed, program, directory, console)
            sources += fetched
            tree.finish()
            check_new(directory)  # again: another command may have made it
            put_directory(place, directory)
    except (ResultRefused, OutputRefused) as refused:
        raise CommandRefused(str(refused)) from refused
    except OutputFailed as failed:
        raise ResourceUnavailable(str(failed)) from failed
    console.result("".join(f"{os.path.join(directory, name)}\n" for name in (*written, *sources)))
    return 1 if has_errors or not is_whole else 0


def check_new(directory: str) -> None:
    """Raise `CommandRefused` unless a directory is missing or empty."""
    try:
        taken = sorted(os.listdir(directory))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise CommandRefused(f"`{directory}` is a file; pass a new directory with -o") from None
    except OSError as fault:
        raise ResourceUnavailable(f"cannot read `{directory}`: {fault.strerror}") from fault
    if taken:
        raise CommandRefused(f"`{directory}` is not empty: pass a new directory with -o; no files written")


def _add_sources(
    tree: ResultTree, jobs: Iterable[PlacedJob], program: str | None, directory: str, console: Console
) -> tuple[list[str], bool]:
    """Copy the code of the jobs; return the directories, and whether all of it is there."""
    base = os.path.dirname(os.path.abspath(program or "."))
    boundary = boundary_of(base)
    skipped = [os.path.abspath(path) for path in (program, directory) if path is not None]
    done: list[str] = []
    is_whole = True
    for job in jobs:
        code = job.imported.code
        if code is None or job.source is None or job.source in done:
            continue
        found: CodeFiles = code_files(code, base, boundary, [*skipped, tree.root])
        for path, file in found.files.items():
            _add(tree, f"{job.source}/{path}", file)
        for path, why in found.not_copied.items():
            console.say(f"not copied to `{job.source}`: `{path}`: {why}")
        done.append(job.source)
        is_whole &= not found.not_copied
    return [source for source in done if source in tree.directories], is_whole


def _add(tree: ResultTree, path: str, file: ListedFile | str) -> None:
    if isinstance(file, str):
        content = list(pieces_of(file))
        tree.add_file(path, sum(map(len, content)), content)
    else:
        tree.add_file(path, file.size, pieces_of(file), is_executable=file.executable)

"""Write the spec of an imported job, with what it lacks; or jobs and their code to a new directory, all or nothing.

Each request is compared with that of its source. The code of a job in SageMaker is what its request names in S3.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from smspec.cli.aws_arguments import aws_failures
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable
from smspec.cli.signal_handling import signals_interrupt
from smspec.collection.result_tree import ResultRefused, ResultTree
from smspec.diagnostics import InvalidInput
from smspec.importer.imported import Imported, RequestNotFound
from smspec.importer.job_files import (
    SOURCE,
    CodeFiles,
    PlacedJob,
    code_files,
    pieces_of,
    placed,
    stored_code,
    with_source,
)
from smspec.importer.request_equality import differences, expected_request
from smspec.importer.spec_writer import WrittenSpec, write_spec
from smspec.output.atomic_file import OutputFailed, OutputRefused
from smspec.output.writing import COLLECTING, as_output_failed, made_directory, put_directory
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.inputs import in_memory_inputs
from smspec.service.shapes import structure
from smspec.source import ListedFile, Path, SourceText, dotted
from smspec.source.frozen import dataclass, replace
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.temporary_directory import temporary_directory

MOST_BYTES = 1 << 30
"""Of all files of a directory: an archive that is larger is not code."""

_FAULTY = "\n# This spec has errors; `smspec validate` shows them.\n"


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


def write_job(found: Imported, args: argparse.Namespace, console: Console) -> int:
    """Write the spec, and the code if its archive is known; return the exit status."""
    code = stored_code(found.request)
    if code is None:
        console.say("the job names no archive of code in S3: its image has it, or its own command starts it")
        return write_directory(lambda _: (found,), args.output, None, console)

    def with_code(tree: ResultTree) -> Sequence[Imported]:
        # Imported late: boto3 takes a second to import.
        from smspec.collection.s3_result import unpack_code

        try:
            unpack_code(code.uri, SOURCE, tree, console.say, args.profile, found.region)
        except ResultRefused as refused:
            raise CommandRefused(f"the code of the job cannot be unpacked: {refused}") from refused
        if not tree.holds(f"{SOURCE}/{code.script}"):
            raise CommandRefused(f"`{code.uri}` has no `{code.script}`, which the job starts")
        job = with_source(found, code)
        left = structure(job.patch, "HyperParameters")
        if left:
            console.say(f"left for the toolkit of the image, in `api.HyperParameters`: {', '.join(sorted(left))}")
        return (job,)

    console.remark(f"fetching `{code.uri}`")
    with aws_failures():
        return write_directory(with_code, args.output, None, console)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSpec:
    """The text of a spec, and whether it has errors to fix."""

    text: str
    has_errors: bool


def imported_spec(found: Imported, console: Console, file: str, prefix: str = "") -> ImportedSpec:
    """Return the spec, after everything about it was said on stderr.

    ``file``: its name in findings. ``prefix``: what begins each line, if there are several specs.
    """
    try:
        written = write_spec(found)
    except RequestNotFound as nothing:
        raise CommandRefused(f"{prefix}{nothing}") from nothing
    if written.settings:
        names = ", ".join(f"`{name}`" for name in written.settings)
        console.say(f"{prefix}variables whose value only a run of the source has: {names}")
    if written.additions:
        console.say(f"{prefix}added by the SDK: {', '.join(written.additions)}")
    for part in written.not_imported:
        console.say(f"{prefix}not imported: {part}")
    if written.left_out:
        console.say(f"{prefix}ignored, not part of a request: {', '.join(written.left_out)}")
    has_errors = _has_errors(found, written, console, file, prefix)
    return ImportedSpec(text=written.text + (_FAULTY if has_errors else ""), has_errors=has_errors)


def _has_errors(found: Imported, written: WrittenSpec, console: Console, file: str, prefix: str) -> bool:
    """Compile the spec, compare the requests, print the errors, and return whether there are any."""
    text = SourceText(file, written.text)
    try:
        compilation = compile_spec(in_memory_inputs(text, written.settings, written.script))
    except InvalidInput as rejected:
        compilation = Faulty(diagnostics=rejected.diagnostics, texts=rejected.texts)
    if compilation.diagnostics:
        console.warned(compilation.diagnostics, compilation.texts)
    if not isinstance(compilation, Compiled):
        return True
    unlike = [
        dotted(path)
        for request, wanted in zip(compilation.plan.requests, (written.request, *written.alternatives), strict=True)
        for path in _differences(request.payload, wanted, found)
    ]
    for place in dict.fromkeys(unlike):
        console.say(f"{prefix}not imported: {place}: smspec sends a different value")
    return bool(unlike)


def _differences(payload: dict[str, object], wanted: dict[str, object], found: Imported) -> Iterator[Path]:
    sent = dict(payload)
    if "TrainingJobName" not in wanted:
        del sent["TrainingJobName"]
    yield from differences(sent, expected_request(replace(found, request=wanted), sent))

"""``smspec import``: print an existing job as a spec, or write jobs and their code to a new directory, all or nothing.

Each request is compared with that of its source. (``import`` is a keyword, hence the underscore.)
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from smspec.cli.aws_arguments import aws_failures, credentials_wait, is_job_name, show_choice
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.parser import add_quiet_argument
from smspec.cli.spec_arguments import settings
from smspec.cli.waiting import Waiting
from smspec.collection.result_tree import ResultRefused, ResultTree
from smspec.diagnostics import InvalidInput
from smspec.importer.imported import Imported, NotImported, RequestNotFound
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
from smspec.importer.sdk.notebook import MAX_BYTES as MOST_NOTEBOOK_BYTES
from smspec.importer.sdk.notebook import is_sdk_program
from smspec.importer.sdk.sdk_job import found_jobs, imported_job
from smspec.importer.source_reader import MOST_BYTES, read_source, read_sources
from smspec.importer.sources import imported, imported_jobs
from smspec.importer.spec_writer import WrittenSpec, with_values, write_spec
from smspec.output.writing import COLLECTING, as_output_failed, made_directory, put_directory
from smspec.pipeline.compilation import Compiled, Faulty, compile_spec
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import in_memory_inputs
from smspec.service.request import OWN_TAGS
from smspec.service.shapes import structure
from smspec.source import ListedFile, Path, SourceText, dotted
from smspec.source.frozen import dataclass, replace
from smspec.spec.layers.variables import OptionError
from smspec.workspace.boundary_search import boundary_of
from smspec.workspace.deferred_signals import signals_interrupt
from smspec.workspace.own_directories import temporary_directory
from smspec.workspace.spec_reading import STANDARD_INPUT, content_of

HELP = """\
Print a job spec that compiles to the same request as an existing training job. The input is a CreateTrainingJob
request or DescribeTrainingJob output (JSON or YAML), a training or tuning job in Kubernetes, a tuning job, a service
job of AWS Batch, a Step Functions state machine, a SageMaker pipeline, a CloudFormation or SAM template with one of
these, a plan or state of Terraform as JSON, the name of a job in SageMaker, or a notebook or Python program that uses
the SageMaker SDK. A program is read but not run. Parameters, and values that are known only at run time, become
variables of the spec. --set and --region give them defaults.

-o DIR writes the spec and the code of the job to a new directory: files next to a program, those that cells of a
notebook write, and the archive in S3 of a job in SageMaker. A program or definition with several jobs gives one spec
for each, named after the job.

Members with no equivalent are listed on stderr and in a closing comment.

Exit status: 0 done; 1 no training job found, or the printed spec has errors to fix."""

FILE_NAME = "job.yaml"
"""The file name of the printed spec in findings."""

_MOST_CODE_BYTES = 1 << 30
"""Of all files of a directory: an archive that is larger is not code."""

_FAULTY = "\n# This spec has errors; `smspec validate` shows them.\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_quiet_argument(parser)
    parser.add_argument(
        "source",
        metavar="FILE|NAME",
        help="a file, with a dot or slash in its path, - for standard input, or the name of a job in SageMaker",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write the spec, or those of all jobs, and their code to a new directory"
    )
    parser.add_argument(
        "--job",
        "--state",
        metavar="JOB",
        help="which job of the file: its number, or the name of its variable, state, step, or resource",
    )
    parser.add_argument("--profile", metavar="P", help="AWS profile used to look up NAME")
    parser.add_argument("--region", metavar="R", help="AWS region of the job NAME, or of the spec of a FILE")
    parser.add_argument(
        "--set", metavar="vars.NAME=VALUE", action="append", default=[], help="give a variable of the spec its value"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    if args.output is None:
        (found,) = _found(args, console)
        spec = imported_spec(found, console, FILE_NAME)
        console.content(spec.text)
        return 1 if spec.has_errors else 0
    check_new(args.output)  # before AWS is called
    jobs = _found(args, console)
    if is_job_name(args.source):
        return write_job(jobs[0], args, console)
    program = None if args.source == STANDARD_INPUT else args.source
    return write_directory(lambda _: jobs, args.output, program, console)


def _found(args: argparse.Namespace, console: Console) -> tuple[Imported, ...]:
    """Return the job that is asked for; with -o, all jobs of the source; with the values of the arguments."""
    given = settings(args)  # before AWS is called
    jobs = _read(args, console)
    try:
        return with_values(jobs, given, None if is_job_name(args.source) else args.region)
    except OptionError as fault:
        raise UsageError(str(fault)) from None


def _read(args: argparse.Namespace, console: Console) -> tuple[Imported, ...]:
    source: str = args.source
    is_name = is_job_name(source)
    if not is_name and args.profile:
        raise UsageError("--profile requires the name of a job in SageMaker, not a file")
    try:
        if is_name:
            return (_described(args, console),)
        name = "<stdin>" if source == STANDARD_INPUT else source
        if is_sdk_program(name):
            program = found_jobs(name, content_of(source, MOST_NOTEBOOK_BYTES, "a notebook"))
            has_choice = args.job is not None or args.output is None or not program.jobs
            choices = [args.job] if has_choice else [str(number) for number in range(1, len(program.jobs) + 1)]
            return tuple(imported_job(program, choice) for choice in choices)
        content = content_of(source, MOST_BYTES, "a request", dash_is_input=True)
        all_jobs = args.output is not None
        documents = read_sources(name, content) if all_jobs and args.job is None else [read_source(name, content)]
        return tuple(
            replace(found, left_out=(*found.left_out, *read.left_out))
            for read in documents
            for found in imported_jobs(read.data, args.job, all_jobs=all_jobs)
        )
    except RequestNotFound as nothing:
        raise CommandRefused(f"`{source}`: {nothing}") from nothing


def _described(args: argparse.Namespace, console: Console) -> Imported:
    # Imported late: boto3 takes a second to import, and files are the usual case.
    from smspec.submission.client import AwsUnavailable, JobRefused, described, sagemaker_client, tags_of

    name: str = args.source
    show_choice(name, console)
    console.remark(f"looking up the training job `{name}` in SageMaker")
    with aws_failures():
        with credentials_wait(console):
            client = sagemaker_client(args.profile, args.region)
        waiting, sagemaker = Waiting(console), f"SageMaker in {client.meta.region_name}"
        with waiting.of(sagemaker):
            newer = InputCache().facts("").newer_members
            answer = described(client, name, newer=newer)
        try:
            with waiting.of(sagemaker):
                tags = tags_of(client, name, answer["TrainingJobArn"])
                tags = [tag for tag in tags if not tag["Key"].startswith(OWN_TAGS)]
        except (JobRefused, AwsUnavailable) as fault:
            found = _with_newer(imported(answer), answer, newer)
            return replace(found, not_imported=(*found.not_imported, NotImported(("Tags",), str(fault))))
    return _with_newer(imported({**answer, "Tags": tags} if tags else answer), answer, newer)


def _with_newer(found: Imported, answer: Mapping[str, object], newer: Collection[str]) -> Imported:
    """Return a job with the members of its description that are newer than the API model, by the organization."""
    named = {name: value for name, value in answer.items() if name in newer and name not in found.request}
    left = tuple(part for part in found.not_imported if part.path[0] not in named)
    return replace(found, request={**found.request, **named}, not_imported=left) if named else found


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
    with (
        signals_interrupt(),
        as_output_failed(directory),
        made_directory(parent),
        temporary_directory(parent, COLLECTING) as place,
    ):
        tree = ResultTree(place, console.say, _MOST_CODE_BYTES)
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
        inputs = in_memory_inputs(text, written.settings, written.script)
        compilation = compile_spec(replace(inputs, facts=InputCache().facts("")))
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

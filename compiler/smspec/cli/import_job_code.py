"""Write a job in SageMaker, and the code that its request names in S3, to a new directory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from smspec.cli.aws_arguments import aws_failures
from smspec.cli.command_errors import CommandRefused
from smspec.cli.console import Console
from smspec.cli.import_directory import write_directory
from smspec.collection.result_tree import ResultRefused, ResultTree
from smspec.importer.imported import Imported
from smspec.importer.job_files import SOURCE, stored_code, with_source
from smspec.service.members import structure


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

"""Runs a job spec locally as a process of its own, for tests: ``local_driver.py SPEC DIRECTORY [REQUEST as JSON]``."""

from __future__ import annotations

import json
import os
import sys
import tempfile

from smspec.cli.console import process_console
from smspec.local.request import RunRequest
from smspec.local.running import run_locally
from smspec.output.writing import write_tree
from smspec.pipeline.compilation import Faulty, compile_spec
from smspec.pipeline.inputs import gather
from smspec.pipeline.spec_digest import spec_digest
from smspec.render.tree_rendering import render_tree


def main() -> int:
    spec, directory, request = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    console = process_console()
    job = compile_spec(gather(spec))
    if isinstance(job, Faulty):
        console.warned(job.diagnostics, job.texts)
        return 99
    tree = render_tree(job.plan, job.inputs.ingredients, spec_digest(job.inputs))
    with tempfile.TemporaryDirectory() as temporary:
        write_tree(tree, os.path.join(temporary, "tree"))
        outcome = run_locally(
            job.job,
            job.plan,
            tree,
            RunRequest(
                directory=directory,
                tree_dir=os.path.join(temporary, "tree"),
                base_dir=job.inputs.directory,
                **request,
            ),
            console,
        )
    for finding in outcome.findings:
        console.say(f"{finding.code} {finding.message}")
    return outcome.exit_status


if __name__ == "__main__":
    sys.exit(main())

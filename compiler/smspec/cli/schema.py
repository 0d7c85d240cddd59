"""``smspec schema``: the JSON Schema of job specs, for editors."""

from __future__ import annotations

import argparse

from smspec.cli.console import Console
from smspec_schemas import JOB_SCHEMA

HELP = """\
Print the JSON Schema of job specs. Editors with a YAML language server use it to complete and explain keys. Run

  smspec schema > .smspec.schema.json

and begin job.yaml with:

  # yaml-language-server: $schema=.smspec.schema.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: there is one schema."""


def run(args: argparse.Namespace, console: Console) -> int:  # noqa: ARG001
    console.result(job_schema())
    return 0


def job_schema() -> str:
    """Return the published schema."""
    with open(JOB_SCHEMA, encoding="utf-8", newline="\n") as file:
        return file.read()

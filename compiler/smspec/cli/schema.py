"""``smspec schema``: the JSON Schema of job specs, for editors."""

from __future__ import annotations

import argparse
import json
import os

from smspec.cli.console import Console
from smspec.pipeline.input_cache import InputCache
from smspec.source import Mapping
from smspec.spec.schema.keys import keys_below, written_key
from smspec.spec.schema.reference import explain_key
from smspec_schemas import JOB_SCHEMA

HELP = """\
Print the JSON Schema of job specs. Editors with a YAML language server use it to complete and explain keys. Run

  smspec schema > .smspec.schema.json

and begin job.yaml with:

  # yaml-language-server: $schema=.smspec.schema.json

Keys that [defaults] of smspec.toml sets for the current directory are not required."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: there is one schema."""


def run(args: argparse.Namespace, console: Console) -> int:  # noqa: ARG001
    layer = InputCache().defaults(os.curdir)
    keys = (
        {key.text for key, _ in layer.root.entries} if layer is not None and isinstance(layer.root, Mapping) else set()
    )
    console.result(_without_required(job_schema(), keys) if keys else job_schema())
    return 0


def _without_required(schema: str, keys: set[str]) -> str:
    """Return a schema in which a whole job need not have these keys."""
    content = json.loads(schema)
    whole = content["definitions"]["complete"]
    whole["required"] = [key for key in whole["required"] if key not in keys]
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def job_schema() -> str:
    """Return the schema for editors: the published one, with the page of `smspec explain` as the hover of each key."""
    with open(JOB_SCHEMA, encoding="utf-8", newline="\n") as file:
        content = json.load(file)
    for path, key in keys_below(content, ()):
        page = explain_key(written_key(path)) or ""
        key["markdownDescription"] = page.partition("\n\n")[2].strip()
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

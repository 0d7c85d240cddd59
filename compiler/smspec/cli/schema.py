"""``smspec schema``: the JSON Schema of job specs, for editors."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Set

from smspec.cli.console import Console
from smspec.editor.editor_schema import editor_schema
from smspec.source import Mapping
from smspec.spec.schema import part

HELP = """\
Print the JSON Schema of job specs. Editors with a YAML language server use it to complete and explain keys. Run

  smspec schema > .smspec.schema.json

and begin job.yaml with:

  # yaml-language-server: $schema=.smspec.schema.json

Keys that [defaults] of smspec.toml sets for the current directory are not required."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: there is one schema."""


def run(args: argparse.Namespace, console: Console) -> int:  # noqa: ARG001
    # Imported late: `init` needs the schema alone.
    from smspec.pipeline.input_cache import InputCache

    layer = InputCache().organization(os.curdir).defaults()
    keys = (
        {key.text for key, _ in layer.root.entries} if layer is not None and isinstance(layer.root, Mapping) else set()
    )
    console.content(job_schema(keys))
    return 0


def job_schema(set_elsewhere: Set[str] = frozenset()) -> str:
    """Return the schema for editors, in which a whole job need not have the keys that are set elsewhere."""
    content = editor_schema()
    whole = part(part(content, "definitions"), "complete")
    required = whole["required"]
    assert isinstance(required, list)
    whole["required"] = [key for key in required if key not in set_elsewhere]
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"

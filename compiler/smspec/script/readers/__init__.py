"""Who understands what a program calls: one file a library."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.script.interpreter import Handler, Lookup
from smspec.script.readers import (
    absl_flags,
    argument_parser,
    click_commands,
    data_classes,
    environment,
    hf_argument_parser,
    job,
    jsonargparse_functions,
    typer_functions,
)

READERS: dict[str, Mapping[str, Handler]] = {
    "argparse": argument_parser.HANDLERS,
    "HfArgumentParser": hf_argument_parser.HANDLERS,
    "dataclasses": data_classes.HANDLERS,
    "click": click_commands.HANDLERS,
    "jsonargparse": jsonargparse_functions.HANDLERS,
    "typer": typer_functions.HANDLERS,
    "absl": absl_flags.HANDLERS,
    "channels": environment.HANDLERS,
    "job": job.HANDLERS,
}
"""Full names of functions and classes, and who knows what a call of them means."""

LOOKUPS: dict[str, Lookup] = dict(environment.LOOKUPS)

HANDLERS: dict[str, Handler] = {name: handler for handlers in READERS.values() for name, handler in handlers.items()}

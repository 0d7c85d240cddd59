"""The handlers for calls of known libraries: one file per library, loaded when a script calls it."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.script.interpreter import Handler, Lookup

READERS = {
    "absl": "absl_flags",
    "argparse": "argument_parser",
    "argparse subclass": "parser_subclass",
    "boto3": "aws_sdk",
    "click": "click_commands",
    "dataclasses": "data_classes",
    "fire": "fire_functions",
    "hydra": "hydra_main",
    "jsonargparse": "jsonargparse_functions",
    "lightning": "lightning_cli",
    "omegaconf": "omegaconf_pairs",
    "pandas": "s3_paths",
    "pytorch_lightning": "lightning_cli",
    "s3fs": "s3_paths",
    "smspec_runtime": "job",
    "torch": "process_group",
    "transformers": "hf_argument_parser",
    "typer": "typer_functions",
    "tyro": "tyro_functions",
}
"""The first part of a full name, and the reader for such names; `environment` handles those of other packages."""


def handler_of(name: str) -> Handler | None:
    """Return the handler for a call of ``name``, a full name such as ``argparse.ArgumentParser``."""
    return _reader(name).get(name)


def lookup_of(name: str) -> Lookup | None:
    """Return the handler for the keys of ``name``, such as ``os.environ``."""
    from smspec.script.readers import environment

    return environment.LOOKUPS.get(name)


def _reader(name: str) -> Mapping[str, Handler]:
    # Imported late: a script uses one of these libraries, or none.
    from importlib import import_module

    reader = READERS.get(name.partition(".")[0], "environment")
    handlers: Mapping[str, Handler] = import_module(f"{__name__}.{reader}").HANDLERS
    return handlers

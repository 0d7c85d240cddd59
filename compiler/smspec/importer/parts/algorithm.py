"""Import `image`, its `entry_point`, and `input_mode`."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.imported_keys import take
from smspec.importer.unmapped_members import UnmappedMembers
from smspec.spec.keys import ROW

_HERE = "AlgorithmSpecification"
_RESERVED = "sagemaker_"


def keys(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    """Import the image, its arguments, and the input mode, which a spec of a serverless job does not send."""
    image = rest.text(_HERE, "TrainingImage")
    if image is not None:
        yield "image", image
        yield from _command(rest)
    if image is not None or not rest.has("ServerlessJobConfig"):
        yield from _mode(rest)


def _command(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    parameters = rest.members.get("HyperParameters")
    if isinstance(parameters, dict) and any(name.startswith(_RESERVED) for name in parameters):
        return  # A job with an entry point may not name those itself.
    command = rest.texts(_HERE, "ContainerEntrypoint")
    if command:
        yield "entry_point", {"command": command}


def _mode(rest: UnmappedMembers) -> Iterator[tuple[str, object]]:
    row = ROW["input_mode"]
    mode = take(rest, row)
    if mode is None:
        if rest.has(_HERE) and not rest.has(*row.steps):
            rest.refuse(*row.steps)
    elif mode != "File":
        yield row.path, mode

"""The inputs of a spec that is only in memory, and so cannot name files."""

from __future__ import annotations

from smspec.pipeline.inputs import Inputs
from smspec.pipeline.runtime_files import runtime_listing
from smspec.plan.build_inputs import BuildInputs
from smspec.render import templates_digest
from smspec.source import SourceText
from smspec.source.listing import Listing
from smspec.spec.layers.assembly import merged
from smspec.spec.yaml.yaml_reader import read


def in_memory_inputs(text: SourceText) -> Inputs:
    """Return the inputs of the spec ``text``; raise `InvalidInput` if it cannot be parsed."""
    build_inputs = BuildInputs(source=Listing(), runtime=runtime_listing(), templates=templates_digest())
    return Inputs(document=merged([read(text)]), directory="", overlay=None, build_inputs=build_inputs)

"""The inputs of a spec that is only in memory, and so cannot name files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from smspec.pipeline.inputs import Inputs
from smspec.pipeline.runtime_files import runtime_listing
from smspec.plan.plan import BuildInputs
from smspec.render import templates_digest
from smspec.source import SourceText
from smspec.source.listing import ListedFile, Listing
from smspec.spec.layers.assembly import merged
from smspec.spec.yaml.yaml_reader import read

_NOTHING = hashlib.sha256().hexdigest()


def in_memory_inputs(text: SourceText, settings: Mapping[str, str] | None = None, script: str | None = None) -> Inputs:
    """Return the inputs of the spec ``text``; raise `InvalidInput` if it cannot be parsed.

    ``settings``: values of its variables. ``script``: the one file of its source, whose content is not read.
    """
    files = [ListedFile(path=script, origin=script, executable=False, size=0, sha256=_NOTHING)] if script else []
    build_inputs = BuildInputs(
        source=Listing(files=tuple(files)), runtime=runtime_listing(), templates=templates_digest()
    )
    document = merged([read(text)], settings=settings)
    return Inputs(document=document, directory="", overlay=None, build_inputs=build_inputs)

"""The locked environment that the image of a spec needs."""

from __future__ import annotations

from smspec.pipeline.input_cache import InputCache
from smspec.plan.build_inputs import BuildInputs, NeededEnvironment
from smspec.plan.image_planning import authored_image
from smspec.plan.image_uris import with_image_uri
from smspec.source import Document, Mapping
from smspec.spec.decoding import decode
from smspec.spec.shape.plain_data import viewed
from smspec.spec.shape.shape_check import shape_findings
from smspec.workspace.boundary import Boundary


def needed_environment(
    document: Document, build_inputs: BuildInputs, lock: str, boundary: Boundary, cache: InputCache
) -> NeededEnvironment | None:
    """Return the environment that the image of a document needs; None if it needs none, or that is unknown.

    ``lock``: the path of the lockfile, which has environments. Raise `InvalidInput` if the entry in it is invalid.
    """
    if document.is_partly_known or not isinstance(document.node(("image",)), Mapping):
        return None
    data = viewed(document.root)
    if shape_findings(document, data):
        return None
    job, _ = with_image_uri(decode(document, data), build_inputs.lock)
    image = authored_image(job, build_inputs)
    if image is None or (image.python_requirements is not None and build_inputs.requirements is None):
        return None
    return cache.environment(image, build_inputs.requirements, lock, boundary)

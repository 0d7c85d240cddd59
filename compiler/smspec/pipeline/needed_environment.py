"""The locked environments that the image of a spec, and its job at startup, need."""

from __future__ import annotations

from smspec.pipeline.input_cache import InputCache
from smspec.plan.image_planning import authored_image
from smspec.plan.naming import with_image_uri
from smspec.plan.plan import BuildInputs
from smspec.source import Document, Mapping
from smspec.source.frozen import replace
from smspec.spec.decoding import decode
from smspec.spec.shape.shape_check import shape_findings, viewed
from smspec.spec.startup import startup_requirements
from smspec.workspace.boundary import Boundary


def with_environments(
    document: Document, build_inputs: BuildInputs, lock: str, boundary: Boundary, cache: InputCache
) -> BuildInputs:
    """Return the inputs with the environments that the image and the job of a document need, as far as they are known.

    ``lock``: the path of the lockfile, which has environments. Raise `InvalidInput` if an entry in it is invalid.
    """
    if document.is_partly_known or not isinstance(document.node(("image",)), Mapping):
        return build_inputs
    data = viewed(document.root)
    if shape_findings(document, data):
        return build_inputs
    job, _ = with_image_uri(decode(document, data), build_inputs.lock)
    image = authored_image(job, build_inputs)
    if image is None or (image.python_requirements is not None and build_inputs.requirements is None):
        return build_inputs
    environment = cache.environment(image, build_inputs.requirements, lock, boundary)
    build_inputs = replace(build_inputs, environment=environment)
    startup, installed = build_inputs.startup, build_inputs.locked_environment
    if startup is None or (environment is not None and installed is None):
        return build_inputs
    # Imported late: few sources have a list of packages.
    from smspec.plan.image_planning import image_at_start, key_at_start, obstacle_at_start

    if startup_requirements(job, build_inputs.source) is None or obstacle_at_start(job, build_inputs.source):
        return build_inputs
    key = key_at_start(image_at_start(job, image), startup.content, installed)
    added = cache.environment_at_start(key, lock, boundary)
    return replace(build_inputs, startup=replace(startup, environment=added))

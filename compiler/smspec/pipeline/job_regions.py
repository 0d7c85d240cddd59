"""The regions in which the jobs of a repository run."""

from __future__ import annotations

from smspec.diagnostics import InvalidInput
from smspec.pipeline.input_cache import InputCache
from smspec.pipeline.inputs import Inputs, gather_all
from smspec.pipeline.spec_discovery import NoJobs, find_job_specs
from smspec.service.image_reference import parsed_reference
from smspec.source import Path, Scalar


def job_regions(directory: str, cache: InputCache) -> tuple[str, ...]:
    """Return the regions of all jobs below a directory, sorted. Specs with errors count as far as they can be read."""
    try:
        specs = find_job_specs([directory], cache).jobs
    except NoJobs:
        return ()
    found = set()
    for spec in specs:
        try:
            found |= {_region(inputs) for _, inputs in gather_all(spec, {}, cache) if isinstance(inputs, Inputs)}
        except InvalidInput:
            continue
    return tuple(sorted(region for region in found if region))


def _region(job: Inputs) -> str | None:
    """Return the region that a spec sets, or the region of its image in ECR."""
    written = _text(job, ("region",))
    image = None if written else parsed_reference(_text(job, ("image",)) or "")
    return image.region if image is not None else written


def _text(job: Inputs, path: Path) -> str | None:
    node = job.document.node(path)
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None

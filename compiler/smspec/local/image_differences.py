"""What the image of a job has and a run without containers takes from this machine."""

from __future__ import annotations

from smspec.spec.model import BuiltImage, JobSpec

_MOST = 3


def image_differences(job: JobSpec) -> list[str]:
    """Return the differences from the image that concern this job; those of its Python are not among them."""
    if not isinstance(job.image, BuiltImage):
        return []
    found = []
    if job.image.run:
        found.append("`image.run` is not executed: programs and libraries come from this machine")
    packages = job.image.system_packages
    if packages:
        more = f" and {len(packages) - _MOST} more" if len(packages) > _MOST else ""
        come = "comes" if len(packages) == 1 else "come"
        found.append(f"`image.system_packages`: {', '.join(packages[:_MOST])}{more} {come} from this machine")
    return found

"""What the image of a job has and a run without containers takes from this machine."""

from __future__ import annotations

from smspec.spec.model import BuiltImage, JobSpec

_MOST = 3
_ROOT = ("root", "0")


def image_differences(job: JobSpec) -> list[str]:
    """Return the differences from the image that concern this job; those of its Python are not among them."""
    if not isinstance(job.image, BuiltImage):
        return []
    found = []
    unused = [key for key, has in (("pre_install", job.image.pre_install), ("run", job.image.run)) if has]
    if unused:
        keys = " and ".join(f"`image.{key}`" for key in unused)
        are = "is" if len(unused) == 1 else "are"
        found.append(f"{keys} {are} not executed: programs and libraries come from this machine")
    if job.image.user and job.image.user.partition(":")[0] not in _ROOT:
        found.append(f"`image.user`: the job does not run as `{job.image.user}`")
    packages = job.image.system_packages
    if packages:
        more = f" and {len(packages) - _MOST} more" if len(packages) > _MOST else ""
        come = "comes" if len(packages) == 1 else "come"
        found.append(f"`image.system_packages`: {', '.join(packages[:_MOST])}{more} {come} from this machine")
    return found

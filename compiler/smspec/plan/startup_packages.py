"""The packages that the runtime installs when a job starts: those of ``requirements.txt`` in the source.

pip chooses their versions in the container, as with the toolkit of AWS. The lock has versions for checks and local
runs; installing them in the container would change what the same source does in other images.
"""

from __future__ import annotations

from smspec.plan.plan import ImagePlan
from smspec.source.frozen import replace
from smspec.source.listing import Listing
from smspec.spec.lock import LockedEnvironment, environment_key
from smspec.spec.model import BuiltImage, JobSpec, ScriptEntry
from smspec.spec.startup import isolation_path

_PACKAGE = "setup.py"
_INDEX = ("PIP_", "CA_REPOSITORY_ARN")


def obstacle_at_start(job: JobSpec, source: Listing) -> str:
    """Return why the packages at startup cannot be known before: a sentence without its subject; empty if they can."""
    if not isinstance(job.image, BuiltImage):
        return "the packages of the existing image are unknown"
    if isolation_path(job) is not None:
        return "network isolation prevents their installation"
    if job.image.commands:
        return f"`image.{'run' if job.image.run else 'pre_install'}` may change what is installed"
    if source.has(_PACKAGE) and isinstance(job.entry_point, ScriptEntry):
        return f"`{_PACKAGE}` may require more"
    if any(name.startswith(_INDEX) for name in job.secrets) or _INDEX[-1] in job.environment:
        return "only the job knows its package index"
    return ""


def image_at_start(job: JobSpec, image: ImagePlan) -> ImagePlan:
    """Return an image with the variables of its job, and without packages to install: pip finds those installed."""
    variables = {name: value for name, value in job.environment.items() if name.startswith("PIP_")}
    return replace(
        image,
        python_packages=(),
        python_requirements=None,
        secrets={},
        env=dict(sorted({**image.env, **variables}.items())),
    )


def key_at_start(image: ImagePlan, content: bytes, installed: LockedEnvironment | None) -> str:
    """Return the key of the packages that a job adds to those in its image. ``image``: that of `image_at_start`."""
    return environment_key(
        base=image.base,
        platform=image.platform,
        packages=(),
        requirements=content,
        variables=image.env,
        used={"installed before": None if installed is None else installed.digest},
    )

"""The locked environment of a built image: which entry of ``smspec.lock`` has its packages."""

from __future__ import annotations

from smspec.plan.plan import ImagePlan
from smspec.spec.locked_environment import environment_key


def environment_of(image: ImagePlan, requirements: bytes | None) -> str | None:
    """Return the key of the environment that an image installs; None for an image that installs no packages.

    ``requirements``: the content of the author's file. The tag of the image does not count, so a plan without one will
    do.
    """
    if requirements is None and not image.python_packages:
        return None
    return environment_key(
        base=image.base,
        platform=image.platform,
        packages=image.python_packages,
        requirements=requirements,
        variables=image.env,
    )

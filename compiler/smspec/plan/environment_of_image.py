"""The locked environment of a built image: which entry of ``smspec.lock`` has its packages."""

from __future__ import annotations

from smspec.plan.plan import ImagePlan
from smspec.spec.lock import Lock
from smspec.spec.locked_environment import environment_key
from smspec.spec.model import BuiltImage


def environment_of(image: ImagePlan, requirements: bytes | None) -> str | None:
    """Return the key of the environment that an image installs; None for an image that installs no packages.

    ``requirements``: the content of the author's file. The tag of the image does not count, so a plan without one will
    do.
    """
    if requirements is None and not image.python_packages:
        return None
    used = None
    if image.secrets or b"${" in (requirements or b""):
        # Imported late: few images have these.
        from smspec.service.requirement_lines import index_variables

        used = index_variables(requirements or b"", image.build_variables, image.secrets)
    return environment_key(
        base=image.base,
        platform=image.platform,
        packages=image.python_packages,
        requirements=requirements,
        variables=image.build_variables,
        used=used,
    )


def is_lockable(image: BuiltImage, requirements: bytes | None, lock: Lock | None) -> bool:
    """Return whether `smspec lock` can lock the packages of an image.

    It must know the Python of the base image, and that it has no other packages; and every requirement needs a hash.
    """
    # Imported late: few images lack an entry in a lock.
    from smspec.service.bare_image import BareImage, bare_image
    from smspec.service.requirement_lines import read_packages, read_requirements

    python = lock.pythons.get(image.base, "") if lock else ""
    return (
        isinstance(bare_image(image.base, image.system_packages, image.platform, python), BareImage)
        and not read_packages(image.python_packages).obstacle
        and not read_requirements(requirements or b"", _variables(image)).obstacle
    )


def _variables(image: BuiltImage) -> list[str]:
    """Return the names of the variables that a build sets; a secret in a file is not one."""
    return [*image.build_variables, *(name for name, secret in image.secrets.items() if secret.env is not None)]

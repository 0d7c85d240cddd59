"""What an image sets for its containers: for the Dockerfile, and for an image that is made without an engine."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.plan.plan import ImagePlan
from smspec.render.variable_order import variables_after_packages
from smspec.source.frozen import dataclass

ENTRYPOINT = ("python3", "/opt/smspec/entrypoint.py")
"""In exec form: a shell in between would not pass SIGTERM to the runtime."""

EPOCH = 315532800
"""1980-01-01, the earliest time that a ZIP archive can contain: the time of everything that is made for an image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSettings:
    """Variables in the order in which they are set, labels, and what starts a job as which user.

    ``prepended``: variables whose value stands before that of the base. ``user`` empty: that of the base.
    """

    env_before_packages: dict[str, str]
    prepended: dict[str, str]
    env_after_packages: dict[str, str]
    labels: dict[str, str]
    user: str
    entrypoint: tuple[str, ...] = ENTRYPOINT

    def variables(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of an image whose base has those in ``base``, which keep their place."""
        found = {**base, **self.env_before_packages}
        for name, value in self.prepended.items():
            found[name] = f"{value}:{found[name]}" if found.get(name) else value
        return {**found, **self.env_after_packages}


def image_settings(image: ImagePlan, requirements: bytes | None) -> ImageSettings:
    """Return the settings of an image. ``requirements``: the content of the requirements file, if it has one."""
    env = {"PYTHONUNBUFFERED": "1", **image.env}
    late = variables_after_packages(image, requirements)
    return ImageSettings(
        env_before_packages={name: value for name, value in env.items() if name not in late},
        prepended=image.env_prepend,
        env_after_packages={name: value for name, value in env.items() if name in late},
        labels={**_labels(image), **image.labels},
        user=image.user or "",
    )


def _labels(image: ImagePlan) -> dict[str, str]:
    name, _, digest = image.base.partition("@")
    labels = {"org.opencontainers.image.title": image.title, "org.opencontainers.image.base.name": name}
    if digest:
        labels["org.opencontainers.image.base.digest"] = digest
    labels["smspec.image-digest"] = image.tag
    if image.environment is not None:
        labels["smspec.lock-digest"] = image.environment.digest
    return labels

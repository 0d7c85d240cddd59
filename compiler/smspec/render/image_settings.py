"""What an image sets for its containers: for the Dockerfile, and for an image that is made without an engine.

Everything after a changed ENV line is built again. So a variable that changes no installation comes after the packages.
"""

from __future__ import annotations

from collections.abc import Mapping

from smspec.plan import ImagePlan
from smspec.source.frozen import dataclass

ENTRYPOINT = ("python3", "/opt/smspec/entrypoint.py")
"""In exec form: a shell in between would not pass SIGTERM to the runtime."""

EPOCH = 315532800
"""1980-01-01, the earliest time that a ZIP archive can contain: the time of everything that is made for an image."""

_OF_INSTALLERS = (
    *("PIP_", "UV_", "PYTHON", "APT_", "DEBIAN_", "DEBCONF_", "SSL_", "LD_", "LC_", "GIT_", "AWS_"),
    *("PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "NETRC", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "ACCEPT_EULA"),
)
"""Beginnings of names that apt, pip, or what they start may read even if nothing is compiled."""

_OF_PROGRAMS = (
    *("OMP_", "KMP_", "MKL_", "OPENBLAS_", "NUMEXPR_", "MALLOC_", "NCCL_", "GLOO_", "FI_", "PYTORCH_", "TORCH_NCCL_"),
    *("TF_CPP_", "XLA_FLAGS", "TOKENIZERS_", "HF_", "TRANSFORMERS_", "DATASETS_", "WANDB_", "MLFLOW_", "COMET_"),
)
"""Beginnings of names that only running programs read: no build of a package depends on them."""


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
    late = _variables_after_packages(image, requirements)
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


def _variables_after_packages(image: ImagePlan, requirements: bytes | None) -> frozenset[str]:
    """Return the variables of an image that cannot change what apt and pip install.

    Wheels are only unpacked; a package that is built from source may read any variable that no library is known for.
    """
    environment = image.environment
    builds = environment is None or bool(environment.unlisted)
    used = (requirements or b"").decode("utf-8", "replace")
    return frozenset(
        name
        for name in image.env
        if f"${{{name}}}" not in used
        and name not in image.env_prepend
        and not name.upper().endswith("_PROXY")
        and (name.startswith(_OF_PROGRAMS) if builds else not name.startswith(_OF_INSTALLERS))
    )

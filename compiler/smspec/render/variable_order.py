"""Where the Dockerfile sets a variable of the image: before the packages are installed, or after.

Everything after a changed ENV line is built again. So a variable that changes no installation comes after the packages.
"""

from __future__ import annotations

from smspec.plan.plan import ImagePlan

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


def variables_after_packages(image: ImagePlan, requirements: bytes | None) -> frozenset[str]:
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

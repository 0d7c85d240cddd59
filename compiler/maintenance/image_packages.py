"""Read which packages the images of deep learning containers have, from the locks that they are built from.

An image is left out if its Dockerfile installs anything that is neither in its lock nor in the table below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from maintenance.checkout import Checkout
from maintenance.uv_lock import locked_packages
from smspec.source.frozen import dataclass

REPOSITORY = "deep-learning-containers"
ADDED = "*"
"""The version of a package that a Dockerfile installs besides the lock."""

_CONFIGURATIONS = ".github/config/image"
_INSTALLS = r"(?:pip3?|conda|mamba)\s+(?:install|wheel)\s[^\n&;|]*"
_TRANSFORMER_ENGINE = ("einops", "importlib-metadata", "ml-dtypes", "nvdlfw-inspect", "onnx", "onnx-ir", "onnxscript")
_KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"transformer-engine\[pytorch\]", ("transformer-engine", "zipp", *_TRANSFORMER_ENGINE)),
    (r"\$\{TE_WHL\}", ()),
    (r"flash-attn==|flash_attn\*|\$\{WHL\}", ("einops", "flash-attn")),
    (r"/sagemaker-debugger\.git", ("smdebug",)),
    (r"sagemaker_xgboost_container-", ("sagemaker-xgboost-container",)),
    (r"sagemaker_sklearn_container-", ("sagemaker-scikit-learn-container",)),
    (r"--force-reinstall PyYAML==", ()),
)
"""What a line of a Dockerfile installs, with the packages that it requires and a lock may lack."""

MODULES_OF_ADDED = {
    "einops": "einops",
    "flash-attn": "flash_attn flash_attn_2_cuda hopper",
    "importlib-metadata": "importlib_metadata",
    "ml-dtypes": "ml_dtypes",
    "nvdlfw-inspect": "nvdlfw_inspect",
    "onnx": "onnx",
    "onnx-ir": "onnx_ir",
    "onnxscript": "onnxscript",
    "sagemaker-scikit-learn-container": "sagemaker_sklearn_container",
    "sagemaker-xgboost-container": "sagemaker_algorithm_toolkit sagemaker_xgboost_container",
    "smdebug": "smdebug",
    "transformer-engine": "build_tools transformer_engine transformer_engine_torch",
    "zipp": "zipp",
}
"""Their modules: that of their wheels, and of the repositories of those that no index has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """``tag``: as the configuration of its release has it. ``packages``: name → version; None if not all are known.

    ``python``: ``3.12``. ``reason``: why its packages are unknown.
    """

    repository: str
    tag: str
    processor: str
    python: str
    packages: dict[str, str] | None
    reason: str = ""


def environments(containers: Checkout, repositories: tuple[str, ...]) -> Iterator[Environment]:
    """Yield the environments of the training images of some repositories."""
    for path in containers.files(_CONFIGURATIONS, ".yml"):
        content = yaml.safe_load(containers.text(path))
        metadata, build = content.get("metadata", {}), content.get("build", {})
        repository, _, tag = metadata.get("prod_image", "").partition(":")
        if repository not in repositories or metadata.get("customer_type") != "sagemaker":
            continue
        short = ".".join(str(metadata["framework_version"]).split(".")[:2])
        packages, reason = _packages(containers, build, short)
        yield Environment(
            repository=repository,
            tag=tag,
            processor=metadata.get("device_type", ""),
            python=str(build.get("python_version", "")),
            packages=packages,
            reason=reason,
        )


def added_packages(dockerfile: str) -> tuple[tuple[str, ...], str]:
    """Return what a Dockerfile installs besides its lock, and the first line that is unknown, if any."""
    joined = re.sub(r"\\\n", " ", dockerfile)
    added: dict[str, None] = {}
    for line in re.findall(_INSTALLS, joined):
        known = [packages for pattern, packages in _KNOWN if re.search(pattern, line)]
        if not known:
            return (), " ".join(line.split())
        added.update(dict.fromkeys(name for packages in known for name in packages))
    return tuple(added), ""


def _packages(containers: Checkout, build: dict[str, str], short: str) -> tuple[dict[str, str] | None, str]:
    dockerfile = containers.text(build["dockerfile"])
    lock = re.search(r"^COPY .*?(\S+/uv\.lock)", dockerfile, re.MULTILINE)
    if lock is None:
        return None, "it has no lock"
    added, unknown = added_packages(dockerfile)
    if unknown:
        return None, f"its Dockerfile has an unknown line: {unknown}"
    extras = ("sagemaker",) if "--extra sagemaker" in dockerfile else ()
    path = lock[1].replace("${FRAMEWORK_SHORT_VERSION}", short)
    locked = locked_packages(containers.text(path), extras=extras, python=build["python_version"])
    return {**dict.fromkeys(added, ADDED), **locked}, ""

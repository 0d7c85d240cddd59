"""The image that the SDK selects for an estimator of a framework."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.importer.sdk.arguments import FRAMEWORKS, arguments_of
from smspec.importer.sdk.images import SdkImage, image_name
from smspec.importer.sdk.sdk_facts import Surroundings
from smspec.importer.sdk.values import Entries, Instance, Items, Value, joined
from smspec.service.facts.images import images_of
from smspec.service.instance_types import processor

_MODEL_PARALLEL = "smdistributed-modelparallel"
_ACCOUNT = "658645717510"
"""The registry of these images, in all regions that have them."""

_CUDA = {"2.5": "cu124", "2.1": "cu121", "2.2": "cu121", "2.3": "cu121", "2.4": "cu121"}


def image_of_estimator(kind: str, given: Mapping[str, Value], surroundings: Surroundings) -> SdkImage | None:
    """Return the image for the arguments of a class; None if it is not listed, or not certain."""
    framework, version, base = FRAMEWORKS[kind], given.get("framework_version"), None
    if kind == "HuggingFace":
        version = given.get("transformers_version")
        pytorch, tensorflow = given.get("pytorch_version"), given.get("tensorflow_version")
        base = f"pytorch{pytorch}" if isinstance(pytorch, str) else f"tensorflow{tensorflow}"
    elif kind == "RLEstimator":
        framework = f"{last_word(given.get('toolkit'))}-{last_word(given.get('framework'))}"
        version = given.get("toolkit_version")
    if given.get("compiler_config") is not None and kind != "TensorFlow":
        framework += "-trcomp"
    if _is_model_parallel(given):
        return _model_parallel_image(given, surroundings)
    python = given.get("py_version", "py3" if kind == "SKLearn" else None)
    name = image_name(framework, version, python, _instance_type(given), base)
    return SdkImage(name, surroundings.region) if name else None


def last_word(value: Value) -> str:
    """Return the name of a member of an enumeration, or a string, in lower case."""
    text = getattr(value, "name", value)
    return text.rpartition(".")[2].lower() if isinstance(text, str) else ""


def _is_model_parallel(given: Mapping[str, Value]) -> bool:
    """Return whether the SDK selects an image for version 2 of the library for model parallelism."""
    distribution = given.get("distribution")
    if not isinstance(distribution, Entries) or "torch_distributed" not in distribution.values:
        return False
    inner = distribution.values.get("smdistributed")
    parallel = inner.values.get("modelparallel") if isinstance(inner, Entries) else None
    return isinstance(parallel, Entries) and parallel.values.get("enabled", True) is not False


def _model_parallel_image(given: Mapping[str, Value], surroundings: Surroundings) -> SdkImage | None:
    """Return the image of the library for model parallelism, whose tag names CUDA (SDK 2.257.7, image_uris).

    It has no short name: the tag depends on the version of PyTorch, and on the instances.
    """
    version, python, kind = given.get("framework_version"), given.get("py_version"), _instance_type(given)
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    listed = [image for image in images_of(_MODEL_PARALLEL) if image.python == python]
    if not any(version == image.version or version in image.aliases for image in listed):
        return None
    release = version[:3]
    cuda = _CUDA.get(release, "cu121" if "p5" in kind else "cu118")
    uri = joined(
        f"{_ACCOUNT}.dkr.ecr.", surroundings.region, f".amazonaws.com/{_MODEL_PARALLEL}:{version}-gpu-{python}-{cuda}"
    )
    return SdkImage(uri, None)


def _instance_type(given: Mapping[str, Value]) -> Value:
    """Return the instance type that the SDK selects an image for: of several groups, the first one with GPUs."""
    groups = given.get("instance_groups")
    if not isinstance(groups, Items):
        return given.get("instance_type")
    kinds = [arguments_of(group).get("instance_type") for group in groups.values if isinstance(group, Instance)]
    with_gpus = [kind for kind in kinds if isinstance(kind, str) and processor(kind) == "gpu"]
    return (with_gpus or kinds or [None])[0]

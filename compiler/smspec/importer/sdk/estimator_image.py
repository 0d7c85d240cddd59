"""The image that the SDK selects for an estimator of a framework."""

from __future__ import annotations

from collections.abc import Mapping

from smspec.importer.sdk.arguments import FRAMEWORKS, arguments_of
from smspec.importer.sdk.images import SdkImage, image_name
from smspec.importer.sdk.sdk_facts import Surroundings
from smspec.importer.sdk.values import Entries, Instance, Items, Value
from smspec.service.processors import processor


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
        return None  # an image with another tag for each version of CUDA
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
    needed = {"torch_distributed", "smdistributed"}
    return isinstance(distribution, Entries) and needed <= distribution.values.keys()


def _instance_type(given: Mapping[str, Value]) -> Value:
    """Return the instance type that the SDK selects an image for: of several groups, the first one with GPUs."""
    groups = given.get("instance_groups")
    if not isinstance(groups, Items):
        return given.get("instance_type")
    kinds = [arguments_of(group).get("instance_type") for group in groups.values if isinstance(group, Instance)]
    with_gpus = [kind for kind in kinds if isinstance(kind, str) and processor(kind) == "gpu"]
    return (with_gpus or kinds or [None])[0]

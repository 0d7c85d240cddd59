"""The images that the SDK selects, as short names: by the arguments of an estimator, or of `image_uris.retrieve`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from smspec.importer.sdk.arguments import FRAMEWORKS, arguments_of
from smspec.importer.sdk.sdk_facts import Surroundings
from smspec.importer.sdk.values import Entries, SdkInstance, SdkItems, Value, joined
from smspec.service.facts.images import ListedImage, images_of, repositories
from smspec.service.instance_types import processor
from smspec.source.frozen import dataclass

_REPOSITORIES = {
    "pytorch": ("pytorch-training", "sagemaker-pytorch"),
    "pytorch-trcomp": ("pytorch-trcomp-training",),
    "huggingface": ("huggingface-pytorch-training", "huggingface-tensorflow-training"),
    "huggingface-trcomp": ("huggingface-pytorch-trcomp-training", "huggingface-tensorflow-trcomp-training"),
    "tensorflow": ("tensorflow-training", "sagemaker-tensorflow-scriptmode", "sagemaker-tensorflow"),
    "mxnet": ("mxnet-training", "sagemaker-mxnet"),
    "chainer": ("sagemaker-chainer",),
    "sklearn": ("sagemaker-scikit-learn",),
    "xgboost": ("sagemaker-xgboost", "xgboost"),
    "autogluon": ("autogluon-training",),
    "ray-tensorflow": ("sagemaker-rl-ray-container", "sagemaker-rl-tensorflow"),
    "ray-pytorch": ("sagemaker-rl-ray-container",),
    "coach-tensorflow": ("sagemaker-rl-tensorflow", "sagemaker-rl-coach-container"),
    "coach-mxnet": ("sagemaker-rl-mxnet",),
    "vw": ("sagemaker-rl-vw-container",),
}
_ALONE = "1"
"""The version of an algorithm that has only one: the SDK takes it, whatever is asked for."""

_PARAMETERS = (
    *("framework", "region", "version", "py_version", "instance_type", "accelerator_type", "image_scope"),
    *("container_version", "distribution", "base_framework_version", "training_compiler_config"),
)
_PROCESSOR = re.compile(r"-(?:cpu|gpu)(?=-py[23])")
_OF_RL = {"ray-tensorflow": "-tf-", "ray-pytorch": "-torch-"}

_MODEL_PARALLEL = "smdistributed-modelparallel"
_ACCOUNT = "658645717510"
"""The registry of these images, in all regions that have them."""

_CUDA = {"2.5": "cu124", "2.1": "cu121", "2.2": "cu121", "2.3": "cu121", "2.4": "cu121"}


@dataclass(frozen=True, slots=True)
class SdkImage:
    """An image that the SDK selects: its short name and the region of its registry, or its URI and no region."""

    name: Value
    region: Value


def is_image_call(value: Value) -> bool:
    """Return whether a value is the result of a function of the SDK that returns an image."""
    return isinstance(value, SdkInstance) and value.kind.endswith((".get_image_uri", ".image_uris.retrieve"))


def image_of_call(call: SdkInstance, surroundings: Surroundings) -> SdkImage | None:
    """Return the image that a function of the SDK returns; None if it is not known."""
    positional, named = call.positional, call.arguments
    if call.kind.endswith(".get_image_uri"):
        given = {**dict(zip(("region", "framework", "version"), positional, strict=False)), **named}
        given["framework"] = given.get("framework", named.get("repo_name"))
        given["version"] = given.get("version", named.get("repo_version", _ALONE))
    else:
        given = {**dict(zip(_PARAMETERS, positional, strict=False)), **named}
    framework, version = given.get("framework"), given.get("version")
    if not isinstance(framework, str) or not isinstance(version, str | None) or given.get("training_compiler_config"):
        return None
    base, python, kind = given.get("base_framework_version"), given.get("py_version"), given.get("instance_type")
    if not all(isinstance(part, str | None) for part in (base, python, kind)):
        return None
    found = image_name(framework, version, python, kind, base)
    return SdkImage(found, given.get("region", surroundings.region)) if found else None


def image_name(framework: str, version: Value, python: Value, instance_type: Value, base: Value = None) -> str | None:
    """Return the short name of the image for these arguments; None if it is not listed, or not certain."""
    device = processor(instance_type) if isinstance(instance_type, str) else None
    found: list[ListedImage] = []
    for repository in _repositories(framework):
        listed = images_of(repository)
        if len({image.version for image in listed}) == 1 and framework not in _REPOSITORIES:
            version = listed[0].version
        if not isinstance(version, str):
            return None
        is_version = [image for image in listed if version == image.version] or [
            image for image in listed if version in image.aliases
        ]
        found += [
            image
            for image in is_version
            if image.is_of_sdk
            and (python is None or image.python in (python, ""))
            and (base is None or _is_base(image, str(base)))
            and _OF_RL.get(framework, "-") in f"-{image.tag}-"
        ]
        if found:
            break
    fitting = [image for image in found if device in image.processors] if device else found
    tags = dict.fromkeys(f"{image.repository}:{image.tag}" for image in fitting)
    if len(tags) > 1 and not isinstance(instance_type, str):
        tags = dict.fromkeys(_PROCESSOR.sub("", tag) for tag in tags)  # the instances add it
    return next(iter(tags)) if len(tags) == 1 else None


def _repositories(framework: str) -> tuple[str, ...]:
    known = _REPOSITORIES.get(framework, (framework,))
    return tuple(name for name in known if name in repositories())


def _is_base(image: ListedImage, base: str) -> bool:
    """Return whether this is the framework below Transformers: ``pytorch1.10`` is ``pytorch1.10.2`` too."""
    return image.base == base or image.base.startswith(f"{base}.")


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
    if not framework:
        return None
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
    if not isinstance(groups, SdkItems):
        return given.get("instance_type")
    kinds = [arguments_of(group).get("instance_type") for group in groups.values if isinstance(group, SdkInstance)]
    with_gpus = [kind for kind in kinds if isinstance(kind, str) and processor(kind) == "gpu"]
    return (with_gpus or kinds or [None])[0]

"""Short names of AWS's training images, and their URIs."""

from __future__ import annotations

import pytest

from smspec.service.facts import accounts
from smspec.service.facts.images import ListedImage, images_of, repositories
from smspec.service.image_names import Unavailable, expanded, parsed_name, selected
from smspec.service.instance_types import processor, processors
from smspec.service.provided_images import provided_image
from smspec.service.shapes import pinned_model

TAG = "2.5.1-gpu-py311-cu124-ubuntu22.04-sagemaker"


def uri_of(text: str, region: str = "us-west-2", *hosts: str) -> str | Unavailable:
    name = parsed_name(text)
    assert name is not None
    return expanded(name, region, frozenset(hosts))


@pytest.mark.parametrize(
    "region, registry",
    [
        ("us-west-2", "763104351884.dkr.ecr.us-west-2.amazonaws.com"),
        ("af-south-1", "626614931356.dkr.ecr.af-south-1.amazonaws.com"),
        ("cn-north-1", "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "442386744353.dkr.ecr.us-gov-west-1.amazonaws.com"),
    ],
)
def test_region_selects_account_and_domain(region, registry):
    assert uri_of("pytorch-training:2.5.1-gpu", region) == f"{registry}/pytorch-training:{TAG}"


@pytest.mark.parametrize(
    "text, host, tag",
    [
        ("pytorch-training:2.5", "gpu", TAG),
        ("pytorch-training:2.5", "cpu", "2.5.1-cpu-py311-cu124-ubuntu22.04-sagemaker".replace("-cu124", "")),
        ("pytorch-training:2.5.1-gpu", "cpu", TAG),
        ("pytorch-training:2.5.1-gpu-py311", "cpu", TAG),
        (f"pytorch-training:{TAG}", "cpu", TAG),
        ("pytorch:2.13-gpu", "gpu", "2.13-cu133-amzn2023-sagemaker"),
        ("sagemaker-xgboost:1.7-1", "gpu", "1.7-1"),
        ("sagemaker-scikit-learn:1.2-1", "gpu", "1.2-1-cpu-py3"),
        ("kmeans:1", "cpu", "1"),
        ("huggingface-pytorch-training-neuronx:2.1.2-transformers4.48", "neuron", None),
    ],
)
def test_instances_select_the_processor(text, host, tag):
    uri = uri_of(text, "us-west-2", host)
    assert isinstance(uri, str)
    if tag is not None:
        assert uri.partition(":")[2] == tag
    assert host in ("cpu", "gpu") or "neuronx" in uri


def test_newest_python_is_selected():
    name = parsed_name("sagemaker-tensorflow-scriptmode:1.12-gpu")
    assert name is not None
    found = selected(name, frozenset())
    assert not isinstance(found, Unavailable)
    pythons = {image.python for image in images_of(name.repository) if "1.12" in image.releases}
    assert pythons == {"py2", "py3"} and found[0].python == "py3"


@pytest.mark.parametrize(
    "text, hosts, reason, suggestion",
    [
        ("pytorch-training:2.13-gpu", ("gpu",), "no version `2.13`", "pytorch:2.13-gpu"),
        ("pytorch-training:2.5.9-gpu", ("gpu",), "no version `2.5.9`", "pytorch-training:2.5.1-gpu"),
        ("pytorch-training", ("gpu",), "has no version", ""),
        ("pytorch-training:2.5.1", ("cpu", "gpu"), "has no processor, and the instance groups differ", ""),
        ("pytorch-training:2.5.1", (), "that of the instances is unknown", ""),
        ("pytorch-training:2.5.1", ("neuron",), "no image for `neuron` instances", ""),
        ("pytorch-training:2.5.1-neuronx", ("neuron",), "no image for `neuronx`", ""),
        ("pytorch-training:2.5.1-gpu-py39", ("gpu",), "is not listed", ""),
        ("pytorch-training-neuronx:2.9.0", ("neuron",), "names 5 images", ""),
    ],
)
def test_name_without_an_image_has_a_reason(text, hosts, reason, suggestion):
    found = uri_of(text, "us-west-2", *hosts)
    assert isinstance(found, Unavailable)
    assert reason in found.reason and found.suggestion == suggestion
    assert found.help


def test_region_without_the_image_suggests_regions():
    found = uri_of("pytorch-training:2.5.1-gpu", "eu-north-9")
    assert isinstance(found, Unavailable)
    assert "`eu-north-9` as of 2" in found.reason and "`eu-central-1`" in found.help


@pytest.mark.parametrize(
    "text",
    [
        "python:3.12",
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.5.1-gpu",
        "pytorch-training:2.5.1-gpu@sha256:" + "0" * 64,
        "pytorch/pytorch:2.5.1",
        "pytorch-trainig:2.5.1",
        "pytorch-training:",
        "pytorch-training:2.5.1 gpu",
        "",
    ],
)
def test_other_references_are_not_names(text):
    assert parsed_name(text) is None


def test_each_uri_has_a_name_with_the_same_uri():
    """A tag of the table is a name too, so no image needs its URI."""
    for repository in repositories():
        for image in images_of(repository):
            for tag in image.tags:
                for region in accounts.regions(image.column)[::9]:
                    uri = f"{accounts.registry(image.column, region)}/{repository}:{tag}"
                    assert image in listed(uri)
                    name = parsed_name(f"{repository}:{tag}")
                    assert name is not None
                    found = expanded(name, region, frozenset())
                    assert isinstance(found, str)
                    assert same_image(uri, found)


def listed(uri: str) -> tuple[ListedImage, ...]:
    found = provided_image(uri)
    return found.listed if found else ()


def same_image(uri: str, found: str) -> bool:
    """Return whether the table knows two URIs as tags of one image, or as one release."""
    return uri.partition("/")[0] == found.partition("/")[0] and any(
        one.processors == other.processors and set(one.releases) & set(other.releases)
        for one in listed(uri)
        for other in listed(found)
    )


def test_processor_of_each_instance_type_is_known():
    unknown = {kind for kind in pinned_model().shapes["TrainingInstanceType"].enum if processor(kind) is None}
    assert {kind.partition(".")[2].partition("-")[0] for kind in unknown} <= {"p6e"}
    assert processor("ml.g5.xlarge") == processor("ml.p4d.24xlarge") == processor("ml.p6-b200.48xlarge") == "gpu"
    assert processor("ml.trn1.2xlarge") == "neuron"
    assert processor("ml.m5.large") == processor("ml.c7i-flex.large") == "cpu"
    assert processor("ml.z9.large") is None and processor("nonsense") is None


def test_processors_are_unknown_if_one_is():
    assert processors(["ml.g5.xlarge", "ml.m5.large"]) == {"gpu", "cpu"}
    assert processors(["ml.g5.xlarge", "ml.z9.large"]) == frozenset()
    assert processors([]) == frozenset()


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("huggingface-pytorch-training:2.1.0-gpu", "huggingface-pytorch-training:2.1.0-transformers4.36-gpu"),
        ("xgboost:1.7-1", "sagemaker-xgboost:1.7-1"),
        ("pytorch:2.5.1-gpu", "pytorch-training:2.5.1-gpu"),
        ("pytorch-training:2.12", "pytorch:2.12"),
    ],
)
def test_unknown_version_suggests_the_same_framework(text, suggestion):
    found = uri_of(text, "us-west-2", "gpu")
    assert isinstance(found, Unavailable)
    assert found.suggestion == suggestion
    assert isinstance(uri_of(suggestion, "us-west-2", "gpu"), str)


def test_example_of_a_version_is_a_number():
    found = uri_of("xgboost:9", "us-west-2")
    assert isinstance(found, Unavailable)
    assert found.help == "use a listed version, such as `1`, or a full URI"

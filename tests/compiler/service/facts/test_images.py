"""The table of training images, and the registries that publish them."""

from __future__ import annotations

import re

import pytest

from smspec.service.facts import accounts
from smspec.service.facts.images import ListedImage, images_of, is_same_release, python_version, repositories

EVERY_IMAGE = [image for repository in repositories() for image in images_of(repository)]


def image(repository: str, tag: str) -> ListedImage:
    (found,) = (image for image in images_of(repository) if image.tag == tag)
    return found


def test_each_image_has_processors_and_a_registry():
    for found in EVERY_IMAGE:
        assert found.processors and set(found.processors) <= {"cpu", "gpu", "neuron", "neuronx"}
        assert accounts.regions(found.column)
        assert re.fullmatch(r"(py[23][0-9]*)?", found.python)


def test_alias_of_a_version_is_a_tag_too():
    """The SDK writes the version as the user wrote it: `2.5` instead of `2.5.1`."""
    found = image("pytorch-training", "2.5.1-gpu-py311")
    assert found.tags == ("2.5.1-gpu-py311", "2.5.1-gpu-py311-cu124-ubuntu22.04-sagemaker", "2.5-gpu-py311")
    assert found.releases == ("2.5.1", "2.5")
    assert found.usual_tag == "2.5.1-gpu-py311-cu124-ubuntu22.04-sagemaker"


def test_version_of_transformers_follows_that_of_its_base():
    found = image("huggingface-pytorch-training", "1.6.0-transformers4.5.0-gpu-py36")
    assert found.tags[-1] == "1.6.0-transformers4.5-gpu-py36"
    assert found.releases == ("1.6.0-transformers4.5.0", "1.6.0-transformers4.5")


def test_processor_of_a_new_tag_is_its_cuda_version():
    found = image("pytorch", "2.13-cu133-amzn2023-sagemaker")
    assert (found.releases, found.processors) == (("2.13",), ("gpu",))


@pytest.mark.parametrize(
    "repository, tag, version",
    [
        ("pytorch-training", "2.5.1-gpu-py311", (3, 11)),
        ("sagemaker-tensorflow", "1.4.1-cpu-py2", (2, 7)),
        ("sagemaker-scikit-learn", "1.0-1-cpu-py3", (3, 8)),
        ("sagemaker-scikit-learn", "1.2-1-cpu-py3", None),
        ("kmeans", "1", None),
        ("pytorch", "2.13-cu133-amzn2023-sagemaker", (3, 12)),
    ],
)
def test_version_of_python_is_that_of_the_tag(repository, tag, version):
    assert python_version(image(repository, tag)) == version


def test_images_of_different_processors_are_different_releases():
    gpu, cpu = image("pytorch", "2.13-cu133-amzn2023-sagemaker"), image("pytorch", "2.13-cpu-amzn2023-sagemaker")
    assert is_same_release(gpu, image("pytorch", "2.13.0-cu133-amzn2023-sagemaker"))
    assert not is_same_release(gpu, cpu)


def test_registry_has_the_domain_of_its_partition():
    column = image("pytorch-training", "2.5.1-gpu-py311").column
    assert accounts.registry(column, "us-west-2") == "763104351884.dkr.ecr.us-west-2.amazonaws.com"
    assert accounts.registry(column, "cn-north-1") == "727897471807.dkr.ecr.cn-north-1.amazonaws.com.cn"
    assert accounts.registry(column, "mars-north-1") == ""
    assert "us-west-2" in accounts.regions(column)


def test_columns_of_an_account_differ_by_region():
    assert accounts.is_provider("763104351884") and not accounts.is_provider("111122223333")
    in_oregon = accounts.columns("763104351884", "us-west-2")
    assert in_oregon and in_oregon <= {
        c for region in accounts.all_regions() for c in accounts.columns("763104351884", region)
    }
    assert accounts.columns("763104351884", "af-south-1") == frozenset()
    assert "763104351884" in accounts.accounts(in_oregon) and "626614931356" in accounts.accounts(in_oregon)

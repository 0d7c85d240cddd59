"""What images of AWS have installed."""

from __future__ import annotations

import pytest

from smspec.service.image_contents import packages_of, python_of

REGISTRY = "763104351884.dkr.ecr.us-west-2.amazonaws.com"
MIRROR = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
DIGEST = "@sha256:" + "0" * 64


@pytest.mark.parametrize(
    "image",
    [
        "pytorch:2.13-gpu",
        "pytorch:2.13.0-gpu",
        f"{REGISTRY}/pytorch:2.13-cu133-amzn2023-sagemaker",
        f"{REGISTRY}/pytorch:2.13.0-cu133-amzn2023-sagemaker",
        f"{REGISTRY}/pytorch:2.13-cu133-amzn2023-sagemaker{DIGEST}",
    ],
)
def test_packages_of_every_spelling_of_an_image_are_known(image):
    found = packages_of(image)
    assert found is not None and {"torch", "numpy", "boto3"} <= found and "transformers" not in found
    assert python_of(image) == (3, 12)


@pytest.mark.parametrize(
    "image",
    [
        "pytorch-training:1.13-gpu",
        f"{MIRROR}/pytorch:2.13-cu133-amzn2023-sagemaker",
        f"{REGISTRY}/pytorch{DIGEST}",
        f"{REGISTRY}/pytorch:9-cu133",
        f"{REGISTRY}/unlisted:1",
        "pytorch:9.9",
        "pytorch",
        "python:3.12",
        "not an image",
    ],
)
def test_packages_of_other_images_are_unknown(image):
    assert packages_of(image) is None


def test_packages_differ_by_processor():
    cpu, gpu = packages_of("tensorflow-training:2.21-cpu"), packages_of("tensorflow-training:2.21-gpu")
    assert cpu is not None and gpu is not None
    assert "tensorflow-cpu" in cpu - gpu and "tensorflow" in gpu


def test_python_is_known_without_the_packages():
    assert python_of("pytorch-training:2.5.1-gpu") == (3, 11)
    assert python_of(f"{REGISTRY}/pytorch-training:2.5-gpu-py311") == (3, 11)
    assert python_of("sagemaker-scikit-learn:1.2-1") is None

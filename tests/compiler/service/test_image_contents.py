"""What images of AWS have installed."""

from __future__ import annotations

import pytest

from smspec.service.image_python import python_of_image
from smspec.service.provided_images import modules_of, python_of

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
def test_modules_of_every_spelling_of_an_image_are_known(image):
    found = modules_of(image)
    assert found is not None and {"torch", "numpy", "boto3", "PIL"} <= found and "transformers" not in found
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
def test_modules_of_other_images_are_unknown(image):
    assert modules_of(image) is None


def test_modules_differ_by_processor():
    cpu, gpu = modules_of("pytorch:2.13-cpu"), modules_of("pytorch:2.13-gpu")
    assert cpu is not None and gpu is not None
    assert "cv2" in cpu - gpu and "flash_attn" in gpu - cpu
    assert modules_of("pytorch:2.13") is None


def test_python_is_known_without_the_modules():
    assert python_of("pytorch-training:2.5.1-gpu") == (3, 11)
    assert python_of(f"{REGISTRY}/pytorch-training:2.5-gpu-py311") == (3, 11)
    assert python_of("pytorch-training:2.5.1") == (3, 11)
    assert python_of("sagemaker-scikit-learn:1.0-1-cpu-py3") == (3, 8)
    assert python_of("sagemaker-xgboost:3.0-5") == (3, 10)


def test_python_is_unknown_where_builds_differ():
    assert python_of("sagemaker-scikit-learn:1.2-1") is None
    assert python_of("sagemaker-xgboost:1.7-1") is None


def test_python_of_an_aws_tag_is_that_of_the_table():
    account = "683313688378.dkr.ecr.us-east-1.amazonaws.com"
    assert python_of_image(f"{account}/sagemaker-xgboost:1.5-1") == (3, 8)
    assert python_of_image("sagemaker-xgboost:1.5-1") == (3, 8)
    assert python_of_image(f"{MIRROR}/sagemaker-xgboost:1.5-1") is None

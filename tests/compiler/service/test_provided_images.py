"""Which images are AWS's own, by repository and account."""

from __future__ import annotations

import pytest

from smspec.service.image_reference import ImageReference, parsed_reference
from smspec.service.provided_images import is_algorithm_without_checkpoints, is_built_in_algorithm, needs_the_network


def image(account: str, name: str, region: str = "us-west-2") -> ImageReference:
    found = parsed_reference(f"{account}.dkr.ecr.{region}.amazonaws.com/{name}")
    assert found is not None
    return found


@pytest.mark.parametrize("account", ["108575199400", "124985052026", "898809789911", "174872318107"])
def test_algorithms_are_recognized_in_each_account(account):
    assert is_built_in_algorithm(image(account, "kmeans:1"))
    assert is_algorithm_without_checkpoints(image(account, "kmeans:1"))
    assert not is_built_in_algorithm(image(account, "pytorch-training:2.5.1-gpu-py311"))


def test_image_of_a_team_is_not_an_algorithm():
    assert not is_built_in_algorithm(image("111122223333", "kmeans:1"))
    assert not is_algorithm_without_checkpoints(image("111122223333", "kmeans:1"))
    assert not needs_the_network(image("111122223333", "sagemaker-rl-ray-container:1"))


def test_only_the_old_xgboost_has_no_checkpoints():
    assert is_algorithm_without_checkpoints(image("433757028032", "xgboost:1"))
    assert not is_algorithm_without_checkpoints(image("433757028032", "xgboost:1.7-1"))
    assert is_built_in_algorithm(image("433757028032", "object-detection:1"))
    assert not is_algorithm_without_checkpoints(image("433757028032", "object-detection:1"))


@pytest.mark.parametrize("account", ["462105765813", "520713654638", "453391408702"])
def test_containers_that_need_the_network_are_recognized(account):
    assert needs_the_network(image(account, "sagemaker-rl-ray-container:ray-0.8.5-tf-gpu-py36"))
    assert not needs_the_network(image(account, "sagemaker-tensorflow:1.13-gpu-py2"))

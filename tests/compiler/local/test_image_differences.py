"""What of an image a run without containers names as different."""

from __future__ import annotations

import pytest

from smspec.local.running.image_content import image_differences, job_variables
from smspec.local.running.training_request import TrainingRequest
from support.spec.job_samples import job

COMMANDS = "executed: programs and libraries come from this machine"


@pytest.mark.parametrize(
    ("keys", "differences"),
    [
        ({}, []),
        ({"run": ["make"]}, [f"`image.run` is not {COMMANDS}"]),
        ({"pre_install": ["x"], "run": ["y"]}, [f"`image.pre_install` and `image.run` are not {COMMANDS}"]),
        ({"user": "1000:50"}, ["`image.user`: the job does not run as `1000:50`"]),
        ({"user": "root"}, []),
        ({"user": "0:0"}, []),
    ],
)
def test_keys_that_only_an_image_has_are_named(keys, differences):
    assert image_differences(job(image={"base": "python:3.12-slim", **keys})) == differences


OWN = {"SAGEMAKER_TRAINING_MODULE": "mine:main"}


@pytest.mark.parametrize(
    ("image", "own", "module"),
    [
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.3.0-cpu-py311", {}, "sagemaker_pytorch_"),
        ({"base": "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.3.0-gpu-py311"}, {}, "sagemaker_"),
        ("763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.3.0-cpu-py311", OWN, "mine:"),
        ({"base": "python:3.12-slim"}, {}, ""),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/team/train:1", {}, ""),
    ],
)
def test_module_of_a_pytorch_image_is_set_for_a_run(image, own, module):
    """By it the runtime sets MASTER_ADDR on one host, too, as the rules about variables expect."""
    request = TrainingRequest({"Environment": own})
    found = job_variables(job(image=image), request, {}, "lo").get("SAGEMAKER_TRAINING_MODULE", "")
    assert found.startswith(module) and bool(found) == bool(module)

"""SM530 is reported only if a process group cannot form in any run."""

import pytest

from support.smspec_command import smspec

SPEC = """smspec: v1
name: group
role: arn:aws:iam::111122223333:role/SageMakerTraining
region: us-west-2
image: {image}
source: src/
entry_point: train.py
hosts: {{instance_type: ml.c5.xlarge, count: {count}, volume: 10GB}}
stopping: {{max_runtime: 1h}}
output: s3://models/group/
"""
BUILT = "{base: python:3.12-slim-bookworm}"
READY = "111122223333.dkr.ecr.us-west-2.amazonaws.com/torch:1"
DIST = "import json, os\nimport torch.distributed as dist\n"
HOSTS = "hosts = json.loads(os.environ['SM_HOSTS'])\nrank = hosts.index(os.environ['SM_CURRENT_HOST'])\n"
GLOO = "dist.init_process_group('gloo')\n"


def reported(tmp_path, program, *more, count=2, image=BUILT):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/train.py").write_text(program)
    (tmp_path / "job.yaml").write_text(SPEC.format(count=count, image=image) + "".join(more))
    done = smspec("validate", "job.yaml", cwd=tmp_path)
    return [line for line in (done.out + done.err).splitlines() if "SM530]" in line]


@pytest.mark.parametrize(
    ("program", "count", "missing"),
    [
        (DIST + GLOO, 2, "no `WORLD_SIZE` or `RANK`"),
        (DIST + GLOO, 1, "no `MASTER_ADDR`, `MASTER_PORT`, `WORLD_SIZE`, or `RANK`"),
        (DIST + "dist.init_process_group()", 2, "no `WORLD_SIZE` or `RANK`"),
        (DIST + "dist.init_process_group('nccl', 'env://', world_size=2)", 2, "`RANK`"),
        (
            "from torch.distributed import init_process_group as init\ninit('gloo', init_method='env://')",
            2,
            "`WORLD_SIZE`",
        ),
        (DIST + HOSTS + "def main():\n    dist.init_process_group('gloo', rank=rank)\nmain()\n", 2, "no `WORLD_SIZE`"),
    ],
)
def test_missing_process_group_is_reported(tmp_path, program, count, missing):
    (line,) = reported(tmp_path, program, count=count)
    assert missing in line


# AWS's mnist example: rank and world size from SM_HOSTS, in the environment and as arguments.
MNIST = (
    DIST + HOSTS + "os.environ['WORLD_SIZE'] = str(len(hosts))\nos.environ['RANK'] = str(rank)\n"
    "dist.init_process_group(backend='gloo', rank=rank, world_size=len(hosts))\n"
)


@pytest.mark.parametrize(
    "program",
    [
        MNIST,
        DIST + HOSTS + "os.environ['RANK'] = str(rank)\nos.environ['WORLD_SIZE'] = '2'\n" + GLOO,
        DIST + "os.environ.update(RANK='0', WORLD_SIZE='1')\n" + GLOO,
        DIST + "os.environ.setdefault('RANK', '0')\nos.environ.setdefault('WORLD_SIZE', '1')\n" + GLOO,
        DIST + HOSTS + "dist.init_process_group('gloo', rank=rank, world_size=len(hosts))",
        DIST + "if 'RANK' in os.environ:\n    dist.init_process_group('gloo')",
        DIST + "def main():\n    dist.init_process_group('gloo')\nif len(json.loads(os.environ['SM_HOSTS'])): main()",
        DIST + "dist.init_process_group('gloo', init_method='tcp://10.0.0.1:23', rank=0, world_size=1)",
        DIST + "dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)",
        DIST + "dist.init_process_group(**json.loads(os.environ['SM_HPS']))",
        DIST + "try:\n    dist.init_process_group('gloo')\nexcept ValueError:\n    pass",
        "import torch.multiprocessing as mp\n"
        + DIST
        + "def f(rank):\n    dist.init_process_group('gloo')\nmp.spawn(f)",
    ],
)
def test_scripts_without_a_group_are_not_reported(tmp_path, program):
    assert reported(tmp_path, program) == []


@pytest.mark.parametrize(
    "more",
    ["distribution: torchrun\n", "distribution: mpi\n", "environment: {RANK: '0', WORLD_SIZE: '1'}\n"],
)
def test_variables_set_elsewhere_are_not_reported(tmp_path, more):
    assert reported(tmp_path, DIST + GLOO, more) == []


AWS = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.5.1-cpu-py311"
ALONE = DIST + "dist.init_process_group('gloo', rank=0, world_size=1)"


@pytest.mark.parametrize(
    ("image", "more"),
    [
        (AWS, ""),
        (f"{{base: {AWS}}}", ""),
        (BUILT, "environment: {SAGEMAKER_TRAINING_MODULE: 'sagemaker_pytorch_container.training:main'}\n"),
    ],
)
def test_pytorch_images_set_an_address_on_one_host(tmp_path, image, more):
    assert reported(tmp_path, ALONE, more, count=1, image=image) == []


@pytest.mark.parametrize(("image", "count"), [(BUILT, 1), (READY, 1)])
def test_other_images_set_no_address_on_one_host(tmp_path, image, count):
    (line,) = reported(tmp_path, ALONE, count=count, image=image)
    assert "no `MASTER_ADDR` or `MASTER_PORT`" in line


def test_existing_images_set_no_variables(tmp_path):
    assert len(reported(tmp_path, DIST + GLOO, image=READY)) == 1

"""TrainingImage, if it is an image of AWS: its account, repository, and tag, and the instances it runs on."""

import pytest

from smspec.service.facts import accounts
from smspec.service.facts.images import images_of, repositories
from smspec.service.request_rules import request_findings
from support.service.api_samples import changed
from support.service.request_cases import request_tests

IMAGE = ("AlgorithmSpecification", "TrainingImage")
OREGON = "763104351884.dkr.ecr.us-west-2.amazonaws.com"
CAPE_TOWN = "626614931356.dkr.ecr.af-south-1.amazonaws.com"
MIRROR = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
DIGEST = f"@sha256:{'0f' * 32}"
CPU, GPU, NEURON, UNKNOWN = "ml.m5.large", "ml.g5.xlarge", "ml.trn1.2xlarge", "ml.p6e-gb200.36xlarge"
NEURONX = "pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"
TORCH = "pytorch-training:2.5.1"


def running(image, *types):
    """Return a request that runs an image on instances of some types."""
    if len(types) == 1:
        volume = {"VolumeSizeInGB": 50} if types[0] == CPU else {}
        hosts = {"InstanceType": types[0], "InstanceCount": 1} | volume
    else:
        groups = [{"InstanceGroupName": f"g{n}", "InstanceType": t, "InstanceCount": 1} for n, t in enumerate(types)]
        hosts = {"InstanceGroups": groups} | ({"VolumeSizeInGB": 50} if CPU in types else {})
    return changed(AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"}, ResourceConfig=hosts)


REPORTED = [
    (running(f"763104351884.dkr.ecr.af-south-1.amazonaws.com/{TORCH}-gpu-py311", GPU), "SM488", IMAGE),
    (
        running(f"763104351884.dkr.ecr.cn-north-1.amazonaws.com.cn/{TORCH}-gpu-py311", GPU)
        | {"RoleArn": "arn:aws-cn:iam::111122223333:role/SageMakerTraining"},
        "SM488",
        IMAGE,
    ),
    (running("763104351884.dkr.ecr.us-west-2.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3", CPU), "SM384", IMAGE),
    (running(f"246618743249.dkr.ecr.us-west-2.amazonaws.com/{TORCH}-cpu-py311", CPU), "SM384", IMAGE),
    (running(f"{OREGON}/pytorch-training:9.9.9-gpu-py399", GPU), "SM385", IMAGE),
    (running(f"{OREGON}/{TORCH}-gpu", GPU), "SM385", IMAGE),
    (running(f"{OREGON}/{TORCH}-gpu-py311-cu999", GPU), None, IMAGE),
    (running(f"763104351884.dkr.ecr.us-west-9.amazonaws.com/{TORCH}-gpu-py311", GPU), "SM385", IMAGE),
    (running(f"{OREGON}/{NEURONX}", GPU), "SM489", IMAGE),
    (running(f"{OREGON}/{NEURONX}", CPU, GPU), "SM489", IMAGE),
    (running(f"{OREGON}/{TORCH}-gpu-py311", NEURON), "SM489", IMAGE),
    (running(f"{OREGON}/pytorch-inference-arm64:2.5.1-cpu-py311", CPU), "SM490", IMAGE),
    (running(f"{OREGON}/pytorch-inference:2.9-gpu-py312-arm64-sagemaker", CPU, GPU), "SM490", IMAGE),
    (running(f"{OREGON}/{TORCH}-gpu-py311", CPU), "SM386", IMAGE),
    (running(f"{OREGON}/{TORCH}-cpu-py311", GPU), "SM386", IMAGE),
    (running(f"{OREGON}/pytorch-training:2.6.0-gpu-py312", GPU), "SM387", IMAGE),
]
ACCEPTED = [
    running(f"{OREGON}/{TORCH}-gpu-py311", GPU),
    running(f"{OREGON}/pytorch-training:2.5-gpu-py311", GPU),
    running(f"{OREGON}/{TORCH}-gpu-py311-cu124-ubuntu22.04-sagemaker", GPU),
    running(f"{OREGON}/{TORCH}-gpu-py311-cu124-ubuntu22.04-sagemaker-v1.24", GPU),
    running(f"{OREGON}/pytorch-training{DIGEST}", CPU),
    running(f"{CAPE_TOWN}/{TORCH}-gpu-py311", GPU),
    running(f"{OREGON}/{TORCH}-cpu-py311", CPU),
    running(f"{OREGON}/{TORCH}-gpu-py311", CPU, GPU),
    running(f"{OREGON}/{TORCH}-cpu-py311", CPU, GPU),
    running(f"{OREGON}/{NEURONX}", NEURON),
    running(f"{OREGON}/{NEURONX}", CPU, NEURON),
    running(f"{OREGON}/{TORCH}-gpu-py311", GPU, NEURON),
    running(f"{OREGON}/pytorch-training:2.10.0-gpu-py313", GPU),
    # Nothing is known of the processor of these instances.
    running(f"{OREGON}/{TORCH}-gpu-py311", UNKNOWN),
    running(f"{OREGON}/{TORCH}-cpu-py311", UNKNOWN),
    running(f"{OREGON}/{NEURONX}", UNKNOWN),
    running(f"{OREGON}/pytorch-inference-arm64:2.5.1-cpu-py311", UNKNOWN),
    running(f"{MIRROR}/pytorch-inference-arm64:2.5.1-cpu-py311", CPU),
    # The owner of a mirror decides what is in it.
    running(f"{MIRROR}/pytorch-training:anything", GPU),
    running(f"{MIRROR}/{NEURONX}", CPU),
    running(f"{MIRROR}/kmeans:1", CPU),
    # AWS publishes many repositories that no table of training images has.
    running(f"{OREGON}/pytorch-inference:2.5.1-gpu-py311", GPU),
    running("763104351884.dkr.ecr.af-south-1.amazonaws.com/pytorch-inference:2.5.1-gpu-py311", GPU),
    running("520713654638.dkr.ecr.us-west-2.amazonaws.com/sagemaker-tensorflow:1.13-gpu-py2", GPU),
    running("246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-scikit-learn:1.2-1-cpu-py3", CPU),
]
REPORTED, STRANGE = [case for case in REPORTED if case[1]], [case for case in REPORTED if not case[1]]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


def findings(image, *types, **more):
    return request_findings(running(image, *types), **more)


@pytest.mark.parametrize(
    "image, kind",
    [
        ("174872318107.dkr.ecr.us-west-2.amazonaws.com/kmeans:1", CPU),
        ("174872318107.dkr.ecr.us-west-2.amazonaws.com/randomcutforest:1", GPU),
        ("433757028032.dkr.ecr.us-west-2.amazonaws.com/image-classification:1", CPU),
        ("246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.7-1", GPU),
    ],
)
def test_instances_of_algorithms_are_left_to_their_rules(image, kind):
    """Whether an algorithm trains on a GPU is not a matter of its image."""
    assert not {"SM384", "SM385", "SM386"} & {finding.code for finding in findings(image, kind)}


def test_unknown_cuda_of_a_listed_tag_is_accepted():
    """AWS appends builds, dates, and versions of CUDA to most tags."""
    assert [request_findings(request) for request, *_ in STRANGE] == [[]]


@pytest.mark.parametrize("code", ["SM371", "SM488"])
def test_help_has_the_whole_uri_in_the_region_of_the_job(code):
    found = findings(f"763104351884.dkr.ecr.af-south-1.amazonaws.com/{TORCH}-gpu-py311", GPU, region="eu-south-1")
    (help,) = (finding.help for finding in found if finding.code == code)
    assert help == f"use `692866216735.dkr.ecr.eu-south-1.amazonaws.com/{TORCH}-gpu-py311`"


def test_image_of_a_team_in_another_region_has_to_be_moved():
    found = findings(f"{MIRROR}/{TORCH}-gpu-py311", GPU, region="eu-west-1")
    assert [finding.code for finding in found] == ["SM371"] and "move the image" in found[0].help


def test_nearest_tag_has_the_same_version():
    (found,) = findings(f"{OREGON}/{TORCH}-gpu-py310", GPU)
    assert found.label == f"did you mean `{TORCH.partition(':')[2]}-gpu-py311`?"


def test_tag_of_other_regions_is_reported_with_its_region():
    newer = next(image for image in images_of("pytorch-training") if image.version == "2.10.0")
    registry = accounts.registry(newer.column, "me-west-1")
    (found,) = findings(f"{registry}/{TORCH}-gpu-py311", GPU)
    assert found.code == "SM385" and "in `me-west-1`" in found.message


def test_tag_behind_a_digest_is_still_checked():
    """A short name with a locked digest is sent without its tag."""
    tagged = f"{OREGON}/{TORCH}-gpu-py311"
    (found,) = findings(f"{OREGON}/pytorch-training{DIGEST}", CPU, tagged_image=tagged)
    assert found.code == "SM386"
    assert findings(f"{OREGON}/pytorch{DIGEST}", CPU, tagged_image=tagged) == []


def test_findings_that_age_are_dated():
    for request, code, _ in REPORTED:
        (found,) = request_findings(request)
        if code in ("SM384", "SM385", "SM387"):
            assert found.severity == "warning" and "as of 20" in found.message


def test_no_listed_image_is_reported_in_its_regions():
    """What the table has is right, whatever the processor of the instances."""
    for repository in repositories():
        for image in images_of(repository):
            for region in accounts.regions(image.column)[::7]:
                uri = f"{accounts.registry(image.column, region)}/{repository}:{image.usual_tag}"
                found = {finding.code for finding in findings(uri, GPU)}
                assert not found & {"SM488", "SM384", "SM385"}, uri


HUGGING_FACE = "huggingface-pytorch-training"


@pytest.mark.parametrize(
    ("tag", "is_listed"),
    [
        (f"{HUGGING_FACE}:2.9-gpu-py312", True),
        (f"{HUGGING_FACE}:2.9.0-gpu-py312-cu130-ubuntu22.04", True),
        (f"{HUGGING_FACE}:2.9-transformers5.3-gpu-py312-cu130-ubuntu22.04-v1", True),
        (f"{HUGGING_FACE}:2.9-transformers5.9-gpu-py312", False),
        ("pytorch-training:2.5-gpu-py311-cu124", True),
        ("pytorch-training:2.5.9-gpu-py311", False),
        ("pytorch-training:2.5-py311", False),
        ("pytorch-training:2.5.1-gpu", False),
        ("pytorch-training:2.5.1-gpu-py39", False),
        ("pytorch-training:2-gpu-py311", True),
    ],
)
def test_forms_of_a_listed_tag_are_listed(tag, is_listed):
    """AWS publishes each image under several tags (release notes of aws/deep-learning-containers)."""
    found = [finding.code for finding in request_findings(running(f"{OREGON}/{tag}", GPU))]
    assert found == ([] if is_listed else ["SM385"])

"""VpcConfig, network isolation and encryption between the hosts."""

from support.service.api_samples import changed
from support.service.request_cases import request_tests

ECR = "dkr.ecr.us-west-2.amazonaws.com"
HOSTS = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5}
SOMEONES = "arn:aws:sagemaker:us-west-2:865070037744:algorithm/bought"
OWN = "arn:aws:sagemaker:us-west-2:111122223333:algorithm/mine"


def vpc(subnets=("subnet-0aa",), groups=("sg-0bb",), **parts):
    return changed(VpcConfig={"SecurityGroupIds": list(groups), "Subnets": list(subnets)}, **parts)


def isolated(image=None, **parts):
    algorithm = {"AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"}} if image else {}
    return changed(EnableNetworkIsolation=True, **algorithm, **parts)


def submitted(place):
    return isolated(HyperParameters={"sagemaker_program": "train.py", "sagemaker_submit_directory": place})


def named(algorithm, **parts):
    return changed(AlgorithmSpecification={"AlgorithmName": algorithm, "TrainingInputMode": "File"}, **parts)


ENCRYPTED = "EnableInterContainerTrafficEncryption"
DEBUGGED = {"EnableRemoteDebug": True}
SUBMITTED = ("HyperParameters", "sagemaker_submit_directory")

REPORTED = [
    (vpc(subnets=["subnet-0aa", "subnet-0bb", "subnet-0aa"]), "SM470", ("VpcConfig", "Subnets", 2)),
    (vpc(groups=["sg-0aa", "sg-0aa"]), "SM470", ("VpcConfig", "SecurityGroupIds", 1)),
    (isolated(f"520713654638.{ECR}/sagemaker-chainer:5.0.0-cpu-py3"), "SM471", ("EnableNetworkIsolation",)),
    (
        isolated(f"462105765813.{ECR}/sagemaker-rl-ray-container:ray-0.8.5-torch-cpu-py36"),
        "SM471",
        ("EnableNetworkIsolation",),
    ),
    (changed(**{ENCRYPTED: True}), "SM356", (ENCRYPTED,)),
    (vpc(subnets=["sg-0aa"]), "SM357", ("VpcConfig", "Subnets", 0)),
    (vpc(groups=["default"]), "SM357", ("VpcConfig", "SecurityGroupIds", 0)),
    (isolated(RemoteDebugConfig=DEBUGGED), "SM358", ("RemoteDebugConfig", "EnableRemoteDebug")),
    (named(SOMEONES), "SM359", ("EnableNetworkIsolation",)),
    (named(SOMEONES, EnableNetworkIsolation=False), "SM359", ("EnableNetworkIsolation",)),
    (submitted("s3://example-data/source/sourcedir.tar.gz"), "SM363", SUBMITTED),
    (submitted('"s3://example-data/source/sourcedir.tar.gz"'), "SM363", SUBMITTED),
]

ACCEPTED = [
    vpc(),
    vpc(subnets=["subnet-0aa", "subnet-0bb"]),
    changed(EnableNetworkIsolation=False, RemoteDebugConfig=DEBUGGED),
    isolated(RemoteDebugConfig={"EnableRemoteDebug": False}),
    isolated(f"111122223333.{ECR}/sagemaker-chainer:mine"),
    isolated(f"520713654638.{ECR}/sagemaker-tensorflow:1.10.0-cpu-py2"),
    changed(**{ENCRYPTED: True}, ResourceConfig=HOSTS | {"InstanceCount": 2}),
    changed(**{ENCRYPTED: False}),
    named(SOMEONES, EnableNetworkIsolation=True),
    named(OWN),
    named("mine"),
    submitted("/opt/ml/input/data/code/sourcedir.tar.gz"),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)

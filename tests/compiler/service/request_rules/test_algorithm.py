"""AlgorithmSpecification: the image, how it is pulled, the command and the metrics."""

from support.service.api_samples import OF_AN_ALGORITHM, changed
from support.service.request_cases import request_tests

HERE = "AlgorithmSpecification"
IMAGE = (HERE, "TrainingImage")
ACCESS = (HERE, "TrainingImageConfig", "TrainingRepositoryAccessMode")
METRICS = (HERE, "MetricDefinitions")
ECR = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
DIGEST = f"sha256:{'0f' * 32}"
KMEANS = "174872318107.dkr.ecr.us-west-2.amazonaws.com/kmeans:1"
XGBOOST = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.5-1"
CREDENTIALS = {"TrainingRepositoryCredentialsProviderArn": "arn:aws:lambda:us-west-2:111122223333:function:registry"}
VPC = {"SecurityGroupIds": ["sg-01234567"], "Subnets": ["subnet-01234567"]}


def role(partition):
    return f"arn:{partition}:iam::111122223333:role/SageMakerTraining"


def running(image=f"{ECR}/sample:1", parts=None, **members):
    """Return a request for an image; ``parts`` are of the request, ``members`` of its AlgorithmSpecification."""
    algorithm = {"TrainingImage": image, "TrainingInputMode": "File"} | members
    given = {name: value for name, value in algorithm.items() if value is not None}
    needed = OF_AN_ALGORITHM if image in (KMEANS, XGBOOST) else {}
    return changed(AlgorithmSpecification=given, **needed, **(parts or {}))


def pulled(image, mode=None, vpc=None, **config):
    config |= {"TrainingRepositoryAccessMode": mode} if mode else {}
    return running(image, {"VpcConfig": vpc}, TrainingImageConfig=config or None)


def channel(name="code", **members):
    s3 = {"S3DataType": "S3Prefix", "S3Uri": "s3://example-code/x/"}
    if "distribution" in members:
        s3["S3DataDistributionType"] = members.pop("distribution")
    return {"ChannelName": name, "DataSource": {"S3DataSource": s3}} | members


def started(*words, channels=None, arguments=None, mode="File"):
    """Return a request with a command, whose channel `code` is there unless others are given."""
    return running(
        parts={"InputDataConfig": [channel()] if channels is None else channels or None},
        ContainerEntrypoint=list(words) or None,
        ContainerArguments=arguments,
        TrainingInputMode=mode,
    )


def measured(*patterns, image=f"{ECR}/sample:1", **members):
    metrics = [{"Name": f"m{number}", "Regex": pattern} for number, pattern in enumerate(patterns)]
    return running(image, MetricDefinitions=metrics or None, **members)


def entrypoint(index):
    return (HERE, "ContainerEntrypoint", index)


SCRIPT = "/opt/ml/input/data/code/train.py"
STREAMED = [channel(InputMode="FastFile"), channel("train", InputMode="Pipe")]

REPORTED = [
    (running(AlgorithmName="mine"), "SM423", (HERE, "AlgorithmName")),
    (running(None), "SM424", IMAGE),
    *(
        (running(image), "SM436", IMAGE)
        for image in (
            "sample:1",
            "library/python",
            f"https://{ECR}/sample:1",
            f"docker://{ECR}/sample:1",
            f" {ECR}/sample:1",
            f"{ECR}/my sample:1",
            f"{ECR}/Sample:1",
            f"{ECR}/sample:1:2",
            f"{ECR}/sample@sha256:1",
            f"{ECR}/sample:1@{DIGEST}",
            f"{ECR}/",
            "111122223333.dkr.ecr..us-west-2.amazonaws.com/sample:1",
            "1111.dkr.ecr.us-west-2.amazonaws.com/sample:1",
            "<account>.dkr.ecr.us-west-2.amazonaws.com/sample:1",
            "",
        )
    ),
    (running(f"{ECR}/sample"), "SM332", IMAGE),
    (running(f"{ECR}/sample:latest"), "SM332", IMAGE),
    (pulled("docker.io/library/python:3"), "SM437", (HERE, "TrainingImageConfig")),
    (pulled("registry.example.com:5000/sample:1"), "SM437", (HERE, "TrainingImageConfig")),
    (pulled("docker.io/library/python:3", "Platform"), "SM437", ACCESS),
    (pulled(f"{ECR}/sample:1", "Vpc", VPC), "SM333", ACCESS),
    (running("public.ecr.aws/docker/library/python:3.12"), "SM437", ("AlgorithmSpecification", "TrainingImageConfig")),
    (pulled("registry.example.com/sample:1", "Vpc"), "SM438", ("VpcConfig",)),
    (
        pulled(f"{ECR}/sample:1", "Platform", TrainingRepositoryAuthConfig=CREDENTIALS),
        "SM334",
        (HERE, "TrainingImageConfig", "TrainingRepositoryAuthConfig"),
    ),
    (started("python3", "/opt/ml/input/data/cod/train.py"), "SM439", entrypoint(1)),
    (started("/opt/ml/input/data/train_x/train"), "SM439", entrypoint(0)),
    (started("python3", SCRIPT, channels=[]), "SM439", entrypoint(1)),
    (started("python3", SCRIPT, "--data=/opt/ml/input/data/train"), "SM439", entrypoint(2)),
    (
        started("python3", SCRIPT, arguments=["--data", "/opt/ml/input/data/train/x.csv"]),
        "SM439",
        (HERE, "ContainerArguments", 1),
    ),
    (
        started("bash", "-c", "pip install x && python3 -u /opt/ml/input/data/cod/train.py --lr 1"),
        "SM439",
        entrypoint(2),
    ),
    (started("sh", "-c", "cd /tmp; /opt/ml/input/data/cod/run.sh"), "SM439", entrypoint(2)),
    (started("python3", SCRIPT, mode="Pipe"), "SM440", (HERE, "TrainingInputMode")),
    (started("python3", SCRIPT, channels=STREAMED), "SM440", ("InputDataConfig", 0, "InputMode")),
    (started("/opt/ml/input/data/code/train", channels=STREAMED), "SM440", ("InputDataConfig", 0, "InputMode")),
    (started("torchrun", "--nproc", "8", SCRIPT, channels=STREAMED), "SM440", ("InputDataConfig", 0, "InputMode")),
    (
        started("/bin/bash", "-c", f"exec {SCRIPT}", channels=STREAMED),
        "SM440",
        ("InputDataConfig", 0, "InputMode"),
    ),
    (
        started("/bin/bash", arguments=["-c", f"chmod +x {SCRIPT} && {SCRIPT}"], channels=STREAMED),
        "SM440",
        ("InputDataConfig", 0, "InputMode"),
    ),
    (
        started("python3", SCRIPT, channels=[channel(distribution="ShardedByS3Key")])
        | {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 5}},
        "SM441",
        ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3DataDistributionType"),
    ),
    (
        running(MetricDefinitions=[{"Name": "loss", "Regex": "a=(.)"}, {"Name": "loss", "Regex": "b=(.)"}]),
        "SM335",
        (*METRICS, 1, "Name"),
    ),
    (measured("(.)", "loss=[0-9.]+"), "SM336", (*METRICS, 1, "Regex")),
    (measured(r"\(loss\)=(?:[0-9]+)"), "SM336", (*METRICS, 0, "Regex")),
    *(
        (measured(pattern), "SM442", (*METRICS, 0, "Regex"))
        for pattern in ("loss=(.", "loss=.)", "loss=([0-9.)", "loss=(.)\\", "*loss=(.)", "(a)|+b", "(+a)", "(?P<n>a")
    ),
    (measured("(.)", image=KMEANS), "SM337", METRICS),
    (measured("(.)", EnableSageMakerMetricsTimeSeries=False), "SM338", (HERE, "EnableSageMakerMetricsTimeSeries")),
    (running(KMEANS, EnableSageMakerMetricsTimeSeries=False), "SM338", (HERE, "EnableSageMakerMetricsTimeSeries")),
]

ACCEPTED = [
    running(None, AlgorithmName="mine"),
    running(f"{ECR}/team/sample@{DIGEST}"),
    running(f"{ECR}/sample:2.4.0-gpu-py311"),
    running("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/sample:1") | {"RoleArn": role("aws-cn")},
    running("111122223333.dkr.ecr-fips.us-gov-west-1.amazonaws.com/sample:1") | {"RoleArn": role("aws-us-gov")},
    running("111122223333.dkr-ecr.us-west-2.on.aws/sample:1"),
    pulled(f"{ECR}/sample:1", "Platform"),
    pulled("registry.example.com/sample:1", "Vpc", VPC),
    pulled("registry.example.com/sample:1", "Vpc", VPC, TrainingRepositoryAuthConfig=CREDENTIALS),
    running(parts={"VpcConfig": VPC}),
    started("python3", SCRIPT),
    started("python3", "-m", "trainer", "--data", "/opt/ml/input/data/code"),
    started("python3", "train.py", "--x", "/opt/ml/input/config/hyperparameters.json"),
    started("python3", "train.py", "/opt/ml/input/data/code_0", "/opt/ml/input/data/code-manifest"),
    started("python3", "train.py", "/opt/ml/input/data", "/opt/ml/input/data/", "/opt/ml/input/data/*/x"),
    started("python3", "train.py", "/opt/ml/input/data/../config/x", "/opt/ml/input/data/$NAME/x"),
    started("bash", "-c", "mkdir -p /opt/ml/input/data/more && /opt/ml/input/data/more/x"),
    started("bash", "-c", "[ -d /opt/ml/input/data/more ] && sh /opt/ml/input/data/more/x.sh"),
    started("bash", "-c", "python3 train.py /opt/ml/input/data/validation/x.csv"),
    started("bash", "-c", f"python3 {SCRIPT}"),
    started("python3", SCRIPT, channels=[channel(), channel("train", InputMode="Pipe")]),
    started("python3", SCRIPT, "--data", "/opt/ml/input/data/train/x.py", channels=[channel(), STREAMED[1]]),
    started("python3", "train.py", "--data", "/opt/ml/input/data/train/x.py", channels=STREAMED),
    started("train", "/opt/ml/input/data/train/x.csv", channels=STREAMED),
    started("python3", SCRIPT, channels=[channel(InputMode="File")], mode="FastFile"),
    started("python3", SCRIPT, channels=[channel(distribution="FullyReplicated")]),
    measured("loss=([0-9.]+)", r"\[loss\] (?<value>\S+)", "(?P<value>.)", "[]()]+=(.)", "[^]]=(.)", "[[:digit:]](.)"),
    measured(r"(?i)a=(.)", r"(?:a|b)=(.)", r"\Q(\E(.)", "(?x) a=(.) # ( and [", "(?#()(.)", "(a)?(?(1)b|c)"),
    measured("(.)", image=f"{ECR}/kmeans:1"),
    measured("(.)", image=XGBOOST),
    measured("(.)", EnableSageMakerMetricsTimeSeries=True),
    running(EnableSageMakerMetricsTimeSeries=False),
    running(KMEANS),
    running(MetricDefinitions=[]),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)

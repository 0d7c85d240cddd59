"""Why a job fails before, around, and after its script: capacity, images, data, access, networks, limits."""

from __future__ import annotations

from typing import Literal

from smspec.source.frozen import dataclass

Retry = Literal["no", "yes", "later"]
"""Whether the same job may succeed: not without a change, at once, or after a while."""

ROOT, SYMPTOM, STATUS = 1, 2, 3
"""How much a line says: what went wrong, what follows from it on other processes or hosts, or only how it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCause:
    """``pattern`` is searched in each line of a reason and of a log; of causes in one line, the first one counts.

    ``keys`` of the spec are those to change. ``source``: where the failure is documented or was reported.
    """

    name: str
    pattern: str
    cause: str
    fix: str
    source: str
    keys: tuple[str, ...] = ()
    retry: Retry = "no"
    rank: int = ROOT


SDK_ISSUES = "https://github.com/aws/sagemaker-python-sdk/issues"
EXAMPLE_ISSUES = "https://github.com/aws/amazon-sagemaker-examples/issues"
GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg"
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference"

MAX_RUNTIME = FailureCause(
    name="max-runtime",
    pattern=r"\bMaxRuntimeExceeded\b|exceeded (its|the) maximum (allowed )?runtime",
    cause="the job reached `stopping.max_runtime`",
    fix="increase `stopping.max_runtime`, or set `checkpoints` and let the next job go on from them",
    keys=("stopping.max_runtime", "checkpoints"),
    source=f"{_API}/API_StoppingCondition.html",
)
MAX_WAIT = FailureCause(
    name="max-wait",
    pattern=r"\bMaxWaitTimeExceeded\b",
    cause="the job reached `spot.max_wait`, waiting for Spot capacity included",
    fix="increase `spot.max_wait`, or remove `spot`",
    keys=("spot.max_wait", "spot"),
    retry="later",
    source=f"{_API}/API_StoppingCondition.html",
)
SPOT_WITHOUT_CHECKPOINTS = FailureCause(
    name="spot-without-checkpoints",
    pattern="",
    cause="AWS reclaimed the Spot instances, and without `checkpoints` each restart begins from the start",
    fix="set `checkpoints`, and load the newest one at the start of the script; or remove `spot`",
    keys=("checkpoints", "spot"),
    source=f"{GUIDE}/model-managed-spot-training.html",
)
STOPPED = FailureCause(
    name="stopped",
    pattern="",
    cause="a StopTrainingJob request stopped the job",
    fix="submit the job again if that was not intended: `smspec submit --again`",
    retry="yes",
    source=f"{_API}/API_StopTrainingJob.html",
)
PENDING = FailureCause(
    name="max-pending",
    pattern="",
    cause="`stopping.max_pending`, or a StopTrainingJob request, stopped the job before it had instances",
    fix="submit the job again later with `smspec submit --again`, or increase `stopping.max_pending`",
    keys=("stopping.max_pending",),
    retry="later",
    source=f"{_API}/API_StoppingCondition.html",
)

JOB_CAUSES = (
    MAX_RUNTIME,
    MAX_WAIT,
    FailureCause(
        name="type-not-offered",
        pattern=r"training-job/ml\.\S+ is not available in this region",
        cause="the region does not offer this instance type for training jobs",
        fix="set `hosts.instance_type` to a type that the region offers, or change `region`",
        keys=("hosts.instance_type", "region"),
        source=f"{EXAMPLE_ISSUES}/1001",
    ),
    FailureCause(
        name="capacity",
        pattern=r"\b(EC2)?(Insufficient)?CapacityError\b|InsufficientInstanceCapacity"
        r"|Unable to provision requested ML compute capacity|[Ii]nsufficient capacity error from EC2"
        r"|insufficient capacity\b",
        cause="AWS has no free instance of this type in the region, or in the zones of the subnets",
        fix="submit the job again later, list alternatives in `hosts.any_of`, or add subnets of more zones",
        keys=("hosts.any_of", "hosts.instance_type", "network.subnets"),
        retry="later",
        source="https://github.com/DIAGNijmegen/rse-grand-challenge/issues/2631",
    ),
    FailureCause(
        name="quota",
        pattern=r"\bResourceLimitExceeded\b|account-level service limit"
        r"|\bServiceQuotaExceeded|\bLimitExceededException\b",
        cause="the quota of the account for this instance type is used up, or 0",
        fix="wait for other jobs to end, request a higher quota, or change `hosts.instance_type`;"
        " `smspec quotas` shows the quotas",
        keys=("hosts.instance_type", "hosts.count"),
        retry="later",
        source=f"{GUIDE}/regions-quotas.html",
    ),
    FailureCause(
        name="role",
        pattern=r"(could not|cannot|unable to) assume (the )?role|not authorized to perform: sts:AssumeRole"
        r"|sagemaker\.amazonaws\.com.{0,40} to assume",
        cause="SageMaker cannot assume the execution role",
        fix="correct `role`, and let its trust policy name sagemaker.amazonaws.com",
        keys=("role",),
        source=f"{GUIDE}/sagemaker-roles.html",
    ),
    FailureCause(
        name="exec-format",
        pattern=r"[Ee]xec format error",
        cause="the image, or a program in it, is built for a different processor, or a script has no `#!` line",
        fix="build the image for the processor of the instances: set `image.platform`; let scripts begin with `#!`",
        keys=("image.platform", "hosts.instance_type"),
        source="https://github.com/aws/deep-learning-containers/issues/1157",
    ),
    FailureCause(
        name="line-endings",
        pattern=r"'?(python3?|bash|sh)(\\r|\^M|\r)'?: (No such file|bad interpreter)|\^M: bad interpreter|\$'\\r'",
        cause="a script has the line endings of Windows, so its `#!` line names no program",
        fix="convert the script to Unix line endings, for example with `dos2unix`, and build the image again",
        source="https://github.com/aws/sagemaker-scikit-learn-container/issues/10",
    ),
    FailureCause(
        name="program-denied",
        pattern=r"exec:? .{1,200}[Pp]ermission denied|exit code: 126\b",
        cause="the image's program exists, but may not be executed",
        fix="make it executable in the image, with `chmod +x` in `image.run`, or set `entry_point`",
        keys=("entry_point", "image.run"),
        source=f"{SDK_ISSUES}/4678",
    ),
    FailureCause(
        name="program-not-found",
        pattern=r"executable file not found|exec:? .{1,200}(no such file or directory|No such file or directory)"
        r"|exec: .{1,200}: stat ",
        cause="the image has no program of this name: SageMaker starts `train` where nothing else is set",
        fix="set `entry_point`, or add the program to the image's PATH",
        keys=("entry_point",),
        source=f"{SDK_ISSUES}/222",
    ),
    FailureCause(
        name="program-not-found",
        pattern=r"\bexit(ed)?[ _]?(with )?(code|status):? 127\b",
        cause="a shell found no program of a name in the image",
        fix="look at the line `not found` in the log; set `entry_point`, or add the program to the image's PATH",
        keys=("entry_point",),
        rank=STATUS,
        source=f"{SDK_ISSUES}/222",
    ),
    FailureCause(
        name="image-pull",
        pattern=r"Cannot pull algorithm container|Cannot find the requested image|\becr:(BatchGetImage|GetDownloadUrl"
        r"ForLayer|BatchCheckLayerAvailability|GetAuthorizationToken)\b|CannotPullContainer|manifest for \S+ not found"
        r"|pull access denied|ImagePullBackOff|ErrImagePull|no basic auth credentials",
        cause="SageMaker cannot pull the image: it is missing, in a different region, or the role may not read it",
        fix="push the image, correct `image`, and allow `role` to read it: `smspec render --iam-policy` prints the"
        " policy; in a private network, add endpoints for ECR and S3",
        keys=("image", "role", "network.subnets"),
        source=f"{SDK_ISSUES}/1968",
    ),
    FailureCause(
        name="kms",
        pattern=r"\bkms:\w+|\bKMS\.?\w{0,40}(Exception|Error)|KMS key .{1,200}(denied|disabled|not exist|not found)"
        r"|refers to a (customer master|KMS) key|master key that does not exist",
        cause="a KMS key does not allow what the job does with it, or does not exist in the region",
        fix="allow `role` to use the key, in its policy and in the policy of the key: `smspec render --iam-policy`"
        " prints what the role needs; check `output.kms_key` and `hosts.volume_kms_key`",
        keys=("role", "output.kms_key", "hosts.volume_kms_key"),
        source="https://repost.aws/knowledge-center/sagemaker-s3-accessdenied-training",
    ),
    FailureCause(
        name="no-data",
        pattern=r"No S3 objects found under S3 URL|S3 key: .{1,1024} matched no files"
        r"|no (objects|files) (were )?found (under|in|at) s3:",
        cause="a channel's prefix has no objects",
        fix="correct `channels.*.s3`, or upload the data; the bucket must be in the job's region",
        keys=("channels.*.s3",),
        source=f"{EXAMPLE_ISSUES}/2489",
    ),
    FailureCause(
        name="empty-key-part",
        pattern=r"illegal char sub-sequence '//'",
        cause="SageMaker rejects objects in S3 whose keys contain `//`",
        fix="move the objects to keys without empty parts, and correct `channels.*.s3`",
        keys=("channels.*.s3",),
        source="https://github.com/aws-samples/generative-ai-on-amazon-sagemaker/pull/242",
    ),
    FailureCause(
        name="wrong-region",
        pattern=r"BucketRegionError|PermanentRedirect|bucket is in this region:|must be addressed using the specified"
        r" endpoint|(bucket|key).{0,80}same region|AuthorizationHeaderMalformed|IllegalLocationConstraint",
        cause="a bucket is in a different region than the job",
        fix="use a bucket of the job's region in `channels.*.s3` and `output.s3`, or change `region`",
        keys=("region", "channels.*.s3", "output.s3"),
        source=f"{EXAMPLE_ISSUES}/3881",
    ),
    FailureCause(
        name="s3-unreachable",
        pattern=r"route to an S3 VPC endpoint|subnet's route table|outbound traffic to S3"
        r"|Connect timeout on endpoint URL: \"https://[\w.-]*s3[\w.-]*amazonaws"
        r"|Unable to execute request to S3",
        cause="the hosts cannot reach S3 from their subnets",
        fix="add a gateway endpoint for S3 or a NAT device to `network.subnets`, and allow outbound traffic in"
        " `network.security_groups`",
        keys=("network.subnets", "network.security_groups"),
        source="https://github.com/aws/amazon-sagemaker-operator-for-k8s/pull/22",
    ),
    FailureCause(
        name="disk-full",
        pattern=r"Insufficient disk space|[Nn]o space left on device|\bErr(no|or) 28\b|Disk quota exceeded"
        r"|\bENOSPC\b|disk is full|lack of disk space"
        r"|not enough (free )?(disk )?space|PytorchStreamWriter failed writing"
        r"|inline_container\.cc.{0,40}unexpected pos",
        cause="a volume of a host is full: data, checkpoints, and the model share it",
        fix="increase `hosts.volume`, write less, or read the data with `input_mode: FastFile` or `Pipe`",
        keys=("hosts.volume", "input_mode"),
        source=f"{SDK_ISSUES}/128",
    ),
    FailureCause(
        name="io-error",
        pattern=r"\[Errno (5|116)\]|input/output error|stale file handle|transport endpoint is not connected",
        cause="a disk of a host, or a file system that it mounts, failed",
        fix="submit the job again; if it fails again, look at the file system of `channels.*.file_system`",
        keys=("channels.*.file_system",),
        retry="yes",
        source="https://github.com/open-mmlab/mmdetection/issues/6461",
    ),
    FailureCause(
        name="data-denied",
        pattern=r"Data download failed.{0,1024}(AccessDenied|\b403\b|Access Denied|Forbidden)",
        cause="the role may not read a channel's data, or the bucket or its KMS key denies it",
        fix="allow `role` to read `channels.*.s3`: `smspec render --iam-policy` prints the policy",
        keys=("role", "channels.*.s3"),
        source=f"{EXAMPLE_ISSUES}/4384",
    ),
    FailureCause(
        name="output-denied",
        pattern=r"Artifact upload failed.{0,1024}(AccessDenied|\b403\b|Access Denied|Forbidden)",
        cause="the role may not write the output, or the bucket or its KMS key denies it",
        fix="allow `role` to write to `output.s3`: `smspec render --iam-policy` prints the policy",
        keys=("role", "output.s3"),
        source=f"{GUIDE}/sagemaker-roles.html",
    ),
    FailureCause(
        name="pipe-timeout",
        pattern=r"SageMaker pipe channel timed out",
        cause="the script did not read a Pipe channel for too long",
        fix="read every Pipe channel to its end in each epoch, or set `input_mode: FastFile`;"
        " `smspec run` shows channels that were not read",
        keys=("input_mode", "channels.*.input_mode"),
        source=f"{EXAMPLE_ISSUES}/1316",
    ),
    FailureCause(
        name="aws-unreachable",
        pattern=r"([Tt]imeout|[Cc]ould not connect to the|[Tt]imed out).{0,40}endpoint URL|EndpointConnectionError"
        r"|Connect timeout on endpoint URL",
        cause="the script cannot reach a service of AWS",
        fix="add an interface endpoint of that service, or a NAT device, to `network.subnets`; check `region`",
        keys=("network.subnets", "network.security_groups", "region"),
        source="https://github.com/aws-samples/amazon-sagemaker-studio-vpc-networkfirewall/issues/2",
    ),
    FailureCause(
        name="no-credentials",
        pattern=r"Unable to locate credentials|NoCredentialsError|NoCredentialProviders|Partial credentials found",
        cause="the script calls AWS without credentials: with network isolation, a job has none",
        fix="remove `network.isolation`, or let a channel deliver what the script reads",
        keys=("network.isolation", "channels"),
        source="https://github.com/aws/sagemaker-mxnet-training-toolkit/issues/135",
    ),
    FailureCause(
        name="expired-credentials",
        pattern=r"\bExpiredToken(Exception)?\b|security token included in the request is (expired|invalid)"
        r"|\bInvalidClientTokenId\b",
        cause="the script calls AWS with credentials that have expired, for example from variables of a laptop",
        fix="remove AWS_ACCESS_KEY_ID and its like from `environment` and the code: `role` has credentials that renew",
        keys=("environment", "role"),
        source="https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html",
    ),
    FailureCause(
        name="region-unset",
        pattern=r"[Yy]ou must specify a region|\bNoRegionError\b|\bInvalidRegionError\b",
        cause="the script calls AWS and has no region",
        fix="pass `os.environ['AWS_REGION']` to boto3, or set AWS_DEFAULT_REGION in `environment`",
        keys=("environment",),
        source="https://github.com/dask/dask-cloudprovider/issues/84",
    ),
    FailureCause(
        name="s3-missing",
        pattern=r"\bNoSuchKey\b|\bNoSuchBucket\b|specified (key|bucket) does not exist|\(404\) when calling the"
        r"|HeadObject operation: Not Found|object s3://\S+ not found",
        cause="an object or a bucket that the script or the toolkit reads does not exist",
        fix="correct the address in `hyperparameters`, `source.s3`, or the code, or upload the object",
        keys=("hyperparameters", "source.s3"),
        source=f"{SDK_ISSUES}/835",
    ),
    FailureCause(
        name="access-denied",
        pattern=r"\bAccessDenied(Exception)?\b|\(403\) when calling the|operation: (Access Denied|Forbidden"
        r"|Unauthorized)|\(Unauthorized\) when calling|is not authorized to perform:"
        r"|does not have sufficient permissions|UnauthorizedOperation",
        cause="the role may not do what the script or the toolkit calls",
        fix="allow `role` the action that the message names, on that resource: `smspec render --iam-policy` prints"
        " what the job itself needs",
        keys=("role",),
        source=f"{SDK_ISSUES}/442",
    ),
    FailureCause(
        name="rate-limit",
        pattern=r"429 Client Error|Too Many Requests|\bHTTP(Error)? ?429\b|\bSlowDown\b"
        r"|\bThrottlingException\b|Rate exceeded",
        cause="a server rejects requests because the processes of the job send too many",
        fix="let one process of each host download, put the files in `channels`, or set a token in `secrets`",
        keys=("channels", "secrets"),
        retry="later",
        source="https://github.com/allenai/OLMo/issues/550",
    ),
    FailureCause(
        name="server-timeout",
        pattern=r"Read timed out|ReadTimeout(Error)?\b.{0,200}(host=|https?://(?!\S*amazonaws))"
        r"|read operation timed out",
        cause="a server on the Internet did not answer in time",
        fix="submit the job again; so that it needs no server, put its files in `channels` or in the image",
        keys=("channels",),
        retry="yes",
        rank=SYMPTOM,
        source="https://github.com/awslabs/awsome-distributed-ai/issues/445",
    ),
    FailureCause(
        name="missing-channel",
        pattern=r"KeyError: ?'?SM_CHANNELS?_?\w*|argument --\w+: expected .{0,40}SM_CHANNEL",
        cause="the script reads a channel that the job does not have",
        fix="add the channel to `channels`: its name in lower case sets SM_CHANNEL_NAME",
        keys=("channels",),
        source=f"{SDK_ISSUES}/1036",
    ),
    FailureCause(
        name="hardware",
        pattern=r"Launched instance was unhealthy|[Rr]epairing training cluster due to hardware failure"
        r"|InfraCheck.{0,40}fail",
        cause="an instance was unhealthy, and SageMaker could not replace it in time",
        fix="submit the job again; set `checkpoints`, so that it goes on where it was",
        keys=("checkpoints",),
        retry="yes",
        rank=SYMPTOM,
        source=f"{GUIDE}/model-checkpoints-cluster-repair.html",
    ),
    FailureCause(
        name="request-invalid",
        pattern=r"\(ValidationException\) when calling the Create",
        cause="SageMaker rejects the request",
        fix="correct the member that the message names; `smspec validate` finds most of these before submission",
        rank=SYMPTOM,
        source=f"{_API}/API_CreateTrainingJob.html",
    ),
    FailureCause(
        name="upload-failed",
        pattern=r"Artifact upload failed",
        cause="SageMaker could not collect what the script wrote, or could not upload it",
        fix="check that `role` may write to `output.s3`, that the volume is not full (`hosts.volume`), and that the"
        " script leaves only files in /opt/ml/model and /opt/ml/output/data",
        keys=("output.s3", "role", "hosts.volume"),
        rank=SYMPTOM,
        source=f"{EXAMPLE_ISSUES}/3881",
    ),
    FailureCause(
        name="download-failed",
        pattern=r"Data download failed"
        r"|Failed to download data",
        cause="SageMaker could not copy the data of a channel to the hosts",
        fix="check that `channels.*.s3` exists, that `role` may read it, and that it fits in `hosts.volume`",
        keys=("channels.*.s3", "role", "hosts.volume"),
        rank=SYMPTOM,
        source=f"{EXAMPLE_ISSUES}/2489",
    ),
    FailureCause(
        name="internal-error",
        pattern=r"\bInternalServerError\b|\(500\) when calling the \w+TrainingJob",
        cause="SageMaker failed, or could not say why",
        fix="submit the job again, or set `retries`; if it fails again, contact AWS Support",
        keys=("retries",),
        retry="yes",
        rank=SYMPTOM,
        source=f"{SDK_ISSUES}/70",
    ),
)

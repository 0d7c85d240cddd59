"""Why a script fails: memory, devices, other hosts, packages, files, arguments, models, and services that it calls."""

from __future__ import annotations

from smspec.service.failures.job_causes import STATUS, SYMPTOM, FailureCause

_ISSUES = "https://github.com/aws/sagemaker-python-sdk/issues"
_EXAMPLES = "https://github.com/aws/amazon-sagemaker-examples/issues"
_PYTORCH = "https://github.com/pytorch/pytorch/issues"
_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg"

SCRIPT_CAUSES = (
    FailureCause(
        name="cuda-memory",
        pattern=r"CUDA out of memory|CUDA error: out of memory|OutOfMemoryError: CUDA|CUDA_ERROR_OUT_OF_MEMORY"
        r"|^(?=.*(CUDA|GPU|cuda)).*bad_alloc|CUBLAS_STATUS_ALLOC_FAILED|CUDA_OUT_OF_MEMORY"
        r"|RESOURCE_EXHAUSTED: Out of memory|OOM when allocating tensor(?!.{0,400}allocator (cpu|mkl))",
        cause="the memory of a GPU is full",
        fix="reduce the batch size in `hyperparameters`, or set `hosts.instance_type` to one with more memory per GPU",
        keys=("hyperparameters", "hosts.instance_type"),
        source="https://pytorch.org/docs/stable/notes/faq.html",
    ),
    FailureCause(
        name="shared-memory",
        pattern=r"[Bb]us error|\bSIGBUS\b|out of shared memory|insufficient shared memory"
        r"|creating shared memory segment|shared memory segment nccl|/dev/shm.{0,60}(No space|full)"
        r"|[Ee]xit ?[Cc]ode ?:? ?(135|-7)\b"
        r"|unable to (open|mmap|write|resize).{0,60}shared memory",
        cause="/dev/shm is full: the workers of a DataLoader, or NCCL, share tensors through it",
        fix="set `num_workers` of the DataLoader to fewer or 0, or call"
        " `torch.multiprocessing.set_sharing_strategy('file_system')`, or use a larger `hosts.instance_type`",
        keys=("hyperparameters", "hosts.instance_type"),
        source=f"{_ISSUES}/937",
    ),
    FailureCause(
        name="host-memory",
        pattern=r"[Uu]se an instance type with more memory|Out of Memory\. Please use a larger instance"
        r"|\bMemoryError\b|Unable to allocate [\d.]+ [KMGT]iB|std::bad_alloc|Cannot allocate memory"
        r"|[Oo]ut[- ]of[- ][Mm]emory: Kill|\boom[-_]kill|\bOOMKilled\b|DefaultCPUAllocator: (not enough|can't allocate)"
        r"|SIGKILL: probably out of memory|OOM when allocating tensor|fatal error: Killed signal terminated",
        cause="the memory of a host is full",
        fix="set `hosts.instance_type` to one with more memory, or load less at once;"
        " `smspec run --memory auto` repeats it on this machine",
        keys=("hosts.instance_type",),
        source="https://github.com/comic/grand-challenge.org/blob/main/app/grandchallenge/components/backends"
        "/amazon_sagemaker_base.py",
    ),
    FailureCause(
        name="gpu-fault",
        pattern=r"uncorrectable ECC error|ECC_UNCORRECTABLE|fallen off the bus"
        r"|\bXid\b.{0,40}: ?(48|63|64|74|79|94|95)\b"
        r"|Unable to determine the device handle for|CUDA error: (unspecified launch failure|unknown error)"
        r"|NVML: .{0,40}(GPU is lost|Unknown Error)",
        cause="a GPU of an instance has failed",
        fix="submit the job again: SageMaker starts it on other instances; set `checkpoints`, so that it goes on",
        keys=("checkpoints",),
        retry="yes",
        source="https://github.com/vllm-project/vllm/issues/5222",
    ),
    FailureCause(
        name="cuda-version",
        pattern=r"no kernel image is available|driver version is insufficient|driver on your system is too old"
        r"|forward compatibility was attempted|CUDA_ERROR_NO_BINARY_FOR_GPU|unsupported PTX|PTX was compiled with"
        r"|is not compatible with the current PyTorch installation|cudaErrorInsufficientDriver"
        r"|nvidia-container-cli: requirement error: unsatisfied condition: cuda",
        cause="the CUDA of the image does not fit the driver or the GPU of the instance",
        fix="set `image.base` or the packages to versions that are built for the GPU of `hosts.instance_type`, or"
        " change the instance type",
        keys=("image.base", "image.python_packages", "hosts.instance_type"),
        source="https://github.com/NVIDIA/nvidia-docker/issues/400",
    ),
    FailureCause(
        name="no-gpu",
        pattern=r"Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs are available"
        r"|RuntimeError.{0,80}no CUDA-capable device|but torch\.cuda\.is_available\(\) is False"
        r"|could not select device driver|NCCL is not available",
        cause="the script needs a GPU, and the instance has none, or the image has packages for processors only",
        fix="set `hosts.instance_type` to one with GPUs, and `image` to one with CUDA",
        keys=("hosts.instance_type", "image"),
        source="https://github.com/facebookresearch/detectron2/issues/1789",
    ),
    FailureCause(
        name="cuda-assert",
        pattern=r"device-side assert|\.cu:\d+.{0,300}Assertion|CUDA error: an illegal memory access",
        cause="a value is out of range on the GPU, most often a label or a token id that the model has no place for",
        fix="check labels and vocabulary against the size of the model; set CUDA_LAUNCH_BLOCKING=1 in `environment`"
        " to see the line",
        keys=("environment",),
        source="https://github.com/facebookresearch/detectron2/issues/2365",
    ),
    FailureCause(
        name="efa",
        pattern=r"NET/OFI (?!Using|Selected|Initializing|Configuring|Running|Setting|No NIC|Plugin).{0,80}([Ee]rror|RC:"
        r"|[Ff]ailed|[Uu]nable|Couldn't|Could not)|libfabric:.{0,200}(<warn>|err)|aws-ofi-nccl initialization failed"
        r"|prov_err|FI_EAGAIN",
        cause="NCCL cannot use the Elastic Fabric Adapter between the hosts",
        fix="let `network.security_groups` allow all traffic to and from themselves, inbound and outbound; use the"
        " versions of EFA, aws-ofi-nccl, and NCCL of one image of AWS",
        keys=("network.security_groups", "image.base"),
        source="https://github.com/aws/aws-ofi-nccl/issues/156",
    ),
    FailureCause(
        name="port-in-use",
        pattern=r"[Aa]ddress already in use|\bEADDRINUSE\b",
        cause="two processes of a host use the same port: a process group was started twice, or its port is taken",
        fix="let `distribution.torchrun` start one process per GPU and nothing else, or change its `port`",
        keys=("distribution.torchrun", "distribution.torchrun.port"),
        source=f"{_PYTORCH}/72816",
    ),
    FailureCause(
        name="gated-model",
        pattern=r"\bgated repo|GatedRepoError|is gated\b|401 Client Error.{0,200}huggingface\.co"
        r"|403 Client Error.{0,200}huggingface\.co|Make sure to have access to it at https://huggingface\.co"
        r"|Invalid (user )?token|Invalid credentials in Authorization header|must be authenticated to access it"
        r"|must accept the end-user license|RepositoryNotFoundError|LocalTokenNotFoundError",
        cause="the model is gated or private, and the job has no token that may read it",
        fix="accept the terms of the model, and set HF_TOKEN in `secrets` to the ARN of a secret with your token",
        keys=("secrets",),
        source="https://github.com/skypilot-org/skypilot/issues/2634",
    ),
    FailureCause(
        name="wandb-key",
        pattern=r"api_key not configured|wandb:? .{0,60}(API key|api_key|permission denied)",
        cause="Weights & Biases has no API key",
        fix="set WANDB_API_KEY in `secrets` to the ARN of a secret, or WANDB_MODE=disabled in `environment`",
        keys=("secrets", "environment"),
        source="https://github.com/ultralytics/yolov5/issues/1703",
    ),
    FailureCause(
        name="no-internet",
        pattern=r"Max retries exceeded with url|couldn't connect to 'https://huggingface|(Failed to|Could not) resolve"
        r"( host)?:? |[Nn]ame or service not known|[Tt]emporary failure in name resolution|NameResolutionError"
        r"|[Nn]etwork is unreachable|ConnectTimeoutError|NewConnectionError|LocalEntryNotFoundError"
        r"|Connection to \S+ timed out|OfflineModeIsEnabled|<urlopen error",
        cause="the hosts cannot reach a server on the Internet: in a private subnet or with network isolation, nothing"
        " can",
        fix="put packages in `image.python_packages` and models in a channel; or add a NAT device to"
        " `network.subnets`, or remove `network.isolation`",
        keys=("image.python_packages", "network.subnets", "network.isolation"),
        source=f"{_ISSUES}/1142",
    ),
    FailureCause(
        name="wrong-input-mode",
        pattern=r"PipeModeDataset must be used with SageMaker Pipe Mode|data store '/opt/ml/input/data/.{1,80}' does"
        r" not exist|Is a directory: '/opt/ml/input/data/\w+'|/opt/ml/input/data/\w+_\d+'? ?.{0,20}[Nn]o such file"
        r"|No such file or directory: '/opt/ml/input/data/\w+_\d+'",
        cause="the script reads a channel in a different mode than the job sets",
        fix="set `input_mode`, or `channels.*.input_mode`, to what the script reads",
        keys=("input_mode", "channels.*.input_mode"),
        source="https://github.com/aws/sagemaker-tensorflow-extensions/issues/27",
    ),
    FailureCause(
        name="missing-file",
        pattern=r"([Nn]o such file or directory|does not exist|[Nn]o file found in path|not found)[: ]{0,3}.{0,10}"
        r"/opt/ml/(input|checkpoints|code|model)|/opt/ml/input/data/\S{1,200} (does not exist|is not a)"
        r"|[Uu]nable to open .{0,40}/opt/ml/input",
        cause="the script reads a file that its channel does not contain",
        fix="correct the name of the channel in `channels`, or what `channels.*.s3` contains; its files are in"
        " /opt/ml/input/data/NAME",
        keys=("channels", "channels.*.s3"),
        source=f"{_EXAMPLES}/670",
    ),
    FailureCause(
        name="record-format",
        pattern=r"[Uu]nable to parse (record|csv)|[Ff]ailed to (load|parse) (libsvm|csv|parquet|recordio)"
        r"|in libsvm( format)?\b|LIBSVM label format|magic number|Invalid header crc|corrupted record at"
        r"|[Cc]ould not parse example input|DataLossError|Blankspace and colon not found",
        cause="the data of a channel is not in the format that its reader expects",
        fix="convert the data, or correct `channels.*.content_type`, `channels.*.record_wrapper`, and"
        " `channels.*.compression`",
        keys=("channels.*.content_type", "channels.*.record_wrapper", "channels.*.compression"),
        source=f"{_EXAMPLES}/668",
    ),
    FailureCause(
        name="hyperparameter",
        pattern=r"required hyperparameter|hyperparameter_validation\.py|[Hh]yperparameter \S+.{0,80}(invalid|not valid"
        r"|required|unsupported|must be)|[Ii]nvalid (value for )?hyperparameter|self\.hyperparameters\["
        r"|is not one of the (valid|allowed) hyperparameters|ValidationError.{0,80}hyperparameter",
        cause="a hyperparameter is missing, unknown, or has a value that the algorithm rejects",
        fix="correct `hyperparameters`: the message names the one",
        keys=("hyperparameters",),
        source=f"{_ISSUES}/132",
    ),
    FailureCause(
        name="arguments",
        pattern=r"error: (unrecognized arguments|argument |the following arguments are required|invalid choice"
        r"|ambiguous option)|Error: (No such option|Missing option|Invalid value for)",
        cause="the script does not accept the arguments that the job passes",
        fix="correct `hyperparameters` and `entry_point.args`, or the script's parser; `smspec validate` compares them",
        keys=("hyperparameters", "entry_point.args"),
        source=f"{_ISSUES}/1720",
    ),
    FailureCause(
        name="missing-library",
        pattern=r"(ImportError|OSError): .{0,200}cannot open shared object file|error while loading shared libraries",
        cause="the image lacks a shared library that a package loads",
        fix="add the package that has it to `image.system_packages` (libGL.so.1 is in `libgl1`)",
        keys=("image.system_packages",),
        source="https://github.com/open-mmlab/mmdetection/issues/3645",
    ),
    FailureCause(
        name="binary-mismatch",
        pattern=r"Error.{0,20}: .{0,400}(undefined symbol:|version `(GLIBC|GLIBCXX|CXXABI)\S*' not found)"
        r"|(ValueError|RuntimeError|Error): numpy\.\w+ size changed|numpy\.core\.multiarray failed to import"
        r"|Numpy is not available|module compiled against API version",
        cause="a compiled package was built for a different version of another package or of the system",
        fix="pin versions that fit in `image.python_packages`, or change `image.base`; `smspec check` imports them",
        keys=("image.python_packages", "image.base"),
        source="https://github.com/Dao-AILab/flash-attention/issues/854",
    ),
    FailureCause(
        name="import-mismatch",
        pattern=r"[Cc]annot import name|cannot import named|partially initialized module"
        r"|module '(numpy|torch|tensorflow|keras|transformers|pandas|sklearn|PIL|scipy|jax|collections|pkgutil)[\w.]*'"
        r" has no attribute|Descriptors (cannot not|cannot|should not) be created directly",
        cause="an imported package has a different version than the script or another package expects",
        fix="pin a version that has the name in `image.python_packages`",
        keys=("image.python_packages",),
        source="https://github.com/huggingface/autotrain-advanced/issues/812",
    ),
    FailureCause(
        name="missing-module",
        pattern=r"(ModuleNotFoundError|ImportError): .{0,10}No module named|: No module named \S",
        cause="the image has no such module, and the source does not contain it",
        fix="add its package to `image.python_packages`, or its file to `source`",
        keys=("image.python_packages", "source"),
        source="https://github.com/aws/sagemaker-pytorch-training-toolkit/issues/255",
    ),
    FailureCause(
        name="pip-failed",
        pattern=r"InstallModuleError|InstallRequirementsError|pip', 'install'.{0,200}non-zero exit"
        r"|No matching distribution found|Could not find a version that satisfies|ResolutionImpossible"
        r"|/pip/_internal/|metadata-generation-failed|Failed building wheel|subprocess-exited-with-error",
        cause="pip cannot install the packages of the job when it starts",
        fix="set `image.python_packages`, so that they are installed when the image is built, and `smspec lock` them",
        keys=("image.python_packages", "image.python_requirements"),
        rank=SYMPTOM,
        source="https://github.com/aws/sagemaker-training-toolkit/issues/19",
    ),
    FailureCause(
        name="no-compiler",
        pattern=r"CUDA_HOME (environment variable is not set|does not exist)|/bin/nvcc'|nvcc: (command )?not found"
        r"|No supported gcc/g\+\+ host compiler|command '(gcc|g\+\+|x86_64-linux-gnu-gcc)' failed: No such file",
        cause="a package compiles an extension when it is installed or started, and the image has no compiler",
        fix="set `image.base` to a `-devel` image of CUDA, add `build-essential` to `image.system_packages`, or"
        " install a wheel that is built already",
        keys=("image.base", "image.system_packages"),
        source="https://github.com/deepspeedai/DeepSpeed/issues/2772",
    ),
    FailureCause(
        name="neuron-compiler",
        pattern=r"neuronx?-cc (compilation failed|.{0,40}failed)|'neuronx?-cc', .{0,1000}non-zero exit status"
        r"|neuronxcc\.driver.{0,80}Internal Compiler Error",
        cause="the Neuron compiler cannot compile the model",
        fix="set `image.base` to a newer Neuron SDK, or lower its optimization in `environment` (NEURON_CC_FLAGS)",
        keys=("image.base", "environment"),
        source="https://github.com/aws-neuron/aws-neuron-sdk/issues/674",
    ),
    FailureCause(
        name="file-denied",
        pattern=r"PermissionError: ?\[Err|\[Errno 13\]|\[Errno 30\]|[Rr]ead-only file system",
        cause="the script may not write or run a file",
        fix="write below /opt/ml/model, /opt/ml/checkpoints, or /tmp; if `image.user` is set, set HOME and caches in"
        " `environment` to directories that it may write",
        keys=("image.user", "environment"),
        source="https://github.com/opendatahub-io/ilab-on-ocp/pull/26",
    ),
    FailureCause(
        name="checkpoint-mismatch",
        pattern=r"in loading state_dict|size mismatch for |copying a param with shape"
        r"|(Missing|Unexpected) key\(s\) in state_dict",
        cause="the checkpoint is of a model with different layers",
        fix="use the `hyperparameters` of the job that wrote it, or set `checkpoints` to a new prefix",
        keys=("hyperparameters", "checkpoints"),
        source="https://github.com/kohya-ss/sd-scripts/issues/789",
    ),
    FailureCause(
        name="weights-only",
        pattern=r"Weights only load failed|WeightsUnpickler error",
        cause="since PyTorch 2.6, `torch.load` reads weights only, and the checkpoint contains more",
        fix="call `torch.load(path, weights_only=False)` for a checkpoint of your own, or pin an older torch in"
        " `image.python_packages`",
        keys=("image.python_packages",),
        source="https://github.com/meta-pytorch/torchtune/issues/1142",
    ),
    FailureCause(
        name="architecture-unknown",
        pattern=r"Unrecognized configuration class|does not recognize this architecture|Unrecognized model in ",
        cause="the installed version of transformers does not know the model, or not for this class",
        fix="pin a newer transformers in `image.python_packages`, or use the class that the model belongs to",
        keys=("image.python_packages",),
        source="https://github.com/TideDra/lmm-r1/issues/60",
    ),
    FailureCause(
        name="nccl-timeout",
        pattern=r"collective operation timeout|Watchdog caught|NCCL operations have failed or timed out"
        r"|ProcessGroupNCCL.{0,200}[Tt]imed? ?out",
        cause="a process did not take part in a collective operation: it hangs, is far slower, or has ended",
        fix="look at the log of the rank that is missing; give each rank as many batches, or raise the timeout of"
        " init_process_group",
        rank=SYMPTOM,
        source="https://github.com/NVIDIA/Megatron-LM/issues/1207",
    ),
    FailureCause(
        name="rendezvous",
        pattern=r"client socket has (timed out|failed)|DistStoreError|DistNetworkError|RendezvousTimeoutError"
        r"|RendezvousConnectionError|RendezvousClosedError|TCPStore.{0,80}[Tt]ime|Timed out waiting for clients",
        cause="a host does not reach the first one: it has not started, has ended, or the network is closed",
        fix="look at the log of algo-1 first; let `network.security_groups` allow all traffic to themselves, and"
        " `distribution.torchrun` set the port",
        keys=("network.security_groups", "distribution.torchrun"),
        rank=SYMPTOM,
        source="https://github.com/vllm-project/vllm/issues/19670",
    ),
    FailureCause(
        name="mpi",
        pattern=r"\bORTE (was unable|has lost|does not know)|Orted process exited|MPI (processes are unable|job is now"
        r" going to abort)|ssh: connect to host|Host key verification failed|Cannot connect to host algo-"
        r"|There are not enough slots available|mpirun: command not found|PMIX ERROR",
        cause="the processes of MPI cannot start or reach each other on the other hosts",
        fix="use an image with the same MPI and an ssh server on all hosts (a built image with `distribution.mpi` has"
        " them), and let `network.security_groups` allow all traffic to themselves",
        keys=("distribution.mpi", "network.security_groups"),
        rank=SYMPTOM,
        source="https://github.com/aws/sagemaker-training-toolkit/issues/9",
    ),
    FailureCause(
        name="nccl",
        pattern=r"NCCL [Ee]rror|unhandled (system|cuda) error|ncclCommInitRank failed|ncclSystemError"
        r"|ncclInternalError|ncclUnhandledCudaError|ncclRemoteError",
        cause="NCCL failed: a GPU, the network between hosts, or shared memory; often a process has ended before",
        fix="set NCCL_DEBUG=INFO in `environment`: the first `NCCL WARN` in the log names the reason; look at the"
        " rank that failed first",
        keys=("environment", "network.security_groups"),
        rank=SYMPTOM,
        source="https://github.com/aws/aws-ofi-nccl/issues/715",
    ),
    FailureCause(
        name="crash",
        pattern=r"[Ss]egmentation fault|\bSIGSEGV\b|[Ee]xit ?[Cc]ode ?:? ?(139|-11)\b|exit status (139|-11)\b",
        cause="a compiled library crashed, often one built for a different processor or version",
        fix="pin versions that fit in `image.python_packages`, and import them with `smspec check`",
        keys=("image.python_packages", "image.base"),
        rank=SYMPTOM,
        source=f"{_ISSUES}/134",
    ),
    FailureCause(
        name="illegal-instruction",
        pattern=r"[Ii]llegal instruction|\bSIGILL\b|[Ee]xit ?[Cc]ode ?:? ?(132|-4)\b",
        cause="a library uses instructions that the processor of the instance lacks",
        fix="change `hosts.instance_type` to a newer family, or pin a build for older processors in"
        " `image.python_packages`",
        keys=("hosts.instance_type", "image.python_packages"),
        rank=SYMPTOM,
        source=f"{_EXAMPLES}/842",
    ),
    FailureCause(
        name="worker-exited",
        pattern=r"DataLoader worker \(pid.{0,40} exited unexpectedly",
        cause="a worker of the DataLoader died, most likely because memory or /dev/shm is full",
        fix="set `num_workers` of the DataLoader to fewer or 0, or use a larger `hosts.instance_type`",
        keys=("hosts.instance_type",),
        rank=SYMPTOM,
        source="https://github.com/facebookresearch/detectron2/issues/384",
    ),
    FailureCause(
        name="host-memory",
        pattern=r"[Ee]xit ?[Cc]ode ?:? ?(137|-9)\b|exit status (137|-9)\b|\bSIGKILL\b|is killed by signal: Killed"
        r"|died with <Signals\.SIGKILL",
        cause="the kernel killed a process, most likely because the memory of a host was full",
        fix="set `hosts.instance_type` to one with more memory, or load less at once;"
        " `smspec run --memory auto` repeats it on this machine",
        keys=("hosts.instance_type",),
        rank=STATUS,
        source=f"{_GUIDE}/your-algorithms-training-algo-running-container.html",
    ),
    FailureCause(
        name="rank-failed",
        pattern=r"one or more processes exited with non-zero status|MPI_ABORT was invoked|Horovod has been shut down"
        r"|peer process has unexpectedly disconnected|Per user-direction, the job has been aborted"
        r"|Connection (closed|reset) by peer|[Bb]roken ?[Pp]ipe|^EOFError",
        cause="another process of the job failed first, and its launcher ended this one",
        fix="look at the rank and host that failed first; only its lines show why: `smspec logs NAME --host algo-1`",
        rank=STATUS,
        source="https://github.com/horovod/horovod/issues/1421",
    ),
    FailureCause(
        name="terminated",
        pattern=r"[Ee]xit ?[Cc]ode ?:? ?(143|-15)\b|Signal 15 \(SIGTERM\) received by PID",
        cause="the process was stopped with SIGTERM: the job was stopped, its time was over, or another rank failed",
        fix="look at the rank that failed first, and at `stopping.max_runtime`",
        keys=("stopping.max_runtime",),
        rank=STATUS,
        source=f"{_GUIDE}/your-algorithms-training-algo-running-container.html",
    ),
)

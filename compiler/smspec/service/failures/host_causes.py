"""Why a script fails on its hosts: memory, devices, other processes and hosts, and signals that end it."""

from __future__ import annotations

from smspec.service.failures.job_causes import EXAMPLE_ISSUES, GUIDE, SDK_ISSUES, STATUS, SYMPTOM, FailureCause

_PYTORCH = "https://github.com/pytorch/pytorch/issues"


def _ended(number: int, signal: str) -> str:
    """Return the pattern of an end by a signal, in the forms of SageMaker, Python, launchers, and shells."""
    end = r"(non-?zero )?(exit )?(code|status|value)"
    number_of = rf"\W{{0,5}}({128 + number}|-{number})\b(?!\.\d)"
    return (
        rf"\bexit\w*[ _-]?(with )?({end})?{number_of}|\breturn\w*[ _-]?(with )?{end}{number_of}"
        rf"|\bSIG{signal}\b|\bsignal:? ?{number}\b"
    )


HOST_CAUSES = (
    FailureCause(
        name="cuda-memory",
        pattern=r"CUDA out of memory|CUDA error: out of memory|OutOfMemoryError: CUDA|CUDA_ERROR_OUT_OF_MEMORY"
        r"|^(?=.*(CUDA|GPU|cuda)).*bad_alloc|CUBLAS_STATUS_ALLOC_FAILED|CUDA_OUT_OF_MEMORY"
        r"|RESOURCE_EXHAUSTED: Out of memory|OOM when allocating tensor(?!.{0,400}allocator (cpu|mkl))"
        r"|cudaErrorMemoryAllocation|(cudaMalloc|GPU|HIP).{0,20} out of memory|CUDNN_STATUS_ALLOC_FAILED"
        r"|ran out of memory trying to",
        cause="the memory of a GPU is full",
        fix="reduce the batch size in `hyperparameters`, or set `hosts.instance_type` to one with more memory per GPU",
        keys=("hyperparameters", "hosts.instance_type"),
        source="https://pytorch.org/docs/stable/notes/faq.html",
    ),
    FailureCause(
        name="shared-memory",
        pattern=r"[Bb]us error|out of shared memory|insufficient shared memory"
        r"|creating shared memory segment|shared memory segment nccl|/dev/shm.{0,60}(No space|full)"
        r"|unable to (open|mmap|write|resize).{0,60}shared memory|" + _ended(7, "BUS"),
        cause="/dev/shm is full: the workers of a DataLoader, or NCCL, share tensors through it",
        fix="set `num_workers` of the DataLoader to fewer or 0, or call"
        " `torch.multiprocessing.set_sharing_strategy('file_system')`, or use a larger `hosts.instance_type`",
        keys=("hyperparameters", "hosts.instance_type"),
        source=f"{SDK_ISSUES}/937",
    ),
    FailureCause(
        name="host-memory",
        pattern=r"[Uu]se an instance type with more memory|Out of Memory\. Please use a larger instance"
        r"|\bMemoryError\b|Unable to allocate [\d.]+ [KMGT]iB|std::bad_alloc|Cannot allocate memory"
        r"|[Oo]ut[- ]of[- ][Mm]emory: Kill|\boom[-_]kill|\bOOMKilled\b|DefaultCPUAllocator: (not enough|can't allocate)"
        r"|SIGKILL: probably out of memory|OOM when allocating tensor|fatal error: Killed signal terminated"
        r"|not enough memory: you tried|java\.lang\.OutOfMemoryError|memory limit exceeded"
        r"|ray\.exceptions\.OutOfMemoryError",
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
        name="neuron-runtime",
        pattern=r"\bnrt_(init|load|execute)\w*.{0,40}(status|fail|error)|Nrt::\w+ failed"
        r"|\bNRT_[A-Z_]*(ERR|FAIL|TIMEOUT)"
        r"|NEURON_RT.{0,80}(fail|error)|Could not open the nd0|no neuron device",
        cause="the runtime of Neuron cannot use the NeuronCores: another process holds them, or versions do not fit",
        fix="start one process per NeuronCore (`distribution.torchrun`), and use one Neuron SDK in `image.base`",
        keys=("distribution.torchrun", "image.base"),
        rank=SYMPTOM,
        source="https://github.com/aws-neuron/aws-neuron-sdk/issues/779",
    ),
    FailureCause(
        name="cuda-version",
        pattern=r"no kernel image is available|driver version is insufficient|driver on your system is too old"
        r"|forward compatibility was attempted|CUDA_ERROR_NO_BINARY_FOR_GPU|unsupported PTX|PTX was compiled with"
        r"|is not compatible with the current PyTorch installation|cudaErrorInsufficientDriver"
        r"|nvidia-container-cli: requirement error: unsatisfied condition: cuda"
        r"|invalid device function|detected CUDA version .{0,40}mismatch"
        r"|CuDNN (version incompatib|library (but it )?needs)",
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
        r"|could not select device driver|NCCL is not available"
        r"|Error: .{0,80}(No GPUs? (found|available|detected)"
        r"|CUDA is not available|requires? (a |one )?GPU)",
        cause="the script needs a GPU, and the instance has none, or the image has packages for processors only",
        fix="set `hosts.instance_type` to one with GPUs, and `image` to one with CUDA",
        keys=("hosts.instance_type", "image"),
        source="https://github.com/facebookresearch/detectron2/issues/1789",
    ),
    FailureCause(
        name="cuda-assert",
        pattern=r"device-side assert|\.cu:\d+.{0,300}Assertion|\ban illegal memory access\b",
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
        name="nccl-timeout",
        pattern=r"collective operation timeout|Watchdog caught"
        r"|ncclCommWatchdog|mismatch between collectives on ranks|NCCL operations have failed or timed out"
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
        r"|RendezvousConnectionError|RendezvousClosedError|TCPStore.{0,80}[Tt]ime|Timed out waiting for clients"
        r"|RuntimeError: .{0,120}(connection (timed out|refused)|connect timeout)|connectFullMesh failed"
        r"|failed to connect to all",
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
        r"|There are not enough slots available|mpirun: command not found|PMIX ERROR"
        r"|Permission denied \(publickey|\bPRTE ERROR|exited on signal 0",
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
        r"|ncclInternalError|ncclUnhandledCudaError|ncclRemoteError"
        r"|ncclInvalidUsage|NCCL (failure|communicator was aborted)|socketPollConnect|socketStartConnect",
        cause="NCCL failed: a GPU, the network between hosts, or shared memory; often a process has ended before",
        fix="set NCCL_DEBUG=INFO in `environment`: the first `NCCL WARN` in the log names the reason; look at the"
        " rank that failed first",
        keys=("environment", "network.security_groups"),
        rank=SYMPTOM,
        source="https://github.com/aws/aws-ofi-nccl/issues/715",
    ),
    FailureCause(
        name="crash",
        pattern=r"segmentation fault|" + _ended(11, "SEGV"),
        cause="a compiled library crashed, often one built for a different processor or version",
        fix="pin versions that fit in `image.python_packages`, and import them with `smspec check`",
        keys=("image.python_packages", "image.base"),
        rank=SYMPTOM,
        source=f"{SDK_ISSUES}/134",
    ),
    FailureCause(
        name="illegal-instruction",
        pattern=r"illegal instruction|" + _ended(4, "ILL"),
        cause="a library uses instructions that the processor of the instance lacks",
        fix="change `hosts.instance_type` to a newer family, or pin a build for older processors in"
        " `image.python_packages`",
        keys=("hosts.instance_type", "image.python_packages"),
        rank=SYMPTOM,
        source=f"{EXAMPLE_ISSUES}/842",
    ),
    FailureCause(
        name="worker-exited",
        pattern=r"DataLoader worker \(pid.{0,200} (exited|quit) unexpectedly",
        cause="a worker of the DataLoader died, most likely because memory or /dev/shm is full",
        fix="set `num_workers` of the DataLoader to fewer or 0, or use a larger `hosts.instance_type`",
        keys=("hosts.instance_type",),
        rank=SYMPTOM,
        source="https://github.com/facebookresearch/detectron2/issues/384",
    ),
    FailureCause(
        name="host-memory",
        pattern=r"is killed by signal: Killed|^\S*\s*Killed$|line \d+: +\d+ Killed\b|" + _ended(9, "KILL"),
        cause="the kernel killed a process, most likely because the memory of a host was full",
        fix="set `hosts.instance_type` to one with more memory, or load less at once;"
        " `smspec run --memory auto` repeats it on this machine",
        keys=("hosts.instance_type",),
        rank=STATUS,
        source=f"{GUIDE}/your-algorithms-training-algo-running-container.html",
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
        name="crash",
        pattern=r"(double free or|free\(\): invalid|malloc.{0,20}: ) ?corrupt|free\(\): invalid|to free invalid pointer"
        r"|is killed by signal: Aborted|terminate called without an active exception|\bcore dumped\b|"
        + _ended(6, "ABRT"),
        cause="a library ended the process with abort(); the lines before often show why",
        fix="look at the lines before it; if there are none, pin versions that fit in `image.python_packages`",
        keys=("image.python_packages",),
        rank=STATUS,
        source="https://github.com/eriklindernoren/PyTorch-YOLOv3/issues/650",
    ),
    FailureCause(
        name="terminated",
        pattern=_ended(15, "TERM"),
        cause="the process was stopped with SIGTERM: the job was stopped, its time was over, or another rank failed",
        fix="look at the rank that failed first, and at `stopping.max_runtime`",
        keys=("stopping.max_runtime",),
        rank=STATUS,
        source=f"{GUIDE}/your-algorithms-training-algo-running-container.html",
    ),
)

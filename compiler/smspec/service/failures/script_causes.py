"""Why a script fails by itself: packages, files, arguments, data, models, and services that it calls."""

from __future__ import annotations

from smspec.service.failures.job_causes import EXAMPLE_ISSUES, SDK_ISSUES, SYMPTOM, FailureCause

SCRIPT_CAUSES = (
    FailureCause(
        name="gated-model",
        pattern=r"\bgated repo|GatedRepoError|is gated\b|401 Client Error.{0,200}huggingface\.co"
        r"|403 Client Error.{0,200}huggingface\.co|Make sure to have access to it at https://huggingface\.co"
        r"|Invalid (user )?token|Invalid credentials in Authorization header|must be authenticated to access it"
        r"|must accept the end-user license|RepositoryNotFoundError|LocalTokenNotFoundError"
        r"|Access to model \S+ is restricted",
        cause="the model is gated or private, and the job has no token that may read it",
        fix="accept the terms of the model, and set HF_TOKEN in `secrets` to the ARN of a secret with your token",
        keys=("secrets",),
        source="https://github.com/skypilot-org/skypilot/issues/2634",
    ),
    FailureCause(
        name="model-missing",
        pattern=r"is not a local folder and is not a valid model|is not a valid git identifier"
        r"|Can't load \S+ \w* ?for '"
        r"|does not appear to have a file named|Repo id must (be in the form|use alphanumeric)|RevisionNotFoundError"
        r"|(?<!Local)EntryNotFoundError|HTTPError: 404 Client Error.{0,200}huggingface\.co|DatasetNotFoundError",
        cause="no model or data set of this name is at Hugging Face, and the host has no folder of this name",
        fix="correct the name in `hyperparameters`; for a model in a channel, name its folder: /opt/ml/input/data/NAME",
        keys=("hyperparameters", "channels"),
        source="https://github.com/huggingface/notebooks/issues/145",
    ),
    FailureCause(
        name="diverged",
        pattern=r"diverged with loss|loss (is|=) (nan|inf)\w*, (stopping|aborting|exit)|returned nan values in its"
        r"|NanLossDuringTrainingError|(Error|Exception): .{0,80}\bloss\b.{0,20}\b(nan|inf|infinite)\b",
        cause="the loss became infinite or no number (NaN)",
        fix="lower the learning rate in `hyperparameters`, use bf16 instead of fp16, and check the data",
        keys=("hyperparameters",),
        source="https://github.com/OpenNMT/OpenNMT-tf/issues/918",
    ),
    FailureCause(
        name="program-unset",
        pattern=r"_entry_point_type\.py\", line \d+, in get\b|SAGEMAKER_PROGRAM.{0,40}(not set|missing|KeyError)"
        r"|KeyError: 'SAGEMAKER_PROGRAM'",
        cause="the image starts the toolkit of SageMaker, and the job names no script for it",
        fix="set `entry_point`",
        keys=("entry_point",),
        source=f"{SDK_ISSUES}/4113",
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
        source=f"{SDK_ISSUES}/1142",
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
        source=f"{EXAMPLE_ISSUES}/670",
    ),
    FailureCause(
        name="record-format",
        pattern=r"[Uu]nable to parse (record|csv)|[Ff]ailed to (load|parse) (libsvm|csv|parquet|recordio)"
        r"|in libsvm( format)?\b|LIBSVM label format|magic number|Invalid header crc|corrupted record at"
        r"|[Cc]ould not parse example input|DataLossError|Blankspace and colon not found"
        r"|Error tokenizing data|ArrowInvalid|cannot identify image file|image file is truncated|BadZipFile",
        cause="the data of a channel is not in the format that its reader expects",
        fix="convert the data, or correct `channels.*.content_type`, `channels.*.record_wrapper`, and"
        " `channels.*.compression`",
        keys=("channels.*.content_type", "channels.*.record_wrapper", "channels.*.compression"),
        source=f"{EXAMPLE_ISSUES}/668",
    ),
    FailureCause(
        name="hyperparameter",
        pattern=r"required hyperparameter|hyperparameter_validation\.py|[Hh]yperparameter \S+.{0,80}(invalid|not valid"
        r"|required|unsupported|must be)|[Ii]nvalid (value for )?hyperparameter|self\.hyperparameters\["
        r"|is not one of the (valid|allowed) hyperparameters|ValidationError.{0,80}hyperparameter",
        cause="a hyperparameter is missing, unknown, or has a value that the algorithm rejects",
        fix="correct `hyperparameters`: the message names the one",
        keys=("hyperparameters",),
        source=f"{SDK_ISSUES}/132",
    ),
    FailureCause(
        name="arguments",
        pattern=r"error: (unrecognized arguments|argument |the following arguments are required|invalid choice"
        r"|ambiguous option)|Error: (No such option|Missing option|Invalid value for)",
        cause="the script does not accept the arguments that the job passes",
        fix="correct `hyperparameters` and `entry_point.args`, or the script's parser; `smspec validate` compares them",
        keys=("hyperparameters", "entry_point.args"),
        source=f"{SDK_ISSUES}/1720",
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
        pattern=r"cannot import name|cannot import named|'module' object has no attribute|partially initialized module"
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
        r"|/pip/_internal/|metadata-generation-failed|Failed building wheel|subprocess-exited-with-error"
        r"|conflicting dependencies|Could not install packages|pip install.{0,200}non-zero exit",
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
        pattern=r"rope_scaling\W* must (be a dictionary|contain)"
        r"|Unrecognized configuration class|does not recognize this architecture|Unrecognized model in "
        r"|auto/configuration_auto\.py.{0,40}in __getitem__",
        cause="the installed version of transformers does not know the model, or not for this class",
        fix="pin a newer transformers in `image.python_packages`, or use the class that the model belongs to",
        keys=("image.python_packages",),
        source="https://github.com/TideDra/lmm-r1/issues/60",
    ),
)

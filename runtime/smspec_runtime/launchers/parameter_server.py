"""Parameter servers of MXNet (DMLC_ variables) or TensorFlow (TF_CONFIG)."""

from ..command import Command, Companion
from ..refusal import Refused
from .launch import Launch
from .multi_worker_mirrored import tf_config

FRAMEWORKS = ("mxnet", "tensorflow")

# The import blocks a scheduler or server until all workers close their stores.
_MXNET = "import mxnet"
_TENSORFLOW = (
    "import tensorflow as tf; task = tf.distribute.cluster_resolver.TFConfigClusterResolver(); "
    "tf.distribute.Server(task.cluster_spec(), job_name=task.task_type, task_index=task.task_id).join()"
)


def parameter_server(launch: Launch) -> Command:
    framework = launch.options.get("framework")
    if framework not in FRAMEWORKS:
        raise Refused("parameter servers are those of MXNet or TensorFlow; neither is installed")
    return _mxnet(launch) if framework == "mxnet" else _tensorflow(launch)


def _mxnet(launch: Launch) -> Command:
    count = str(len(launch.hosts))
    variables = {
        "DMLC_NUM_WORKER": count,
        "DMLC_NUM_SERVER": count,
        "DMLC_ROLE": "worker",
        "DMLC_PS_ROOT_URI": launch.leader_ip,  # The scheduler must listen on an address.
        "DMLC_PS_ROOT_PORT": launch.environ.get("SM_HP__PS_PORT") or str(launch.options.get("port", 8000)),
        "PS_VERBOSE": launch.environ.get("SM_HP__PS_VERBOSE", "0"),
    }
    roles = ["server"] if launch.node_rank else ["scheduler", "server"]
    companions = [Companion([launch.python, "-c", _MXNET], {**variables, "DMLC_ROLE": role}) for role in roles]
    return Command(launch.words, variables, companions)


def _tensorflow(launch: Launch) -> Command:
    """The program is master on the leader, worker on others, which serve parameters until the master ends."""
    words = launch.words
    if len(launch.hosts) == 1:
        return Command(words)
    leader, *others = launch.endpoints(2222)
    cluster = {"master": [leader], "ps": launch.endpoints(2223, 1), "worker": others}
    rank = launch.node_rank
    # TensorFlow does not share GPUs: the program gets them.
    server = {**tf_config(cluster, "ps", rank), "CUDA_VISIBLE_DEVICES": "-1"}
    own = tf_config(cluster, "worker", rank - 1) if rank else tf_config(cluster, "master", 0)
    return launch.in_team(Command(words, own, [Companion([launch.python, "-c", _TENSORFLOW], server)]), words)

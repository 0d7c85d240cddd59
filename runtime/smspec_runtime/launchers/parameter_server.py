"""Parameter servers beside the program: those of MXNet (DMLC_ variables) or of TensorFlow (TF_CONFIG)."""

from ..command import Command, Companion
from ..refusal import Refused
from .launch import Launch
from .multi_worker_mirrored import tf_config

FRAMEWORKS = ("mxnet", "tensorflow")

# Whoever imports mxnet in the role of a scheduler or server is one, until all workers have closed their stores.
_MXNET = "import mxnet"
_TENSORFLOW = (
    "import tensorflow as tf; task = tf.distribute.cluster_resolver.TFConfigClusterResolver(); "
    "tf.distribute.Server(task.cluster_spec(), job_name=task.task_type, task_index=task.task_id).join()"
)


def parameter_server(launch: Launch) -> Command:
    """Return the command of this host."""
    framework = launch.options.get("framework")
    if framework not in FRAMEWORKS:
        raise Refused("parameter servers are those of MXNet or TensorFlow; neither is installed")
    return _mxnet(launch) if framework == "mxnet" else _tensorflow(launch)


def _mxnet(launch: Launch) -> Command:
    """A scheduler on the leader; a server, and the program as a worker, on every host."""
    count = str(len(launch.hosts))
    variables = {
        "DMLC_NUM_WORKER": count,
        "DMLC_NUM_SERVER": count,
        "DMLC_ROLE": "worker",
        "DMLC_PS_ROOT_URI": launch.leader_ip,  # The scheduler listens there, which it cannot on a name.
        "DMLC_PS_ROOT_PORT": launch.environ.get("SM_HP__PS_PORT") or str(launch.options.get("port", 8000)),
        "PS_VERBOSE": launch.environ.get("SM_HP__PS_VERBOSE", "0"),
    }
    roles = ["scheduler", "server"] if launch.is_leader else ["server"]
    companions = [Companion([launch.python, "-c", _MXNET], {**variables, "DMLC_ROLE": role}) for role in roles]
    return Command(launch.words, variables, companions)


def _tensorflow(launch: Launch) -> Command:
    """A server on every host; the program is the master on the leader and a worker on the others.

    Those stay until the master has ended: their servers hold a part of the parameters.
    """
    hosts = launch.hosts
    if len(hosts) == 1:
        return Command(launch.words)
    cluster = {
        "master": launch.endpoints(hosts[:1], 2222),
        "ps": launch.endpoints(hosts, 2223, 1),
        "worker": launch.endpoints(hosts[1:], 2222),
    }
    # The GPUs are the program's: TensorFlow does not share them between processes.
    variables = {**tf_config(cluster, "ps", launch.node_rank), "CUDA_VISIBLE_DEVICES": "-1"}
    companions = [Companion([launch.python, "-c", _TENSORFLOW], variables)]
    if launch.is_leader:
        return Command(launch.words, tf_config(cluster, "master", 0), companions, hosts[1:], port=launch.team_port)
    words = [*launch.waiting_words, *launch.words]
    return Command(words, tf_config(cluster, "worker", launch.node_rank - 1), companions)

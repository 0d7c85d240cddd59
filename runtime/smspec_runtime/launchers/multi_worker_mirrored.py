"""TensorFlow's MultiWorkerMirroredStrategy: the program on every host is a worker of one cluster."""

import json

from ..command import Command
from ..lean_typing import Dict, List
from .launch import Launch


def multi_worker_mirrored(launch: Launch) -> Command:
    """Return the command of this host."""
    cluster = {"worker": launch.endpoints(launch.hosts, 8890)}
    return Command(launch.words, tf_config(cluster, "worker", launch.node_rank))


def tf_config(cluster: Dict[str, List[str]], kind: str, index: int) -> Dict[str, str]:
    """Return what tells TensorFlow who is in its cluster, and at which place of which list this process is."""
    config = {"cluster": cluster, "environment": "cloud", "task": {"index": index, "type": kind}}
    return {"TF_CONFIG": json.dumps(config)}

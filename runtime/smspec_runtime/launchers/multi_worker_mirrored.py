"""TensorFlow's MultiWorkerMirroredStrategy: every host is a worker."""

import json

from ..command import Command
from ..lean_typing import Dict, List
from .launch import Launch


def multi_worker_mirrored(launch: Launch) -> Command:
    return Command(launch.words, tf_config({"worker": launch.endpoints(8890)}, "worker", launch.node_rank))


def tf_config(cluster: Dict[str, List[str]], kind: str, index: int) -> Dict[str, str]:
    config = {"cluster": cluster, "environment": "cloud", "task": {"index": index, "type": kind}}
    return {"TF_CONFIG": json.dumps(config)}

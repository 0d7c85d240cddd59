"""Programs that use SageMaker's toolkits as published ones do, each with the page of such a program.

They are short programs of our own with the same imports and calls, and need no package. Each shows what it got.
"""

from __future__ import annotations

from dataclasses import dataclass

CHANNELS = ("train", "validation")
HYPERPARAMETERS = {"lr": "0.5", "max-depth": "3", "name": '"a b"', "layers": "[64, 32]"}


@dataclass(frozen=True)
class Published:
    """``page``: where such a program is published. ``is_old``: it uses `sagemaker_containers`."""

    page: str
    files: dict[str, str]
    shows: tuple[str, ...]
    is_old: bool = False


_GLUE = """
import logging
from sagemaker_training import entry_point, environment, runner

logger = logging.getLogger(__name__)

def train(env):
    logger.info("starting the script")
    entry_point.run(uri=env.module_dir, user_entry_point="fit.py", args=env.to_cmd_args(),
                    env_vars=env.to_env_vars(), runner_type=runner.ProcessRunnerType)

if __name__ == "__main__":
    train(environment.Environment())
"""
_FIT = """
import os, sys
print("arguments", sys.argv[1:], os.environ["SM_HP_LR"], os.environ["SM_CHANNEL_TRAIN"].rsplit("/", 1)[1])
open(os.environ["SM_MODEL_DIR"] + "/model.txt", "w").write("fitted")
"""
_ARGUMENTS = ("arguments ['--layers', '[64, 32]', '--lr', '0.5', '--max-depth', '3', '--name', 'a b'] 0.5 train",)

PUBLISHED = {
    "glue-of-a-container": Published(
        "https://github.com/ferroh-aws/sklearn-sagemaker/blob/master/src/sklearn-container/training.py",
        {"train.py": _GLUE, "fit.py": _FIT},
        _ARGUMENTS,
    ),
    "defaults-of-the-environment": Published(
        "https://github.com/praveenc/amazon-sagemaker/blob/main/byoc/training/abalone-xgb-byoc-training/code/main.py",
        {
            "train.py": """
import argparse, os
from sagemaker_training import environment

env = environment.Environment()
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
parser.add_argument("--max-depth", type=int)
parser.add_argument("--name")
parser.add_argument("--layers")
parser.add_argument("--model_dir", default=env.model_dir)
parser.add_argument("--train", default=env.channel_input_dirs["train"])
parser.add_argument("--validation", default=env.channel_input_dirs["validation"])
args = parser.parse_args()
print("depth", args.max_depth, os.listdir(args.train), os.listdir(args.validation))
open(os.path.join(args.model_dir, "model.txt"), "w").write("fitted")
"""
        },
        ("depth 3 ['rows.csv'] ['rows.csv']",),
    ),
    "page-of-the-toolkit": Published(
        "https://github.com/aws/sagemaker-training-toolkit/blob/master/README.md",
        {
            "train.py": """
import os
from sagemaker_training import entry_point, environment, mapping
from sagemaker_training.logging_config import configure_logger

configure_logger(20)
env = environment.Environment()
args = mapping.to_cmd_args(env.hyperparameters)
assert args == env.to_cmd_args()
entry_point.run(env.module_dir, "fit.py", args, env.to_env_vars())
print("learning rate", env.hyperparameters["lr"], dict(env)["num_gpus"] >= 0, "hosts" in env)
""",
            "fit.py": _FIT,
        },
        (*_ARGUMENTS, "learning rate 0.5 True True"),
    ),
    "older-name": Published(
        "https://github.com/aws/sagemaker-containers/blob/master/README.rst",
        {
            "train.py": """
import argparse, os
import sagemaker_containers

if __name__ == "__main__":
    env = sagemaker_containers.training_env()
    parser = argparse.ArgumentParser()
    parser.add_argument("--hosts", type=list, default=env.hosts)
    parser.add_argument("--current-host", default=env.current_host)
    parser.add_argument("--model-dir", default=env.model_dir)
    parser.add_argument("--data-dir", default=env.channel_input_dirs.get("train"))
    parser.add_argument("--num-gpus", type=int, default=env.num_gpus)
    args, _ = parser.parse_known_args()
    print("hosts", args.hosts, args.current_host, os.listdir(args.data_dir), args.num_gpus >= 0)
    open(os.path.join(args.model_dir, "model.txt"), "w").write("fitted")
"""
        },
        ("hosts ['algo-1'] algo-1 ['rows.csv'] True",),
        is_old=True,
    ),
    "scoring-beside-training": Published(
        "https://github.com/aws/amazon-sagemaker-examples/blob/main/sagemaker-python-sdk/"
        "scikit_learn_inference_pipeline/sklearn_abalone_featurizer.py",
        {
            "train.py": """
import os
from sagemaker_containers.beta.framework import (
    content_types, encoders, env, modules, transformer, worker)

def output_fn(prediction, accept):
    return worker.Response(encoders.encode(prediction, accept), accept, mimetype=accept)

if __name__ == "__main__":
    print("data", os.listdir(os.environ["SM_CHANNEL_TRAIN"]), env.TrainingEnv().current_host)
    open(os.environ["SM_MODEL_DIR"] + "/model.txt", "w").write("fitted")
"""
        },
        ("data ['rows.csv'] algo-1",),
        is_old=True,
    ),
    "groups-of-hosts": Published(
        "https://github.com/aws/amazon-sagemaker-examples/blob/main/training/heterogeneous-clusters/"
        "tf.data.service.sagemaker/code/launcher.py",
        {
            "train.py": """
import subprocess, sys

def start():
    from sagemaker_training import environment
    env = environment.Environment()
    print(f"env.is_hetero={env.is_hetero} {env.current_host} {env.current_instance_group}", flush=True)
    groups = env.instance_groups_dict
    first = groups[env.current_instance_group]["hosts"][0] if env.is_hetero else env.hosts[0]
    return subprocess.run([sys.executable, "fit.py", *sys.argv[1:], "--dispatcher", first]).returncode

if __name__ == "__main__":
    sys.exit(start())
""",
            "fit.py": "import os, sys\nprint(sys.argv[-2:])\n"
            "open(os.environ['SM_MODEL_DIR'] + '/model.txt', 'w').write('fitted')\n",
        },
        ("env.is_hetero=False algo-1 homogeneousCluster", "['--dispatcher', 'algo-1']"),
    ),
}

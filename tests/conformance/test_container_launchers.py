"""Launchers requested by hyperparameters of the SageMaker SDK, in an image without a plan.

What mpirun is told, a program of that name in front of PATH tells.
"""

import json

import pytest

from support.runtime.container import RUNTIME, SHOW, Container


@pytest.fixture
def container(tmp_path):
    """Return a container with an mpirun and a smddprun that show what they are started with."""
    container = Container(tmp_path / "ml")
    for name in ("mpirun", "smddprun"):
        container.write(f"bin/{name}", f"#!{container.python}\n{SHOW}", 0o755)
    container.write("code/train.py", SHOW)
    return container


def started(container, hyperparameters, **resource):
    container.configure(hyperparameters, **resource)
    environ = {
        "PATH": f"{container.base}/bin:/usr/bin:/bin",
        "PYTHONPATH": f"{RUNTIME}:{container.base}/packages",
        "SAGEMAKER_PROGRAM": "train.py",
    }
    return container.run(environ=environ)


DATA_PARALLEL = "sagemaker_distributed_dataparallel_enabled"


@pytest.mark.parametrize("flag", [DATA_PARALLEL, "sagemaker_pytorch_ddp_enabled"])
def test_smdataparallel_starts_smddprun(container, flag):
    shown = started(container, {flag: "true", "sagemaker_instance_type": '"ml.p4d.24xlarge"', "lr": "0.1"}).shown
    words = shown["argv"]
    assert words[1:8] == ["--host", "algo-1", "-np", "1", "--allow-run-as-root", "--tag-output", "--oversubscribe"]
    assert words[words.index("FI_EFA_USE_DEVICE_RDMA=1") + 1] == "smddprun"
    assert words[-5:] == ["-m", "mpi4py", "train.py", "--lr", "0.1"]
    assert {"SMDATAPARALLEL_USE_SINGLENODE=1", "NCCL_PROTO=simple"} < set(words)
    environ = {name: shown["environ"].get(name) for name in ("MASTER_ADDR", "MASTER_PORT", "NCCL_IB_DISABLE")}
    assert environ == {"MASTER_ADDR": "algo-1", "MASTER_PORT": "7777", "NCCL_IB_DISABLE": "1"}


def test_smdataparallel_works_without_smddprun(container):
    (container.base / "bin/smddprun").unlink()
    done = started(container, {DATA_PARALLEL: "true"})
    assert "smddprun" not in done.shown["argv"]
    assert b"smddprun is not installed" in done.stderr


def test_mpirun_gets_its_options(container):
    name = "sagemaker_distributed_dataparallel_custom_mpi_options"
    words = started(container, {DATA_PARALLEL: "true", name: '"--NCCL_DEBUG WARN -x A=1"'}).shown["argv"]
    assert words[words.index("A=1") - 1 :][:3] == ["-x", "A=1", "smddprun"]
    assert "NCCL_DEBUG=WARN" in words


FLAGS = (
    "sagemaker_mpi_enabled",
    "sagemaker_pytorch_ddp_enabled",
    "sagemaker_torch_distributed_enabled",
    DATA_PARALLEL,
    "sagemaker_pytorch_xla_multi_worker_enabled",
    "sagemaker_parameter_server_enabled",
    "sagemaker_multi_worker_mirrored_strategy_enabled",
)


@pytest.mark.parametrize("value", ['"False"', "false", '"false"', "0", '""', "null"])
def test_false_flags_start_no_launcher(container, value):
    """A text is true in Python; that of the SDK's users who write `"False"` is not meant so."""
    assert started(container, dict.fromkeys(FLAGS, value)).shown["argv"] == ["train.py"]


@pytest.mark.parametrize(
    ("flags", "sign"),
    [
        (FLAGS, "--display-map"),
        (FLAGS[1:], "--oversubscribe"),
        (FLAGS[2:], "--nproc_per_node"),
        (FLAGS[3:], "--oversubscribe"),
    ],
)
def test_first_launcher_in_toolkit_order_wins(container, flags, sign):
    container.write("bin/torchrun", f"#!{container.python}\n{SHOW}", 0o755)
    assert sign in started(container, dict.fromkeys(flags, "true")).shown["argv"]


def test_training_compiler_is_rejected_by_name(container):
    done = started(container, {"sagemaker_pytorch_xla_multi_worker_enabled": "true"})
    assert done.status != 0
    assert "no launcher `xla`" in done.failure


def test_mirrored_workers_get_tf_config(container):
    shown = started(container, {"sagemaker_multi_worker_mirrored_strategy_enabled": "true"}).shown
    assert json.loads(shown["environ"]["TF_CONFIG"]) == {
        "cluster": {"worker": ["algo-1:8890"]},
        "environment": "cloud",
        "task": {"type": "worker", "index": 0},
    }


def test_shell_script_with_long_arguments_runs(container):
    """Linux starts nothing with a word of 128 KiB."""
    container.write("code/run.sh", 'echo "$0" $# "$1" "$2"\n')
    for count in (0, 99):
        keys = {f"key{number}": "'" * 2500 for number in range(count)}
        container.configure({"sagemaker_multi_worker_mirrored_strategy_enabled": "true", "aa": "b  c", **keys})
        done = container.run(environ={"SAGEMAKER_PROGRAM": "run.sh"})
        assert (done.status, done.stdout.decode()) == (0, f"./run.sh {2 * count + 2} --aa b  c\n")


ASKED = {"sagemaker_parameter_server_enabled": "true", "_ps_port": "8765"}


def test_parameter_servers_match_the_installed_framework(container):
    """The framework is detected by its package, here a stand-in."""
    container.write("packages/mxnet.py", "import os, sys; print(os.environ['DMLC_ROLE'], file=sys.stderr)")
    done = started(container, ASKED)
    environ = {name: value for name, value in done.shown["environ"].items() if name.startswith(("DMLC", "PS_"))}
    assert environ == {
        "DMLC_NUM_WORKER": "1",
        "DMLC_NUM_SERVER": "1",
        "DMLC_ROLE": "worker",
        "DMLC_PS_ROOT_URI": "127.0.0.1",
        "DMLC_PS_ROOT_PORT": "8765",
        "PS_VERBOSE": "0",
    }


def test_parameter_servers_need_a_framework(container):
    done = started(container, ASKED)
    assert done.status != 0
    assert "parameter servers are those of MXNet or TensorFlow; neither is installed" in done.failure


def test_group_outside_the_distribution_runs_the_script_alone(container):
    groups = [{"instance_group_name": name, "hosts": [f"algo-{name}"]} for name in ("1", "2")]
    for group, sign in (("1", "--host"), ("2", "train.py")):
        done = started(
            container,
            {DATA_PARALLEL: "true", "sagemaker_distribution_instance_groups": '["1"]'},
            hosts=[f"algo-{group}"],
            current=f"algo-{group}",
            current_group_name=group,
            instance_groups=groups,
        )
        assert sign in done.shown["argv"][:2]

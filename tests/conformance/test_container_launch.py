"""Launchers and the epoch loop of Pipe mode."""

import json
import os
import threading

import pytest

from support.runtime.container import SHOW, Container

HANDLER = """
def count(job, epoch, streams):
    print(epoch, sum(len(chunk) for chunk in streams["train"]), flush=True)
"""
TRAINER = """
class Trainer:
    def epoch(self, job, epoch, streams):
        print("reading", flush=True)
        for chunk in streams["train"]:
            pass
    def end(self, job):
        print("saved", flush=True)
"""
LOOP = {"kind": "pipe_loop", "program": "reader:count", "args_style": "none"}


@pytest.fixture
def container(tmp_path):
    return Container(tmp_path / "ml")


def prepared(container, epochs):
    """Lay out a Pipe channel with one FIFO per epoch."""
    container.configure({"sagemaker_smspec": json.dumps({"epochs": epochs})}, {"train": {"TrainingInputMode": "Pipe"}})
    container.write("code/reader.py", HANDLER)
    for epoch in range(epochs):
        os.mkfifo(container.base / f"input/data/train_{epoch}")


def feed(container, sizes):
    def write():
        for epoch, size in enumerate(sizes):
            with open(container.base / f"input/data/train_{epoch}", "wb") as fifo:
                fifo.write(b"x" * size)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_pipe_loop_reads_every_epoch(any_python, tmp_path):
    """A handler is called once per epoch with the streams of the Pipe channels."""
    container = Container(tmp_path / "ml", any_python)
    prepared(container, 3)
    feeder = feed(container, [10, 200_000, 0])
    done = container.run(plan=LOOP, options=["-I"])
    feeder.join(30)
    assert done.status == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line[:1].isdigit()] == [b"0 10", b"1 200000", b"2 0"]
    assert [line.split(b";")[0] for line in lines if line.startswith(b"Completed")] == [
        b"Completed epoch 0",
        b"Completed epoch 1",
        b"Completed epoch 2",
    ]
    assert done.succeeded


def test_sigterm_ends_a_waiting_pipe_loop(container):
    """Neither an open() nor a read() may keep it until SIGKILL."""
    prepared(container, 1)
    container.write("code/reader.py", TRAINER)
    with container.start(plan={**LOOP, "program": "reader:Trainer"}) as process:
        assert process.stdout.readline() == b"reading\n"
        process.terminate()
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 0, stderr
    assert b"saved\n" in stdout


def test_failing_handler_fails_the_pipe_loop(container):
    """Its traceback is the reason."""
    prepared(container, 1)
    container.write("code/reader.py", "def count(job, epoch, streams):\n    raise ValueError('bad sample')\n")
    done = container.run(plan=LOOP)
    assert done.status == 1
    assert done.failure.startswith("ExecuteUserScriptError: ValueError: bad sample\nExitCode 1\n")


def with_torchrun(container):
    container.write("bin/torchrun", f"#!{container.python}\n{SHOW}", 0o755)
    container.write("code/train.py", SHOW)
    return {"PATH": f"{container.base}/bin:/usr/bin:/bin"}


def test_torchrun_starts_on_every_host(container):
    """Each host gets its rank; all meet at the first."""
    container.configure(
        {"lr": "0.1", "sagemaker_smspec": '{"launcher":{"port":29500,"processes_per_host":4}}'},
        hosts=["algo-1", "algo-2"],
        current="algo-2",
        current_instance_type="ml.p4d.24xlarge",
    )
    environ = {**with_torchrun(container), "SM_STUDIO_LOCAL_MODE": "true"}
    plan = {"kind": "script", "program": "train.py", "launcher": "torchrun", "arguments": ["--first"]}
    shown = container.run(plan=plan, environ=environ).shown
    assert shown["argv"][1:] == [
        *("--nnodes", "2", "--nproc_per_node", "4", "--master_addr", "algo-1", "--master_port", "29500"),
        *("--node_rank", "1", "train.py", "--first", "--lr", "0.1"),
    ]
    assert {name: shown["environ"][name] for name in ("FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "NCCL_PROTO")} == {
        "FI_PROVIDER": "efa",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        "NCCL_PROTO": "simple",
    }
    assert shown["environ"]["SM_DISTRIBUTION_INSTANCE_GROUPS"] == '["homogeneousCluster"]'


def test_torchrun_starts_as_the_estimator_requests(container):
    """The hyperparameter that SageMaker's SDK sends; the text `False` is not taken for true."""
    environ = {**with_torchrun(container), "SAGEMAKER_PROGRAM": "train.py"}
    container.configure({"sagemaker_torch_distributed_enabled": "true"})
    assert container.run(environ=environ).shown["argv"][1:] == ["--nnodes", "1", "--nproc_per_node", "1", "train.py"]
    container.configure({"sagemaker_torch_distributed_enabled": "False"})
    assert container.run(environ=environ).shown["argv"] == ["train.py"]


def test_host_outside_the_distribution_runs_the_script_alone(container):
    """Instance groups that take no part."""
    groups = [{"instance_group_name": name, "hosts": [f"algo-{name}"]} for name in ("1", "2")]
    container.configure(
        {"sagemaker_distribution_instance_groups": '["1"]'},
        hosts=["algo-1", "algo-2"],
        current="algo-2",
        current_group_name="2",
        instance_groups=groups,
    )
    environ = {**with_torchrun(container), "SM_STUDIO_LOCAL_MODE": "true"}
    plan = {"kind": "script", "program": "train.py", "launcher": "torchrun"}
    assert container.run(plan=plan, environ=environ).shown["argv"] == ["train.py"]


def test_local_run_uses_its_address(container):
    """All hosts are one machine: names are not looked up."""
    container.configure({}, hosts=["algo-1", "algo-2"], current="algo-1")
    environ = {**with_torchrun(container), "SMSPEC_LOCAL_LEADER": "127.0.0.1:45678"}
    plan = {"kind": "script", "program": "train.py", "launcher": "torchrun"}
    shown = container.run(plan=plan, environ=environ).shown
    assert shown["argv"][5:9] == ["--master_addr", "127.0.0.1", "--master_port", "45678"]
    assert "SMSPEC_LOCAL_LEADER" not in shown["environ"]


TORCH = ("MASTER_ADDR", "MASTER_PORT", "NCCL_SOCKET_IFNAME", "NCCL_IB_DISABLE", "NCCL_DEBUG")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ("algo-1", "7777", "eth1", "1", "WARN")),
        ({"MASTER_PORT": "29500", "NCCL_DEBUG": "INFO"}, ("algo-1", "29500", "eth1", "1", "INFO")),
        (
            {"MASTER_ADDR": "", "NCCL_SOCKET_IFNAME": "^lo", "NCCL_IB_DISABLE": "0"},
            ("", "7777", "^lo", "0", "WARN"),
        ),
        ({"SMSPEC_LOCAL_LEADER": "127.0.0.1:45678,45679"}, ("127.0.0.1", "45678", "eth1", "1", "WARN")),
        ({"SMSPEC_LOCAL_LEADER": ":"}, ("algo-1", "7777", "eth1", "1", "WARN")),
    ],
)
def test_hosts_without_a_launcher_get_pytorch_variables(container, environ, expected):
    """As SageMaker's PyTorch containers set it; what the author has set is left alone."""
    container.configure(hosts=["algo-1", "algo-2"], current="algo-2", network_interface_name="eth1")
    shown = container.run_script(SHOW, environ=environ).shown["environ"]
    assert tuple(shown.get(name) for name in TORCH) == expected


def test_one_host_gets_no_pytorch_variables(container):
    shown = container.run_script(SHOW).shown["environ"]
    assert not {*TORCH} & {*shown}


def test_missing_torchrun_is_reported(container):
    """127, and its name."""
    container.write("code/train.py", "")
    plan = {"kind": "script", "program": "train.py", "launcher": "torchrun"}
    done = container.run(plan=plan, environ={"PATH": "/nowhere"})
    assert done.status == 127
    assert done.failure.startswith(
        "ExecuteUserScriptError: torchrun: no such program along PATH; is it in the image?\n"
    )


def test_torchrun_rejects_a_shell_script(container):
    container.write("code/run.sh", "echo ran")
    done = container.run(plan={"kind": "script", "program": "run.sh", "launcher": "torchrun"})
    assert (done.status, done.stdout) == (1, b"")
    assert "torchrun starts Python files and modules" in done.failure

"""Command lines of the SageMaker data parallel library."""

import pytest

from smspec_runtime.cluster import Cluster
from smspec_runtime.environment import Machine
from smspec_runtime.launchers import Launch, launcher
from smspec_runtime.peers.keys import DIRECTORY
from smspec_runtime.program import Program

PYTHON = Program("python", ["/usr/bin/python3", "--", "train.py"], ["train.py"])
smdataparallel = launcher("smdataparallel")


def launch(hosts=("algo-1",), host="algo-1", program=PYTHON, gpus=8, kind="local", smddprun=False, **options):
    cluster = Cluster(hosts=list(hosts), current_host=host, instance_type=kind)
    machine = Machine(cpus=4, gpus=gpus, has_smddprun=smddprun)
    environ = {"SM_HOSTS": "[]", "SM_HP_LR": "0.1"}
    return Launch(program, ["--lr", "0.1"], cluster, list(hosts), machine, options, environ, hosts[0])


def line(hosts, count, number, *rest, flag="SINGLENODE", debug="INFO"):
    """Return mpirun's line as the training toolkit writes it; ``rest``: what stands behind the fixed part."""
    return [
        *("mpirun", "--host", hosts, "-np", count, "--allow-run-as-root", "--tag-output", "--oversubscribe"),
        *("-mca", "btl_tcp_if_include", "eth0", "-mca", "oob_tcp_if_include", "eth0"),
        *("-mca", "plm_rsh_no_tree_spawn", "1"),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib", "-mca", "orte_abort_on_non_zero_status", "1"),
        *("-mca", "btl_vader_single_copy_mechanism", "none", "-mca", "plm_rsh_num_concurrent", number),
        *("-x", "NCCL_SOCKET_IFNAME=eth0", "-x", f"NCCL_DEBUG={debug}", "-x", "LD_LIBRARY_PATH", "-x", "PATH"),
        *("-x", f"SMDATAPARALLEL_USE_{flag}=1", "-x", "FI_PROVIDER=efa", "-x", "RDMAV_FORK_SAFE=1", *rest),
    ]


SCRIPT = ("/usr/bin/python3", "-m", "mpi4py", "train.py", "--lr", "0.1")
SERVER = ("-x", "SMDATAPARALLEL_SERVER_ADDR=algo-1", "-x", "SMDATAPARALLEL_SERVER_PORT=7592")


def test_one_host_has_its_command(capfd):
    command = smdataparallel(launch())
    assert command.words == line("algo-1", "8", "1", *SCRIPT)
    assert (command.companions, command.members, command.over_ssh) == ([], [], False)
    assert "smddprun is not installed" in capfd.readouterr().err


def test_several_hosts_start_through_smddprun(capfd):
    command = smdataparallel(launch(["algo-1", "algo-2"], kind="ml.p4d.24xlarge", smddprun=True))
    assert command.words == line(
        "algo-1:8,algo-2:8",
        "16",
        "2",
        *("-x", "NCCL_PROTO=simple", "-x", "FI_EFA_USE_DEVICE_RDMA=1"),
        *(*SERVER, "-x", "SAGEMAKER_INSTANCE_TYPE=ml.p4d.24xlarge", "smddprun", *SCRIPT),
        flag="HOMOGENEOUS",
    )
    assert (command.members, command.over_ssh, command.port) == (["algo-2"], True, 7781)
    assert capfd.readouterr().err == ""


def test_single_process_per_host_is_stated_to_mpirun():
    words = smdataparallel(launch(["algo-1", "algo-2"], gpus=0)).words
    assert words[1:5] == ["--host", "algo-1:1,algo-2:1", "-np", "2"]


def test_other_hosts_wait():
    command = smdataparallel(launch(["algo-1", "algo-2"], "algo-2"))
    assert command.words == ["python3", "-m", "smspec_runtime.peers.member", "algo-1:7781", "algo-2", DIRECTORY]
    assert command.over_ssh
    assert command.variables["MASTER_ADDR"] == "algo-1"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("ml.g5.48xlarge", ("-x", "NCCL_PROTO=simple")),
        ("ml.p3.16xlarge", ()),
        (None, ("-x", "NCCL_PROTO=simple", "-x", "FI_EFA_USE_DEVICE_RDMA=1")),
    ],
)
def test_instance_type_of_the_estimator_is_used(said, words):
    """In a heterogeneous cluster it is not set, and the type of the host is used."""
    options = {"instance_type": said} if said else {}
    command = smdataparallel(launch(kind="ml.p5.48xlarge", **options))
    assert command.words == line("algo-1", "8", "1", *words, *SCRIPT)


def test_options_of_the_job_are_passed():
    words = smdataparallel(launch(options="--NCCL_DEBUG WARN -x A=1")).words
    assert words == line("algo-1", "8", "1", "-x", "A=1", *SCRIPT, debug="WARN")

"""Command lines of mpirun."""

import pytest

from smspec_runtime.cluster import Cluster
from smspec_runtime.environment import Machine
from smspec_runtime.launchers import Launch, launcher
from smspec_runtime.peers.keys import DIRECTORY
from smspec_runtime.program import Program
from smspec_runtime.refusal import Refused

PYTHON = Program("python", ["/usr/bin/python3", "--", "train.py"], ["train.py"])
mpi = launcher("mpi")


def launch(
    hosts=("algo-1",), host="algo-1", program=PYTHON, gpus=0, kind="local", environ=None, smddpmprun=False, **options
):
    cluster = Cluster(hosts=list(hosts), current_host=host, instance_type=kind)
    machine = Machine(cpus=4, gpus=gpus, has_smddpmprun=smddpmprun)
    environ = {"SM_HP_LR": "0 1", "SM_HOSTS": "[]", "LANG": "C", **(environ or {})}
    return Launch(program, ["--lr", "0 1"], cluster, list(hosts), machine, options, environ, hosts[0])


def line(hosts, count, *rest, debug=("-x", "NCCL_DEBUG=INFO")):
    """Return mpirun's line as the training toolkit writes it; ``rest``: what stands behind the fixed part."""
    return [
        *("mpirun", "--host", hosts, "-np", count, "--allow-run-as-root", "--display-map", "--tag-output"),
        *("-mca", "btl_tcp_if_include", "eth0", "-mca", "oob_tcp_if_include", "eth0"),
        *("-mca", "plm_rsh_no_tree_spawn", "1", "-bind-to", "none", "-map-by", "slot"),
        *("-mca", "pml", "ob1", "-mca", "btl", "^openib", "-mca", "orte_abort_on_non_zero_status", "1"),
        *("-mca", "btl_vader_single_copy_mechanism", "none"),
        *("-x", "NCCL_MIN_NRINGS=4", "-x", "NCCL_SOCKET_IFNAME=eth0", *debug),
        *("-x", "LD_LIBRARY_PATH", "-x", "PATH", *rest),
    ]


NAMES = ("-x", "PYTHONPATH")
SCRIPT = ("/usr/bin/python3", "-m", "mpi4py", "train.py", "--lr", "0 1")


def test_one_host_needs_no_ssh():
    command = mpi(launch())
    assert command.words == line("algo-1", "1", *NAMES, *SCRIPT)
    assert (command.companions, command.members, command.over_ssh) == ([], [], False)


def test_leader_starts_the_processes_of_every_host():
    command = mpi(launch(["algo-1", "algo-2", "algo-3"], gpus=8))
    assert command.words == line("algo-1:8,algo-2:8,algo-3:8", "24", *NAMES, *SCRIPT)
    assert command.members == ["algo-2", "algo-3"]
    assert command.over_ssh


def test_other_hosts_admit_the_leader_and_wait_for_its_end():
    command = mpi(launch(["algo-1", "algo-2"], "algo-2"))
    assert command.words == ["python3", "-m", "smspec_runtime.peers.member", "algo-1:7781", "algo-2", DIRECTORY]
    assert [companion.words[:2] for companion in command.companions] == [["/usr/sbin/sshd", "-D"]]
    assert (command.members, command.over_ssh) == ([], True)


def test_processes_follow_the_settings():
    assert mpi(launch(["a", "b"], "a", processes_per_host=2, gpus=8)).words[2:5] == ["a:2,b:2", "-np", "4"]
    assert mpi(launch(["a", "b"], "a", processes_per_host="2", processes=3)).words[2:5] == ["a:2,b:2", "-np", "3"]
    with pytest.raises(Refused, match="number of processes"):
        mpi(launch(processes_per_host="many"))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ml.g5.48xlarge", ["-x", "FI_PROVIDER=efa", "-x", "NCCL_PROTO=simple"]),
        ("ml.p5en.48xlarge", ["-x", "FI_PROVIDER=efa", "-x", "NCCL_PROTO=simple", "-x", "FI_EFA_USE_DEVICE_RDMA=1"]),
    ],
)
def test_efa_types_get_their_options(kind, words):
    assert mpi(launch(kind=kind)).words == line("algo-1", "1", *words, *NAMES, *SCRIPT)


@pytest.mark.parametrize(
    ("options", "debug", "rest"),
    [
        (["-x", "A=b c"], "INFO", ["-x", "A=b c"]),
        ("-x 'A=b c' --verbose", "INFO", ["-x", "A=b c", "--verbose"]),
        ("--NCCL_DEBUG WARN --verbose", "WARN", ["--verbose"]),
        ("-verbose --NCCL_DEBUG=WARN -x A=none", "WARN", ["-verbose", "-x", "A=none"]),
        ("--NCCL=TRACE --N VERSION", "VERSION", []),
        (["--NCCL_DEBUG=WARN", "-x", "NCCL_DEBUG=INFO"], None, ["-x", "NCCL_DEBUG=INFO"]),
        (["-N", "2", "--np", "4", "--NCCL_DEBUGGING=x"], "INFO", ["-N", "2", "--np", "4", "--NCCL_DEBUGGING=x"]),
        (["-x", "NCCL_DEBUG=TRACE"], None, ["-x", "NCCL_DEBUG=TRACE"]),
    ],
)
def test_options_of_the_job_are_passed(options, debug, rest):
    """NCCL_DEBUG is passed only one time."""
    said = ("-x", "NCCL_DEBUG=" + debug) if debug else ()
    assert mpi(launch(options=options)).words == line("algo-1", "1", *rest, *NAMES, *SCRIPT, debug=said)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-x 'A", "No closing quotation"),
        ("--NCCL_DEBUG", "--NCCL_DEBUG has no value"),
        ("--NCCL_D -x A=b", "--NCCL_DEBUG has no value"),
    ],
)
def test_unfinished_options_are_rejected(options, message):
    with pytest.raises(Refused, match=message):
        mpi(launch(options=options))


def test_only_what_ssh_cannot_carry_is_exported():
    """The variables of the leader would replace those of the other hosts."""
    environ = {"SM_CURRENT_HOST": "algo-1", "AWS_SESSION_TOKEN": "secret", "SM_HP_TEXT": "two\nlines", "NOTE": "a\n"}
    words = mpi(launch(["algo-1", "algo-2"], environ=environ)).words
    assert words == line("algo-1,algo-2", "2", "-x", "NOTE", "-x", "SM_HP_TEXT", *NAMES, *SCRIPT)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (Program("package", ["py", "-m", "train"]), ["py", "-m", "mpi4py", "-m", "train", "--lr", "0 1"]),
        (
            Program("module", ["py", "-m", "smspec_runtime.module", "a:b"], ["-m", "smspec_runtime.module", "a:b"]),
            ["py", "-m", "mpi4py", "-m", "smspec_runtime.module", "a:b", "--lr", "0 1"],
        ),
        (Program("executable", ["./run.sh"]), ["/bin/sh", "-c", "./run.sh --lr '0 1'"]),
        (Program("command", ["fit", "-v"]), ["fit", "-v", "--lr", "0 1"]),
    ],
    ids=["package", "module", "executable", "command"],
)
def test_programs_become_commands(program, words):
    assert mpi(launch(program=program)).words == line("algo-1", "1", *NAMES, *words)


RING = ["-x", "NCCL_PROTO=simple", "-x", "NCCL_ALGO=ring"]
SMDDPMPRUN = ["smddpmprun", "-i", "ml.p3.16xlarge", "--allow-bypass"]


@pytest.mark.parametrize(
    ("parameters", "torch", "is_installed", "words"),
    [
        ('{"ddp": true}', "2.1.0+cu121", True, [*RING, *SMDDPMPRUN]),
        ('{"ddp": true}', "2.1.0", False, RING),
        ('{"ddp": true}', "1.13.1", True, [*RING[:2], *SMDDPMPRUN]),
        ('{"ddp_dist_backend": "nccl"}', None, True, []),
        ('{"ddp_dist_backend": "auto"}', None, True, SMDDPMPRUN),
        ("{}", "2.1.0", True, []),
        ("nonsense", None, True, []),
    ],
)
def test_model_parallel_library_gets_its_options(parameters, torch, is_installed, words):
    environ = {"SM_HP_MP_PARAMETERS": parameters, **({"SM_DLC_TORCH_VERSION": torch} if torch else {})}
    found = mpi(launch(kind="ml.p3.16xlarge", environ=environ, smddpmprun=is_installed)).words
    assert found == line("algo-1", "1", *NAMES, *words, *SCRIPT)


def test_programs_get_the_variables_of_pytorch_containers():
    """The author can override NCCL_DEBUG and NCCL_IB_DISABLE."""
    said = {"MASTER_ADDR": "a", "MASTER_PORT": "7777", "NCCL_SOCKET_IFNAME": "eth0", "NCCL_IB_DISABLE": "1"}
    said["PYTHONUNBUFFERED"] = ""
    for host in ("a", "b"):
        assert mpi(launch(["a", "b"], host)).variables == {**said, "NCCL_DEBUG": "WARN"}
    assert mpi(launch(["a"], "a", environ={"NCCL_DEBUG": "INFO"})).variables == {**said, "NCCL_DEBUG": "INFO"}

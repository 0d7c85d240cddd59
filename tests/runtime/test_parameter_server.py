"""Commands of parameter servers and of MultiWorkerMirroredStrategy."""

import json

import pytest

from smspec_runtime.cluster import Cluster
from smspec_runtime.environment import Machine
from smspec_runtime.launchers import Launch, launcher
from smspec_runtime.program import Program
from smspec_runtime.refusal import Refused

PYTHON = Program("python", ["python", "--", "train.py"], ["train.py"])
WORDS = ["python", "--", "train.py", "--lr", "0.1"]
THREE = ["algo-1", "algo-2", "algo-3"]
PORTS = [str(40000 + number) for number in range(7)]
parameter_server = launcher("parameter_server")
multi_worker_mirrored = launcher("multi_worker_mirrored")


def launch(framework, hosts=THREE, host="algo-1", ports=(), program=PYTHON, environ=None, **options):
    cluster = Cluster(hosts=list(hosts), current_host=host)
    options = {"framework": framework, **options}
    leader = "127.0.0.1" if ports else hosts[0]
    facts = (program, ["--lr", "0.1"], cluster, list(hosts), Machine(cpus=4), options, environ or {}, leader)
    return Launch(*facts, python="py", leader_ip="10.0.0.7", local_ports=ports)


def dmlc(role, **others):
    return {
        "DMLC_NUM_WORKER": "3",
        "DMLC_NUM_SERVER": "3",
        "DMLC_ROLE": role,
        "DMLC_PS_ROOT_URI": "10.0.0.7",
        "DMLC_PS_ROOT_PORT": "8000",
        "PS_VERBOSE": "0",
        **others,
    }


@pytest.mark.parametrize(("host", "roles"), [("algo-1", ["scheduler", "server"]), ("algo-3", ["server"])])
def test_mxnet_roles_are_assigned(host, roles):
    """A scheduler on the first host, a server on every host; the program is a worker."""
    command = parameter_server(launch("mxnet", host=host))
    assert command.words == WORDS
    assert command.variables == dmlc("worker")
    assert [companion.words for companion in command.companions] == [["py", "-c", "import mxnet"]] * len(roles)
    assert [companion.variables for companion in command.companions] == [dmlc(role) for role in roles]
    assert command.members == []


def test_mxnet_on_one_host_is_a_cluster():
    command = parameter_server(launch("mxnet", hosts=["algo-1"]))
    assert [companion.variables["DMLC_ROLE"] for companion in command.companions] == ["scheduler", "server"]
    assert command.variables["DMLC_NUM_WORKER"] == "1"


def test_mxnet_gets_port_and_verbosity_of_its_container():
    environ = {"SM_HP__PS_PORT": "9000", "SM_HP__PS_VERBOSE": "2"}
    said = dmlc("worker", DMLC_PS_ROOT_PORT="9000", PS_VERBOSE="2")
    assert parameter_server(launch("mxnet", environ=environ)).variables == said
    assert parameter_server(launch("mxnet", port="40000")).variables["DMLC_PS_ROOT_PORT"] == "40000"


CLUSTER = {
    "master": ["algo-1:2222"],
    "ps": ["algo-1:2223", "algo-2:2223", "algo-3:2223"],
    "worker": ["algo-2:2222", "algo-3:2222"],
}


def tf_config(variables):
    config = json.loads(variables["TF_CONFIG"])
    assert set(config) == {"cluster", "environment", "task"}
    assert config["environment"] == "cloud"
    return config["cluster"], (config["task"]["type"], config["task"]["index"])


@pytest.mark.parametrize(
    ("host", "task", "server"),
    [("algo-1", ("master", 0), 0), ("algo-2", ("worker", 0), 1), ("algo-3", ("worker", 1), 2)],
)
def test_tensorflow_roles_are_assigned(host, task, server):
    command = parameter_server(launch("tensorflow", host=host))
    assert tf_config(command.variables) == (CLUSTER, task)
    (companion,) = command.companions
    assert companion.words[:2] == ["py", "-c"]
    assert tf_config(companion.variables) == (CLUSTER, ("ps", server))
    assert companion.variables["CUDA_VISIBLE_DEVICES"] == "-1"
    assert "CUDA_VISIBLE_DEVICES" not in command.variables


def test_tensorflow_servers_outlive_the_workers():
    """Other hosts run their part, then wait for the master, whose parameters lie on all servers."""
    leader = parameter_server(launch("tensorflow"))
    assert (leader.words, leader.members, leader.port) == (WORDS, ["algo-2", "algo-3"], 7781)
    member = parameter_server(launch("tensorflow", host="algo-2"))
    assert member.words == ["py", "-m", "smspec_runtime.peers.member", "algo-1:7781", "algo-2", "-", *WORDS]
    assert (member.members, leader.over_ssh, member.over_ssh) == ([], False, False)


def test_tensorflow_on_one_host_runs_the_script_alone():
    command = parameter_server(launch("tensorflow", hosts=["algo-1"]))
    assert (command.words, command.variables, command.companions, command.members) == (WORDS, {}, [], [])


def test_hosts_on_one_machine_have_separate_ports():
    leader = parameter_server(launch("tensorflow", ports=PORTS))
    cluster, _ = tf_config(leader.variables)
    ports = [address.rpartition(":")[2] for addresses in cluster.values() for address in addresses]
    assert sorted(ports) == PORTS[1:]  # one of the program and one of the server of each host
    assert leader.port == int(PORTS[0])
    member = parameter_server(launch("tensorflow", host="algo-2", ports=PORTS))
    assert member.words[3] == f"127.0.0.1:{PORTS[0]}"
    assert tf_config(member.variables)[0] == cluster


def test_script_without_a_shebang_is_run_by_a_shell():
    program = Program("executable", ["./run.sh"])
    command = parameter_server(launch("tensorflow", host="algo-2", program=program))
    assert command.words[6:] == ["/bin/sh", "-c", "./run.sh --lr 0.1"]


@pytest.mark.parametrize("framework", [None, "torch"])
def test_unknown_framework_is_rejected(framework):
    with pytest.raises(Refused, match="those of MXNet or TensorFlow; neither is installed"):
        parameter_server(launch(framework))


@pytest.mark.parametrize("hosts", [["algo-1"], THREE])
def test_multi_worker_mirrored_gets_tf_config(hosts):
    for index, host in enumerate(hosts):
        command = multi_worker_mirrored(launch(None, hosts=hosts, host=host))
        assert tf_config(command.variables) == ({"worker": [f"{name}:8890" for name in hosts]}, ("worker", index))
        assert (command.words, command.companions, command.members) == (WORDS, [], [])

"""Jobs under mpirun over two hosts, as containers of generated images.

As on SageMaker the host names of the containers are not those of the hosts.
"""

import json
import re
import time

import pytest

from support.local.local_jobs import HEAD, IMAGE, LocalJob
from support.smspec_command import smspec

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.xdist_group("docker")  # one engine, where xdist is told to keep groups together

BASE = "smspec-test-mpi:bookworm"
ADDRESSES = {"algo-1": "10.213.7.2", "algo-2": "10.213.7.3"}
GREETING = 'a "b"; c=$HOME, ä\n second line'

SPEC = """
    source: src/
    entry_point: train.py
    distribution: DISTRIBUTION
    hosts: {instance_type: ml.p4d.24xlarge, count: 2}
    hyperparameters: {ending: return, odd: "x;y,z"}
"""
DISTRIBUTIONS = {"mpi": "{mpi: {processes_per_host: 2}}", "smdataparallel": "smdataparallel"}

SCRIPT = """
    import json, os, signal, socket, sys, time
    from mpi4py import MPI
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    here = (rank, socket.gethostname(), os.environ.get("GREETING"), os.environ["SM_HP_ODD"], sys.argv[1:])
    said = [os.environ.get(name) for name in ("SM_CURRENT_HOST", "SMDATAPARALLEL_SERVER_ADDR", "MASTER_ADDR")]
    os.write(1, b"here " + json.dumps([rank, *said]).encode() + b"\\n")
    everywhere = world.allgather(here)
    ending = json.loads(os.environ["SM_HPS"])["ending"]
    if rank == 0:
        # In one piece: mpirun puts the rank before every piece.
        os.write(1, b"everywhere " + json.dumps(everywhere).encode() + b"\\n")
    if ending == "raise" and rank == 3:
        raise ValueError("the loss is not a number")
    if ending == "exit" and rank == 3:
        os._exit(7)
    if ending == "print":
        for number in range(50):
            print("line", rank, number, "." * 50, rank)
    if ending == "wait":
        time.sleep(60)
"""


@pytest.fixture(scope="module")
def images(engine, tmp_path_factory):
    """Build the image of each job once: nothing of how it ends is in it. Return their hyperparameters."""
    engine.import_debian(BASE, "openmpi-bin", "python3-mpi4py")
    hyperparameters = {}
    for launcher, distribution in DISTRIBUTIONS.items():
        job = LocalJob(tmp_path_factory.mktemp(launcher) / "job")
        job.spec(SPEC.replace("DISTRIBUTION", distribution), head=HEAD.replace(IMAGE, BASE))
        job.write("src/train.py", SCRIPT)
        done = smspec("build", "-o", "tree", cwd=job.directory)
        assert done.status == 0, done.err
        engine.build(job.directory / "tree", f"{launcher}-job")
        request = json.loads((job.directory / "tree/create-training-job.json").read_text())
        hyperparameters[launcher] = request["HyperParameters"]
    engine.docker("network", "create", "--driver=bridge", "--internal", "--subnet=10.213.7.0/24", "hosts")
    return hyperparameters


class Hosts:
    """The containers of one run."""

    def __init__(self, engine, launcher, directory, hyperparameters):
        self.engine = engine
        self.image = f"{launcher}-job"
        self.directory = directory
        self.hyperparameters = hyperparameters

    def start(self, *hosts):
        for host in hosts:
            config = self.directory / host / "input/config"
            config.mkdir(parents=True)
            (self.directory / host / "output").mkdir()
            resources = {"current_host": host, "hosts": list(ADDRESSES), "network_interface_name": "eth0"}
            for name, value in (
                ("resourceconfig", resources),
                ("inputdataconfig", {}),
                ("hyperparameters", self.hyperparameters),
            ):
                (config / f"{name}.json").write_text(json.dumps(value))
            self.engine.docker(
                *("run", "--detach", f"--name={host}", "--network=hosts", f"--ip={ADDRESSES[host]}"),
                *(f"--add-host={name}:{address}" for name, address in ADDRESSES.items()),
                *(f"--volume={self.directory / host / name}:/opt/ml/{name}" for name in ("input", "output")),
                *(f"--env=GREETING={GREETING}", "--env=SMSPEC_STOP_GRACE=20", self.image, "train"),
            )

    def status(self, host, seconds=60):
        """Return how a container ends."""
        return int(self.engine.docker("wait", host, timeout=seconds).stdout)

    def log(self, host):
        done = self.engine.docker("logs", host)
        return done.stdout + done.stderr

    def wait_for_log(self, host, text):
        deadline = time.monotonic() + 60
        while text not in self.log(host):
            assert time.monotonic() < deadline, self.log(host)
            time.sleep(0.05)

    def failure(self, host):
        path = self.directory / host / "output/failure"
        return path.read_text() if path.exists() else None


@pytest.fixture
def hosts(engine, images, tmp_path):
    """Return a function that starts the hosts of a job which ends as told."""

    def started(ending, *names, launcher="mpi"):
        hosts = Hosts(engine, launcher, tmp_path, {**images[launcher], "ending": json.dumps(ending)})
        hosts.start(*(names or ADDRESSES))
        return hosts

    yield started
    engine.docker("rm", "--force", "--volumes", *ADDRESSES, check=False)


def test_processes_of_all_hosts_form_one_world(hosts):
    """The leader's mpirun starts them; each has the job's environment, arguments and hyperparameters."""
    job = hosts("return")
    assert job.status("algo-1") == 0, job.log("algo-1") + job.log("algo-2")
    ended = time.monotonic()
    assert job.status("algo-2") == 0, job.log("algo-2")
    assert time.monotonic() - ended < 5
    log = job.log("algo-1")
    line = next(line for line in log.splitlines() if "everywhere" in line)
    everywhere = json.loads(line.partition("everywhere ")[2])
    assert [rank for rank, *_ in everywhere] == [0, 1, 2, 3]
    names = [name for _, name, *_ in everywhere]
    assert names[0] == names[1] != names[2] == names[3]
    arguments = ["--ending", "return", "--odd", "x;y,z"]
    assert [said for _, _, *said in everywhere] == [[GREETING, "x;y,z", arguments]] * 4
    here = [json.loads(line.partition(">:here ")[2]) for line in log.splitlines() if ">:here " in line]
    assert sorted((rank, host) for rank, host, *_ in here) == [
        *((0, "algo-1"), (1, "algo-1")),
        *((2, "algo-2"), (3, "algo-2")),
    ]
    assert (job.failure("algo-1"), job.failure("algo-2")) == (None, None)


def test_smdataparallel_starts_one_process_per_device(hosts):
    """Without smddprun, which the image lacks. What mpirun does not export reaches the other host through ssh."""
    job = hosts("return", launcher="smdataparallel")
    assert job.status("algo-1") == 0, job.log("algo-1") + job.log("algo-2")
    assert job.status("algo-2") == 0, job.log("algo-2")
    log = job.log("algo-1")
    assert "smddprun is not installed" in log
    here = [json.loads(line.partition(">:here ")[2]) for line in log.splitlines() if ">:here " in line]
    assert sorted(here) == [[0, "algo-1", "algo-1", "algo-1"], [1, "algo-2", "algo-1", "algo-1"]]


def test_lines_of_all_processes_stay_whole(hosts):
    """Unbuffered, Python writes a line and its end apart, and mpirun tags both."""
    job = hosts("print")
    assert job.status("algo-1") == 0, job.log("algo-1")
    found = re.findall(r"(?m)^\[1,(\d)\]<stdout>:line (\d) (\d+) \.{50} (\d)$", job.log("algo-1"))
    assert sorted((int(rank), int(number)) for rank, _, number, _ in found) == [
        (rank, number) for rank in range(4) for number in range(50)
    ]


@pytest.mark.parametrize(("ending", "status", "cause"), [("raise", 1, "ValueError: the loss"), ("exit", 7, "")])
def test_failing_process_fails_the_job_on_all_hosts(hosts, ending, status, cause):
    job = hosts(ending)
    assert job.status("algo-1") == status, job.log("algo-1")
    assert job.status("algo-2") == status, job.log("algo-2")
    assert cause in job.failure("algo-1")
    assert f"the job failed on the leader, algo-1, with exit status {status}" in job.failure("algo-2")


def test_lost_leader_fails_the_other_hosts(hosts):
    job = hosts("wait")
    job.wait_for_log("algo-1", "everywhere")
    job.engine.docker("kill", "algo-1")
    assert job.status("algo-2") == 1
    assert "the leader, algo-1, went away before the job had ended" in job.failure("algo-2")


def test_late_host_is_awaited(hosts):
    job = hosts("return", "algo-1")
    job.wait_for_log("algo-1", "waiting for the other hosts: algo-2 did not call")
    job.start("algo-2")
    assert (job.status("algo-1"), job.status("algo-2")) == (0, 0), job.log("algo-1")


@pytest.mark.parametrize("names", [("algo-1",), ("algo-1", "algo-2")])
def test_stopped_job_ends_immediately(hosts, names):
    """StopTrainingJob sends SIGTERM to every host, whether the others have come or not."""
    job = hosts("wait", *names)
    job.wait_for_log("algo-1", "everywhere" if len(names) == 2 else "did not call")
    began = time.monotonic()
    job.engine.docker("kill", "--signal=TERM", *names)
    assert all(job.status(name) > 0 for name in names)
    assert time.monotonic() - began < 15, job.log("algo-1")

"""Local runs whose hosts have a root, a network, and processes of their own."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from smspec.local.engines.namespace import availability
from smspec.local.engines.namespace.cell_process import own_range
from support.local.local_jobs import DEADLINE, LocalJob, script
from support.local.ordinary_user import OrdinaryJob, readable_python

MOMENTS = int(os.environ.get("SMSPEC_KILLED_RUNS", "4"))

pytestmark = pytest.mark.needs_namespaces


@pytest.fixture
def job(tmp_path, request):
    """A job in a directory with a blank and a letter beyond ASCII in its path; its processes carry that path."""
    kind = getattr(request, "param", LocalJob)
    if kind is OrdinaryJob:
        readable_python()  # or a skip, before anything is made
        tmp_path = request.getfixturevalue("public_directory")
    job = kind(tmp_path / "a jöb", engine="namespace")
    (job.directory / "tmp").mkdir()
    job.environment = {"TMPDIR": str(job.directory / "tmp")}
    job.mark = f'environment: {{MARK: "{job.directory}"}}\n'
    yield job
    job.assert_nothing_left()
    assert os.listdir(job.directory / "tmp") == []
    assert str(job.directory) not in Path("/proc/self/mounts").read_text()


every_user = pytest.mark.parametrize("job", [LocalJob, OrdinaryJob], indirect=True)

INSIDE = """
    import errno, json, os, resource, socket, sys, tempfile
    def refused(action, *arguments):
        try:
            action(*arguments)
        except OSError as fault:
            return errno.errorcode[fault.errno]
    here = os.environ["SM_CURRENT_HOST"]
    rank = int(here[-1]) - 1
    addresses = [socket.gethostbyname(host) for host in json.loads(os.environ["SM_HOSTS"])]
    if rank == 0:
        server = socket.create_server(("", 7777))
        total = sum(int(server.accept()[0].recv(10)) for _ in range(2))
        print("SUM", total)
    else:
        while refused(lambda: socket.create_connection(("algo-1", 7777)).send(str(rank).encode())):
            pass
    open("/opt/ml/model/" + here, "w").close()
    print("FOUND", json.dumps({
        "truncated": refused(open, "/opt/ml/input/data/train/a", "r+"),
        "renamed": refused(os.rename, "/opt/ml/model/" + here, "/opt/ml/output/data/" + here),
        "outside": refused(socket.create_connection, ("192.0.2.1", 80), 2),
        "program": refused(open, "/usr/bin/new", "w"),
        "first": open("/proc/1/cmdline").read().split(chr(0))[:3],
        "leaked": [os.readlink(entry.path) for entry in os.scandir("/proc/1/fd")],
        "names": [socket.gethostname(), open("/etc/hostname").read().strip()],
        "addresses": addresses,
        "interfaces": sorted(name for _, name in socket.if_nameindex()),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "homes": os.listdir("/home") + os.listdir("/mnt") + os.listdir("/srv"),
        "temporary": [tempfile.gettempdir(), [name for name in os.listdir("/tmp") if "smspec-test-" not in name]],
        "user": [os.getuid(), os.path.expanduser("~")],
        "argv": [sys.executable, *sys.argv],
    }))
"""
NETWORK = "network: {isolation: true, subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0]}\n"


@every_user
def test_hosts_are_what_a_container_is(job):
    """Three isolated hosts reach each other by name, and nothing else; a second run at once is not in the way."""
    channel = 'channels: {train: {s3: "s3://data/train/", local: data/, input_mode: FastFile}}\n'
    hosts = "hosts: {instance_type: ml.m5.large, count: 3, volume: 1GB}\n"
    script(job, INSIDE, f"{channel}{hosts}{NETWORK}{job.mark}hyperparameters: {{lr: 0.1}}\n")
    job.write("data/a", "the data of the author")
    digest = hashlib.sha256((job.directory / "data/a").read_bytes()).hexdigest()
    again = type(job)(job.directory / "again", engine="namespace")
    shutil.copytree(job.directory / "src", again.directory / "src", dirs_exist_ok=True)
    shutil.copytree(job.directory / "data", again.directory / "data")
    shutil.copy(job.directory / "job.yaml", again.directory)
    for process in [each.start(job.environment) for each in (job, again)]:
        _, err = process.communicate(timeout=DEADLINE)
        assert process.returncode == 0, err
    assert "SUM 3" in again.log()
    shutil.rmtree(again.directory)
    assert "SUM 3" in job.log()
    for host in ("algo-1", "algo-2", "algo-3"):
        line = next(line for line in job.log(host).splitlines() if line.startswith("FOUND"))
        found = json.loads(line.removeprefix("FOUND "))
        files = found.pop("files")
        assert files[0] == files[1]
        # The runtime itself holds the directories of its results.
        own = ("pipe:", "/dev/null", "/opt/ml", "/proc", "anon_inode:")
        assert [path for path in found.pop("leaked") if not path.startswith(own)] == []
        assert found == {
            "truncated": "EROFS",
            "renamed": "EXDEV",
            "outside": "ENETUNREACH",
            "program": "EROFS",
            "first": ["python3", "/opt/smspec/entrypoint.py", "train"],
            "names": [host, host],
            "addresses": ["10.0.2.101", "10.0.2.102", "10.0.2.103"],
            "interfaces": ["eth0", "lo"],
            "homes": [],
            "temporary": ["/tmp", []],
            "user": [0, "/root"],
            "argv": [found["argv"][0], "train.py", "--lr", "0.1"],
        }
    assert hashlib.sha256((job.directory / "data/a").read_bytes()).hexdigest() == digest
    resources = json.loads((job.host() / "input/config/resourceconfig.json").read_text())
    assert resources["network_interface_name"] == "eth0"
    assert [text for text in job.summary()["differences"] if "Python" not in text] == []


CALLING = """
    import os, urllib.request
    try:
        print("GOT", urllib.request.urlopen(os.environ["AWS_ENDPOINT_URL"], timeout=10).read())
    except OSError as fault:
        print("REFUSED", fault)
"""


@pytest.mark.skipif(bool(availability.missing_for_internet()), reason=availability.missing_for_internet())
def test_hosts_reach_this_machine_only_on_request(job):
    """With slirp4netns, also one host has its network; a server on 127.0.0.1 is at a different address there."""
    script(job, CALLING, job.mark)
    words = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
    source = job.directory / "src"
    server = subprocess.Popen(words, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = server.stdout.readline().split(" port ")[1].split()[0]
        environment = {**job.environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}/train.py"}
        ended = job.run(environment)
        assert "`AWS_ENDPOINT_URL` is an address of this machine, which hosts reach only with" in ended.stderr
        assert "REFUSED" in job.log()
        ended = job.run(environment, **{"host-loopback": None})
    finally:
        server.kill()
        server.communicate()
    assert ended.returncode == 0, ended.stderr
    assert "GOT" in job.log()


@pytest.mark.skipif(not (shutil.which("mpirun") and shutil.which("ssh-keygen")), reason="no mpirun or no ssh-keygen")
def test_mpi_ranks_have_the_variables_of_their_host(job):
    """Four ranks on two hosts of two kinds; the status of the one that fails is the job's, secrets are the author's."""
    secret = "secrets: {TOKEN: arn:aws:secretsmanager:us-west-2:111122223333:secret:token-AbCdEf}\n"
    kinds = {"algo-1": ("large", "ml.m5.2xlarge"), "algo-2": ("small", "ml.m5.large")}
    groups = ", ".join(f"{{name: {name}, instance_type: {kind}, count: 1}}" for name, kind in kinds.values())
    hosts = f"hosts: {{groups: [{groups}], volume: 1GB}}\ndistribution: {{mpi: {{processes_per_host: 2}}}}\n"
    note = 'hyperparameters: {note: "one\\ntwo"}\nchecks: {ignore: [{rule: SM558, because: x}]}\n'
    job.spec(f"source: src/\nentry_point: {{command: [./rank.sh]}}\n{hosts}{note}{secret}{job.mark}")
    job.write(
        "src/rank.sh",
        """\
        #!/bin/sh
        here="$SM_CURRENT_HOST $SM_CURRENT_INSTANCE_GROUP $SM_CURRENT_INSTANCE_TYPE"
        lines="with $TOKEN, $(echo "$SM_HP_NOTE" | wc -l) lines"
        echo "rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname) = $here $lines in $MARK"
        [ "$OMPI_COMM_WORLD_RANK" != 3 ] || { sleep 1; exit 9; }
        """,
    )
    os.chmod(job.directory / "src/rank.sh", 0o755)
    ended = job.run({**job.environment, "TOKEN": "correct-horse"})
    assert ended.returncode == 1, ended.stderr
    assert job.summary()["exit_status"] == 9, ended.stderr
    for rank, host in enumerate(("algo-1", "algo-1", "algo-2", "algo-2")):
        here = " ".join([host, *kinds[host]])
        said = f"rank {rank} of 4 on {host} = {here} with correct-horse, 2 lines in {job.directory}"
        assert said in job.log()


CLINGING = """
    import os, signal, sys, time
    def stop(*_):
        open("/opt/ml/checkpoints/saved", "w").close()
        sys.exit(0)
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 100)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(60)
    signal.signal(signal.SIGTERM, stop)
    print("clinging", flush=True)
    while True:
        time.sleep(0.1)
"""


@pytest.fixture
def clinging(job):
    channel = 'channels: {train: {s3: "s3://data/train/", local: data/, input_mode: Pipe}}\n'
    hosts = "hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}\n"
    script(job, CLINGING, f'{channel}{hosts}checkpoints: "s3://models/c/"\n{job.mark}')
    job.write("data/a", bytes(1000))
    return job


@pytest.mark.parametrize("job", [OrdinaryJob], indirect=True)
@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_run_leaves_nothing(clinging, moment):
    """Killed with SIGKILL at any moment; the next run of any command removes the temporary files."""
    process = clinging.start(clinging.environment)
    try:
        process.wait(random.Random(moment).uniform(0.3, 3))
    except subprocess.TimeoutExpired:
        pass
    process.kill()
    process.communicate(timeout=DEADLINE)
    clinging.assert_nothing_left()
    clinging.write("src/train.py", "print('done')")
    assert clinging.run(clinging.environment).returncode == 0


def test_stopped_run_gives_hosts_time_to_save(clinging):
    """The first process of each host gets SIGTERM, and with it the script."""
    process = clinging.start(clinging.environment)
    for host in ("algo-1", "algo-2"):
        clinging.wait_for_log("clinging", host)
    process.terminate()
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 143, err
    assert clinging.summary()["status"] == "Stopped"
    assert all((clinging.host(host) / "checkpoints/saved").exists() for host in ("algo-1", "algo-2"))


UNPACKING = """
    import os, subprocess
    print("TAR", subprocess.call(["tar", "-xf", "/opt/ml/input/data/train/a.tar", "-C", "/opt/ml/model"]))
    os.makedirs("/opt/ml/output/data/private")
    os.chown("/opt/ml/output/data/private", 5, 5)
    os.chmod("/opt/ml/output/data/private", 0o700)
"""


def words_with_range(directory):
    """Return words before a command that give root a range of users where the machine has none."""
    if own_range() is not None:
        return []
    if os.geteuid() != 0 or not (shutil.which("newuidmap") and shutil.which("unshare")):
        pytest.skip("no newuidmap, or no range of users in /etc/subuid")
    for name in ("subuid", "subgid"):
        (directory / name).write_text("root:100000:65536\n")
    mounts = " && ".join(f'mount --bind "{directory}/{name}" /etc/{name}' for name in ("subuid", "subgid"))
    return ["unshare", "--mount", "sh", "-c", f'{mounts} && exec "$@"', "sh"]


def test_files_may_have_several_owners(job):
    """As root, tar restores the owners in an archive; afterwards everything belongs to the author again."""
    script(job, UNPACKING, f'channels: {{train: {{s3: "s3://data/train/", local: data/}}}}\n{job.mark}')
    (job.directory / "data").mkdir()
    with tarfile.open(job.directory / "data/a.tar", "w") as archive:
        member = tarfile.TarInfo("a")
        member.uid = member.gid = 1234
        archive.addfile(member)
    ended = subprocess.run(
        [*words_with_range(job.directory), *job.words()],
        cwd=job.directory,
        env={**os.environ, **job.environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert ended.returncode == 0, ended.stderr
    assert "TAR 0" in job.log()
    assert {path.lstat().st_uid for path in job.run_directory.rglob("*")} == {os.geteuid()}


UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c"]
REFUSING = """\
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
numbers = {"x86_64": 272, "aarch64": 97}
unshare = numbers[os.uname().machine]
program = [(0x20, 0, 0, 0), (0x15, 0, 1, unshare), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = b"".join(struct.pack("HBBI", *step) for step in program)
text = ctypes.create_string_buffer(code)
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(text)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
@pytest.mark.parametrize(
    ("before", "words"),
    [
        (
            [*UNSHARE, 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', "sh"],
            "an administrator disabled them",
        ),
        (
            [*UNSHARE, 'mount -t tmpfs none /proc/bus && exec "$@"', "sh"],
            "this container masks /proc; start it with",
        ),
        (
            [sys.executable, "-c", REFUSING],
            "this container forbids them; start it with `--security-opt seccomp=unconfined`",
        ),
    ],
    ids=["limit", "masked", "seccomp"],
)
def test_refused_namespaces_fall_back_with_the_reason(job, before, words):
    """`auto` falls back to `process`, and a named engine does not."""
    script(job, "print('trained')")
    for engine, status in (("auto", 0), ("namespace", 3)):
        ended = subprocess.run(
            [*before, *job.words(engine=engine)],
            cwd=job.directory,
            env={**os.environ, **job.environment},
            capture_output=True,
            text=True,
            timeout=DEADLINE,
        )
        assert ended.returncode == status, ended.stderr
        sign = "engine: process: " if engine == "auto" else "smspec: `--engine namespace` is not available: "
        assert ended.stderr.startswith(f"{sign}namespaces are unavailable: {words}"), ended.stderr
    assert job.summary()["why"].startswith("namespaces are unavailable: ")


ELSEWHERE = """
    import os, sys
    print(open("/etc/resolv.conf").read(), os.listdir("/opt/ml/checkpoints"), sys.base_prefix)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare")
@pytest.mark.skipif(sys.base_prefix.startswith("/opt"), reason="the test hides what is in /opt")
def test_unusual_machines_run_jobs(job):
    """resolv.conf is a link to what hosts do not see, and so is the interpreter in a directory; a mount has flags that
    only its owner can remove; /opt/ml is of another job.
    """
    script(job, ELSEWHERE, job.mark)
    (job.directory / "run").mkdir()
    venv.create(job.directory / "hidden", with_pip=False, symlinks=True)
    of_another = ["mount -t tmpfs none /opt", "mkdir -p /opt/ml/checkpoints", "touch /opt/ml/checkpoints/old"]
    change = " && ".join(
        [
            f'mount -t tmpfs -o nosuid,nodev,noexec none "{job.directory}/run"',
            "mount -t tmpfs none /run",
            "mkdir /run/etc",
            "cp /etc/passwd /etc/group /etc/ld.so.cache /run/etc",
            "echo nameserver 192.0.2.7 > /run/resolv",
            "ln -s /run/resolv /run/etc/resolv.conf",
            "mount --bind /run/etc /etc",
            *of_another,
            '"$@"',
            "ls /opt/ml/checkpoints",
        ]
    )
    ended = subprocess.run(
        [*UNSHARE, change, "sh", *job.words(python=job.directory / "hidden/bin/python")],
        cwd=job.directory,
        env={**os.environ, **job.environment},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert ended.returncode == 0, ended.stderr
    resolver = "192.0.2.7" if availability.missing_for_internet() else availability.RESOLVER
    assert f"algo-1 | nameserver {resolver}" in ended.stderr
    assert f" [] {sys.base_prefix}\n" in ended.stderr
    assert ended.stdout.endswith("old\n")

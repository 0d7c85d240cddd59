"""What a job can reach of the machine: every way of `support.local.ways_out`, tried in real runs of each kind."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from smspec.local.engines.namespace import availability
from support.local import attempts, ways_out
from support.local.local_jobs import DEADLINE, IMAGE, LocalJob, script
from support.local.ordinary_user import OrdinaryJob, readable_python
from support.local.ways_out import WAYS
from support.wheels import write_wheel

pytestmark = pytest.mark.needs_namespaces

SPEC = """\
hosts: {instance_type: ml.m5.large, count: 2, volume: 1GB}
network: {isolation: true, subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0]}
channels:
  train: {s3: "s3://data/train/", local: data/, input_mode: FastFile}
  listed: {s3: "s3://data/listed", local: listed/manifest, s3_data_type: ManifestFile}
"""
KINDS = ("root", "user", "root of a container", "root of a user namespace")
together = pytest.mark.xdist_group("ways out of a run")
"""On one worker: each would run all kinds again."""
ON_OVERLAY = 'mount -t overlay -o "lowerdir=$1,upperdir=$1.upper,workdir=$1.work" none "$1" && cd "$1" && shift && "$@"'


class ContainedJob(LocalJob):
    """As root on a file system that cannot map owners, as in a container."""

    def words(self, **request: object) -> list[str]:
        for suffix in ("upper", "work"):
            os.makedirs(f"{self.directory}.{suffix}", exist_ok=True)
        return ["unshare", "--mount", "sh", "-c", ON_OVERLAY, "sh", str(self.directory), *super().words(**request)]


class NestedJob(LocalJob):
    """As root of a user namespace, as in a container without root."""

    def words(self, **request: object) -> list[str]:
        return ["unshare", "--user", "--map-root-user", *super().words(**request)]


JOBS = dict(zip(KINDS, (LocalJob, OrdinaryJob, ContainedJob, NestedJob), strict=True))


def started(job: LocalJob, variables: dict[str, str]) -> subprocess.Popen[str]:
    """Start a run whose command begins with that of a different program."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(job.words(), cwd=job.directory, env={**os.environ, **variables}, text=True, **streams)


def has_overlay(above: str) -> bool:
    for name in ("x", "x.upper", "x.work"):
        os.makedirs(os.path.join(above, name))
    words = ["unshare", "--mount", "sh", "-c", ON_OVERLAY, "sh", os.path.join(above, "x"), "true"]
    return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0


def kind_of_file_system(path: Path) -> str:
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return max((words[1:3] for words in mounts if path.is_relative_to(words[1])), key=lambda words: len(words[0]))[1]


def outside(job: LocalJob) -> dict[str, str]:
    """Return the content and the mode of everything that belongs to the author."""
    kept = ("data", "listed", "home/.aws", "src", "socket", "wheels")
    return {
        str(path): f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ''}"
        for name in kept
        for path in (job.directory / name, *(job.directory / name).rglob("*"))
    }


@pytest.fixture(scope="module", params=KINDS)
def tried(request):
    """Run the script that tries all ways; return what came of them on each host, and the job with its end."""
    kind = request.param
    if kind.startswith("root") and os.geteuid() != 0 and kind != "root of a user namespace":
        pytest.skip("only root has a run of root")
    if kind not in ("root", "user") and shutil.which("unshare") is None:
        pytest.skip("no unshare")
    with (
        tempfile.TemporaryDirectory(prefix="smspec-ways-") as above,
        tempfile.NamedTemporaryFile(dir="/dev/shm") as shared,
    ):
        os.chmod(above, 0o755)
        if kind == "root of a container" and not has_overlay(above):
            pytest.skip("no overlay of this file system")
        job = (LocalJob if kind == "user" and os.geteuid() != 0 else JOBS[kind])(
            Path(above) / "job", engine="namespace"
        )
        script(
            job,
            Path(ways_out.__file__).read_text(),
            f'{SPEC}image: {{base: "{IMAGE}", python_packages: [ctr-model]}}\n',
        )
        job.write("src/support/local/attempts.py", Path(attempts.__file__).read_text())
        (job.directory / "wheels").mkdir()
        write_wheel(job.directory / "wheels", {"shared_package.py": b"", "other.py": b""})
        job.write("data/a", "the data of the author")
        job.write("data/b/c", "more of them")
        job.write("listed/manifest", '[{"prefix": "s3://data/"}, "a"]')
        job.write("listed/data/a", "listed data")
        job.write("home/.aws/credentials", "[default]\naws_access_key_id = none\n")
        job.write("temporary/file", "of the author")
        libc = ctypes.CDLL(None)
        segment = libc.shmget(os.getpid(), 4096, 0o1666)
        with (
            socket.socket(socket.AF_UNIX) as named,
            socket.socket(socket.AF_UNIX) as abstract,
            socket.socket() as port,
            subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as victim,
        ):
            named.bind(str(job.directory / "socket"))
            abstract.bind(f"\0smspec-{os.getpid()}")
            port.bind(("127.0.0.1", 0))
            for server in (named, abstract, port):
                server.listen()
            facts = {
                "author": str(job.directory / "job.yaml"),
                "other": str(job.run_directory / "hosts"),
                "temporary": str(job.directory / "temporary"),
                "shared": os.path.basename(shared.name),
                "segment": os.getpid(),
                "disk": next(line.split()[0] for line in Path("/proc/self/mounts").read_text().splitlines()),
                "victim": victim.pid,
                "port": port.getsockname()[1],
                "abstract": f"smspec-{os.getpid()}",
                "socket": str(job.directory / "socket"),
            }
            before = outside(job)
            variables = {"HOME": str(job.directory / "home"), "TMPDIR": str(job.directory / "temporary")}
            variables |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(job.directory / "wheels")}
            variables |= {"SMSPEC_CACHE_DIR": str(job.directory / "cache"), "UV_CACHE_DIR": str(job.directory / "uv")}
            with (job.directory / "job.yaml").open("a") as spec:
                spec.write(f"environment: {{FACTS: '{json.dumps(facts)}'}}\n")
            variables["OF_THE_AUTHOR"] = "secret"
            process = job.start(variables) if type(job) in (LocalJob, OrdinaryJob) else started(job, variables)
            _, err = process.communicate(timeout=DEADLINE)
            is_alive = victim.poll() is None
            victim.kill()
        libc.shmctl(segment, 0, None)
        assert process.returncode == 0, err
        after, log = outside(job), err.splitlines()
        found = {
            host: json.loads(line.split("WAYS ", 1)[1])
            for host in ("algo-1", "algo-2")
            for line in log
            if line.startswith(f"{host} | WAYS ")
        }
        job.assert_nothing_left()
        yield kind, job, found, (before, after, is_alive), err


@together
def test_ways_lead_nowhere(tried):
    """In one test: 828 looks at what four runs have found took longer than the runs."""
    _, _, found, _, err = tried
    assert sorted(found) == ["algo-1", "algo-2"], err
    for results in found.values():
        assert {way: results.get(way, "not tried") for way in WAYS if results.get(way) != ""} == {}


@together
def test_files_of_the_author_are_unchanged(tried):
    _, _, _, (before, after, is_alive), _ = tried
    assert before == after
    assert is_alive


@together
def test_run_belongs_to_the_author(tried):
    """Also what the job has given away; programs of the job have no bits that make them the author's."""
    kind, job, _, _, _ = tried
    run = job.run_directory
    if kind == "root of a container":
        run = Path(f"{job.directory}.upper") / run.relative_to(job.directory)
    assert stat.S_IMODE((run / "hosts/algo-1/opt/ml/model/closed").stat().st_mode) == 0
    # `find` goes step by step, as some paths are longer than the system takes. Only root enters a closed directory.
    closed = ["find", str(run), "-name", "closed", "-type", "d", "-execdir", "chmod"]
    subprocess.run([*closed, "700", "{}", ";"], check=True)
    wrong = ["(", "!", "-uid", str(job.directory.stat().st_uid), "-o", "-perm", "/6000", ")"]
    assert subprocess.check_output(["find", str(run), *wrong, "-printf", "%d %f %m\n"], text=True) == ""
    written = ["find", str(run / "hosts"), "-name", "program", "-perm", "755", "-printf", "."]
    assert len(subprocess.check_output(written)) == 2 * 2 * 21
    assert stat.S_IMODE((run / "hosts").stat().st_mode) == stat.S_IMODE(run.stat().st_mode)
    subprocess.run([*closed, "0", "{}", ";", "-prune"], check=True)


@together
def test_run_reports_what_is_open(tried):
    """Root that is root of the machine is the one thing that these kinds differ in."""
    kind, job, _, _, err = tried
    lines = [line for line in err.splitlines() if line.startswith("not confined: ")]
    is_root = kind == "root of a container" or (kind == "root" and kind_of_file_system(job.directory) == "overlay")
    start = "not confined: root of this machine, as which the job runs: "
    assert [line.startswith(start) for line in lines] == [True] * is_root, err


CONNECTING = """
    import os, socket, time
    def reached(family, address):
        with socket.socket(family, socket.SOCK_STREAM) as client:
            try:
                client.connect(address)
            except OSError:
                return False
            return True
    abstract = reached(socket.AF_UNIX, chr(0) + os.environ["NAME"])
    network = reached(socket.AF_INET, ("127.0.0.1", int(os.environ["PORT"])))
    print("REACHED", abstract, network, os.listdir("/sys/firmware"), flush=True)
    while not os.path.exists("/opt/ml/checkpoints/end"):
        time.sleep(0.02)
"""


def test_shared_network_has_no_abstract_sockets(tmp_path):
    """Without slirp4netns. Other users cannot open what the job writes while it runs."""
    job = LocalJob(tmp_path / "job", engine="namespace")
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket() as port:
        abstract.bind(f"\0smspec-shared-{os.getpid()}")
        port.bind(("127.0.0.1", 0))
        abstract.listen()
        port.listen()
        facts = f"{{NAME: smspec-shared-{os.getpid()}, PORT: '{port.getsockname()[1]}'}}"
        script(job, CONNECTING, f'checkpoints: "s3://models/c/"\nenvironment: {facts}\n')
        process = job.start({"PATH": os.path.dirname(sys.executable)})
        job.wait_for_log("REACHED")
        during = stat.S_IMODE((job.run_directory / "hosts").stat().st_mode)
        (job.host() / "checkpoints/end").touch()
        _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert during == 0o700
    assert (job.run_directory / "hosts").stat().st_mode == job.run_directory.stat().st_mode
    assert "not confined: the network of this machine\n" in err
    has_scopes = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) >= (6, 12)
    assert f"REACHED {not has_scopes} True []" in job.log()


OWN_PROCESS = """
    import os, threading
    for path, text in (("comm", "trainer"), ("oom_score_adj", "500"), (f"task/{threading.get_native_id()}/comm", "x")):
        with open(f"/proc/self/{path}", "w") as file:
            file.write(text)
    open("/proc/self/clear_refs", "w").write("1")
    print("WRITTEN", flush=True)
"""


@pytest.mark.parametrize("kind", [LocalJob, OrdinaryJob], ids=["root", "user"])
def test_job_that_shares_a_network_changes_its_own_processes(public_directory, kind):
    """One host without slirp4netns: /proc is read-only only for the owner of the network, who could change it."""
    python = readable_python() if kind is OrdinaryJob else sys.executable
    (public_directory / "bin").mkdir()
    (public_directory / "bin/python3").symlink_to(python)
    job = kind(public_directory / "job", engine="namespace")
    script(job, OWN_PROCESS)
    process = job.start({"PATH": f"{public_directory}/bin"})
    _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert "not confined: the network of this machine" in err
    assert "| WRITTEN" in err


NETWORK_ENTRIES = """
    import itertools, os, subprocess, sys
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    for process, name in itertools.product(("self", "thread-self", "1", child.pid), os.listdir("/proc/self/net")):
        path = f"/proc/{process}/net/{name}"
        for change in (lambda: os.chmod(path, os.stat(path).st_mode & 0o7777), lambda: os.chown(path, 0, 0)):
            try:
                change()
                print("CHANGED", path)
            except OSError:
                pass
    child.communicate()
    print("TRIED", flush=True)
"""


class SharingJob(ContainedJob):
    """The same without slirp4netns: the job runs as root of the machine, in its network."""

    def words(self, **request: object) -> list[str]:
        own = super().words(**request)
        start = own.index(sys.executable)
        return [*own[:start], "env", f"PATH={os.path.dirname(sys.executable)}", *own[start:]]


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root has a run of root")
def test_entries_of_a_shared_network_keep_their_modes():
    """Those of /proc/PID/net, for any process: they are the same for all that share the network."""
    with tempfile.TemporaryDirectory(prefix="smspec-ways-") as above:
        if not has_overlay(above):
            pytest.skip("no overlay of this file system")
        job = SharingJob(Path(above) / "job", engine="namespace")
        script(job, NETWORK_ENTRIES)
        process = started(job, {})
        _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0, err
    assert "not confined: the network of this machine, root of this machine, as which the job runs" in err
    assert [line for line in err.splitlines() if "CHANGED" in line] == []
    assert "| TRIED" in err


SENDING = """
    import os, socket, struct
    datagrams, stream = int(os.environ["DATAGRAMS"]), int(os.environ["STREAM"])
    eth0 = socket.if_nametoindex("eth0")
    frames = {"frames": (socket.AF_PACKET, socket.SOCK_RAW, 3), "frame data": (socket.AF_PACKET, socket.SOCK_DGRAM, 3)}
    frames |= {name: (socket.AF_INET, socket.SOCK_RAW, number) for name, number in (("packets", 255), ("icmp", 1))}
    for name, words in frames.items():
        try:
            socket.socket(*words).close()
            print("OPENED", name)
        except PermissionError:
            pass
    route = lambda kind: bytes([kind, 11, 4]) + socket.inet_aton("10.0.2.2") + socket.inet_aton("127.0.0.1")
    ways = {
        "plain": (),
        "device": ((socket.SOL_SOCKET, 25, b"eth0"),),
        "device of addresses": ((socket.SOL_SOCKET, 62, eth0),),
        "interface": ((socket.SOL_IP, 50, socket.htonl(eth0)),),
        "no routing": ((socket.SOL_SOCKET, socket.SO_DONTROUTE, 1),),
        "own address": ((socket.SOL_IP, 15, 1),),
        "transparent": ((socket.SOL_IP, 19, 1),),
        "loose route": ((socket.SOL_IP, 4, route(131) + bytes(1)),),
        "strict route": ((socket.SOL_IP, 4, route(137) + bytes(1)),),
        "mark": ((socket.SOL_SOCKET, 36, 1),),
    }
    targets = ["127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "10.0.2.2", "10.0.2.1", "10.0.2.100"]
    targets += ["10.0.2.255", "255.255.255.255", "224.0.0.1", "10.0.2.0"]
    for name, options in ways.items():
        for target in targets:
            for kind, port in ((socket.SOCK_DGRAM, datagrams), (socket.SOCK_STREAM, stream)):
                with socket.socket(socket.AF_INET, kind) as client:
                    client.settimeout(0.2)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                    try:
                        for option in options:
                            client.setsockopt(*option)
                        client.connect((target, port))
                        client.send(f"{name} {target}".encode())
                    except OSError:
                        continue
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        control = [(socket.SOL_IP, 8, struct.pack("i4s4s", eth0, bytes(4), bytes(4)))]
        try:
            client.sendmsg([b"packet information"], control, 0, ("127.0.0.1", datagrams))
        except OSError:
            pass
    ping = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP)
    ping.settimeout(10)
    ping.sendto(struct.pack("!BBHHH", 8, 0, 0, 0, 1) + bytes(8), ("10.0.2.2", 0))
    print("PINGED", ping.recv(100)[0], flush=True)
"""


@pytest.mark.skipif(bool(availability.missing_for_internet()), reason=availability.missing_for_internet())
def test_job_with_internet_reaches_no_loopback_server(tmp_path):
    """slirp4netns hides it only behind the gateway: packets for 127.0.0.1 that reach it lead to this machine."""
    job = LocalJob(tmp_path / "job", engine="namespace")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, socket.socket() as stream:
        for server in (datagrams, stream):
            server.bind(("127.0.0.1", 0))
            server.setblocking(False)
        stream.listen()
        ports = f"DATAGRAMS: '{datagrams.getsockname()[1]}', STREAM: '{stream.getsockname()[1]}'"
        script(job, SENDING, f"environment: {{{ports}}}\n")
        ended = job.run()
        assert ended.returncode == 0, ended.stderr
        assert "OPENED" not in job.log()
        assert "PINGED 0" in job.log()
        with pytest.raises(BlockingIOError):
            pytest.fail(f"received {datagrams.recv(100)!r}")
        with pytest.raises(BlockingIOError):
            pytest.fail(f"accepted {stream.accept()!r}")

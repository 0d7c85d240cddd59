"""What a process under `smspec check` can still reach, tried on the system that runs the tests.

`support.confinement.ways` has a program for each way out. Each is refused, or `check` warns of it with words
that docs/check.md has.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from smspec.proof.sandbox import Sandbox, unconfined
from smspec.source.real_file import remove_tree
from support.confinement import ways, world
from support.local.checked_jobs import PARSER, Checked
from support.local.local_jobs import DEADLINE
from support.local.ordinary_user import AS_USER, USER, modules, readable_python

pytest_plugins = ["support.docker_engine"]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux confines processes")

ROOT = Path(__file__).parents[2]
MODULES = os.pathsep.join(str(ROOT / name) for name in ("tests", "compiler", "runtime", "schemas"))
CHANGES = {
    *("write", "append", "create", "truncate", "remove", "remove_directory", "rename_away", "rename_within"),
    *("hard_link_in", "hard_link_out", "symbolic_link_out", "write_through_link", "make_directory", "make_fifo"),
    *("make_socket", "write_project", "plant_git_hook", "plant_package", "plant_in_home", "by_a_child", "open_fifo"),
    *("flags", "core_pattern", "module_loader", "kernel_settings", "system_requests", "binary_formats"),
    *("kernel_objects", "control_groups", "kernel_log_device", "physical_memory", "fuse", "system_directory"),
    *("settings_of_the_system", "accounts", "schedule", "log_directory", "write_terminal", "posix_shared_memory"),
    *("out_of_memory_score", "mode_by_descriptor", "times_by_descriptor"),
}
OF_GROUPS = "files that your other groups can read"
DOCUMENTED = {
    "files changed by its child processes or compiled code": CHANGES,
    "truncated files": {"truncate"},
    "modes, owners, and times of files": {"mode", "owner", "times", "attribute", "mode_of_a_device"},
    OF_GROUPS: set(),
    "reading": {"read_credentials", "read_project", "read_terminal", "lock_file", "passwords", "private_files", "disk"},
    "memory and variables of your other processes": {
        *("root_of_another_process", "descriptor_of_another_process", "working_directory_of_another_process"),
        *("write_memory", "read_environment"),
    },
    "signals to your other processes": {
        *("kill", "queue_signal", "signal_by_thread", "signal_by_descriptor", "signal_by_file_owner"),
    },
    "names and scheduling of your other processes": {"see_processes", "processors", "scheduler"},
}
"""What `check` warns of, and the ways that may then succeed."""

SYSTEMS = {
    "namespaces and Landlock": [],
    "namespaces": ["landlock"],
    "namespaces but not of users": ["users"],
    "namespaces without a new proc": ["processes"],
    "namespaces without mounts": ["mounts"],
    "Landlock": ["namespaces"],
    "neither": ["namespaces", "landlock"],
}
NEEDS_ROOT = {"file_handle", "namespace_of_another_process"}
NOT_EVERYWHERE = {
    *("inherited_descriptor", "root_of_the_first_process", "tcp_version_6", "attribute", "flags", "read_key"),
    *("key_of_the_session", "compare_processes", "working_directory_of_another_process", "owner", "terminal_input"),
}
"""None without a fault, or ways that some systems refuse to everyone."""


def tried(directory: Path, words: list[str], refused: list[str]) -> dict:
    """Let a process try every way out; return what `support.confinement.world` prints."""
    done = subprocess.run(
        [*words, str(ROOT / "tests/support/confinement/world.py"), str(directory), *refused],
        env={**os.environ, "PYTHONPATH": MODULES, "TMPDIR": str(directory), "HOME": str(directory)},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["ways"] is not None and found["faults"] == [], found
    return found


def assert_refused_or_documented(found: dict) -> None:
    warnings = [text for text in found["warning"].split("; ") if text]
    documented = set().union(*(DOCUMENTED.get(text, set()) for text in warnings))
    assert [name for name in found["ways"] if name not in documented] == [], found["warning"]
    if not warnings:
        assert found["changed"] == []
    page = (ROOT / "docs" / "check.md").read_text()
    assert [text for text in warnings if text not in page] == []


@pytest.fixture
def as_user(request):
    """Return the words that start a Python of the requested user."""
    if request.param == "the same user":
        return [sys.executable]
    groups = ["--groups=7"] if request.param == "a user of other groups" else AS_USER[-1:]
    return [*AS_USER[:-1], *groups, readable_python()]


@pytest.fixture
def directory(as_user):
    """Yield a directory of that user, who cannot enter that of pytest."""
    path = Path(tempfile.mkdtemp(prefix="smspec-ways-"))
    if len(as_user) > 1:
        os.chown(path, USER, USER)
    yield path
    remove_tree(str(path))


users = pytest.mark.parametrize("as_user", ["the same user", "an ordinary user"], indirect=True)


def needs(system: str) -> None:
    """Skip a test for what this system lacks without being asked to."""
    if os.uname().machine not in world.MACHINES:
        pytest.skip("the calls of this machine are unknown")
    if "namespaces" in system:
        words = ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--mount", "--mount-proc", "true"]
        if subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode != 0:
            pytest.skip("this system has no namespaces")


@users
@pytest.mark.parametrize("system", SYSTEMS)
def test_every_way_out_is_refused_or_documented(directory, system, as_user):
    needs(system)
    found = tried(directory, as_user, SYSTEMS[system])
    assert_refused_or_documented(found)
    if system in ("namespaces and Landlock", "namespaces"):
        has_groups = os.geteuid() != 0 and {*os.getgroups()} - {os.getegid()} and len(as_user) == 1
        assert (found["ways"], found["changed"], found["warning"]) == ([], [], OF_GROUPS if has_groups else "")
    if system == "neither":
        assert {"write", "read_credentials"} <= {*found["ways"]}


@pytest.mark.parametrize("as_user", ["a user of other groups"], indirect=True)
@pytest.mark.parametrize("system", ["namespaces and Landlock", "Landlock"])
def test_groups_that_a_user_cannot_leave_are_reported(directory, system, as_user):
    needs(system)
    found = tried(directory, as_user, SYSTEMS[system])
    assert_refused_or_documented(found)
    assert OF_GROUPS in found["warning"].split("; ")


@users
def test_every_way_is_open_without_confinement(directory, as_user):
    """Else a way that is refused would prove nothing."""
    found = tried(directory, as_user, ["open"])
    wanted = {*ways.WAYS} - ways.OF_THE_MACHINE - NOT_EVERYWHERE
    wanted -= NEEDS_ROOT if len(as_user) > 1 or os.geteuid() else set()
    assert wanted - {*found["ways"]} == set()


def test_corpus_has_enough_ways():
    assert len(ways.WAYS) >= 120
    assert set().union(*DOCUMENTED.values()) <= {*ways.WAYS}


def test_every_warning_is_documented():
    page = (ROOT / "docs" / "check.md").read_text()
    warnings = {*unconfined({}).split("; "), *unconfined({"landlock": 1, "groups": 1}).split("; ")}
    assert len(warnings) > 10 and [text for text in warnings if text not in page] == []


def test_ways_out_of_a_container(engine, tmp_path):
    """As root and as another user, with what a container refuses."""
    tmp_path.chmod(0o777)
    for number, user in enumerate(("0", "54321")):
        place = tmp_path / user
        place.mkdir()
        place.chmod(0o777)
        done = engine.docker(
            *("run", "--rm", "--network=none", f"--user={user}", f"--volume={ROOT}:/smspec:ro"),
            *(f"--volume={place}:/world", "--env=PYTHONDONTWRITEBYTECODE=1"),
            "--env=PYTHONPATH=" + MODULES.replace(str(ROOT), "/smspec"),
            *("--entrypoint=/usr/bin/python3", engine.base, "/smspec/tests/support/confinement/world.py", "/world"),
        )
        found = json.loads(done.stdout.splitlines()[-1])
        assert found["ways"] is not None, found
        assert found["warning"], number
        assert_refused_or_documented(found)


def test_ways_out_of_smspec_check(tmp_path):
    """The whole command, whose script tries everything before its parser."""
    needs("namespaces")
    for name in ("world", "checked"):
        (tmp_path / name).mkdir()
    with world.World(tmp_path / "world") as around:
        checked = Checked(tmp_path / "checked")
        checked.spec()
        variables = json.dumps(json.dumps(around.places))
        script = f"import os\nos.environ['WORLD'] = {variables}\nfrom ways import WAYS, WORLD, tried\n"
        script += "WORLD['inside'] = os.environ['HOME']\n"
        script += "found = [name for name in WAYS if tried(name)]\nif found:\n    raise TypeError(found)\n"
        checked.job.write("src/train.py", f"{script}{PARSER}parser.parse_args()\n")
        world.copy_ways(checked.job.directory / "src")
        before = around.state()
        status, records, err = checked.check()
        after = around.state()
    assert (status, records) == (0, []), err
    assert "not confined" not in err
    assert [path for path in {*before, *after} if before.get(path) != after.get(path)] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests are of a user without rights")
def test_ways_out_of_smspec_check_as_an_ordinary_user():
    """The same test, with a world, a job, and a cache of that user."""
    with tempfile.TemporaryDirectory(prefix="smspec-ways-") as above:
        os.chown(above, USER, USER)
        words = [
            *AS_USER,
            readable_python(),
            "-m",
            *("pytest", "-q", "-p", "no:cacheprovider"),
            f"--basetemp={above}/tests",
        ]
        quiet = {"PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1"}  # the summary is read
        done = subprocess.run(
            [*words, f"{__file__}::test_ways_out_of_smspec_check"],
            env=os.environ | quiet | {"PYTHONPATH": modules(), "TMPDIR": above, "HOME": above},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=2 * DEADLINE,
        )
    if "1 skipped" in done.stdout:
        pytest.skip("that user has no namespaces")
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_check_warns_of_what_is_not_confined(tmp_path):
    needs("namespaces")
    tmp_path.chmod(0o755)
    checked = Checked(tmp_path)
    checked.spec()
    checked.job.write("src/train.py", f"{PARSER}parser.parse_args()\n")
    code = "import sys; from support.confinement import world; world.refuse(['namespaces']); "
    code += "from smspec.cli import main; sys.exit(main(['check']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checked.job.directory,
        env={**os.environ, **checked.environment, "PYTHONPATH": MODULES},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("not confined on this machine")] != []
    assert done.stderr.count("not confined") == 1


def test_script_can_use_what_is_its_own(tmp_path):
    """Files, children, sockets, and shared memory; it also ends by the signal that it gets."""
    needs("namespaces")
    box = tmp_path / "box"
    box.mkdir()
    sandbox = Sandbox(directory=str(box), seconds=60, places=world.places_of_python())
    words = [sys.executable, "-c", world.USES, str(os.getuid())]
    ended = sandbox.run(words, {"PATH": os.environ["PATH"]}, sandbox.directory)
    assert (ended.output.splitlines()[0], ended.status) == ("['0', '1', '2', '3']", 128 + signal.SIGABRT), ended
    assert Path(sandbox.directory, "relative").exists()
    assert not os.path.exists("/tmp/of-smspec-check")


def test_files_and_memory_have_a_limit(tmp_path):
    """A file has at most 1 GiB, and so has each directory in memory."""
    needs("namespaces")
    sandbox = Sandbox(directory=str(tmp_path), seconds=60, places=world.places_of_python())
    links = [sys.executable]  # from one to the next, to the Python
    while os.path.islink(links[-1]):
        links.append(os.path.join(os.path.dirname(links[-1]), os.readlink(links[-1])))
    code = "import os, sys\nwith open('file', 'wb') as file: os.truncate(file.fileno(), 1 << 30)\n"
    code += "for place in ('/tmp', '/var/tmp', '/dev/shm'):\n    room = os.statvfs(place)\n"
    code += "    assert room.f_blocks * room.f_frsize == 1 << 30, place\n"
    code += f"    shown = [os.getcwd(), sys.prefix, sys.base_prefix, *{links!r}]\n"
    code += "    assert any(path.startswith(f'{place}/') for path in shown) or not os.listdir(place), place\n"
    code += "try: os.truncate('file', (1 << 30) + 1)\nexcept OSError: print('refused')\n"
    ended = sandbox.run([sys.executable, "-c", code], {"PATH": os.environ["PATH"]}, sandbox.directory)
    assert (ended.status, ended.last_line) == (0, "refused"), ended


def test_processes_end_with_the_command(tmp_path):
    """Also a daemon in a session of its own."""
    box = tmp_path / "box"
    box.mkdir()
    sandbox = Sandbox(directory=str(box), seconds=60, places=world.places_of_python())
    code = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\n"
    code += "open('started', 'w').close()\ntime.sleep(600)\n"
    waiting = "import os, time\nwhile not os.path.exists('started'): time.sleep(0.01)\n"
    program = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {code!r}])\n{waiting}"
    ended = sandbox.run([sys.executable, "-c", program], {"MARK": str(box)}, sandbox.directory)
    assert ended.status == 0, ended
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            variables = Path("/proc", name, "environ").read_bytes()
        except OSError:
            continue
        assert f"MARK={box}".encode() not in variables


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files in /opt")
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_packages_of_root_in_a_private_directory_are_readable(tmp_path, mode):
    """They are places of the job, also where only root can enter; the files around them are not."""
    needs("namespaces")
    with tempfile.TemporaryDirectory(dir="/opt", prefix="smspec-") as above:
        package = Path(above, "environment", "package")
        package.mkdir(0o700, parents=True)
        for path in (Path(above, "key"), package / "module.py"):
            path.write_text("of root")
            path.chmod(0o600)
        os.chmod(above, mode)
        places = (*world.places_of_python(), str(package))
        sandbox = Sandbox(directory=str(tmp_path), seconds=60, places=places)
        code = f"for path in ({str(package / 'module.py')!r}, {above + '/key'!r}):\n"
        code += "    try: print(open(path).read())\n    except OSError: print('refused')\n"
        ended = sandbox.run([sys.executable, "-c", code], {"PATH": os.environ["PATH"]}, sandbox.directory)
    assert ended.output.splitlines() == ["of root", "refused"], ended


OVERLAYS = """
mount -t tmpfs none "$1" && cd "$1" && mkdir etc opt etc.work opt.work && (umask 077; echo key > opt/key) &&
for name in etc opt; do
    mount -t overlay -o "lowerdir=/$name,upperdir=$1/$name,workdir=$1/$name.work" none "/$name" || exit
done
shift && exec "$@"
"""


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="only root mounts, and with unshare")
def test_files_of_root_are_hidden_where_some_owners_are_mapped(tmp_path):
    """As with overlays on /etc of an immutable system: /usr is of another file system, which may map owners."""
    needs("namespaces")
    code = "for path in ('/etc/shadow', '/opt/key', '/etc/passwd'):\n"
    code += "    try: print(path, bool(open(path).read()))\n    except OSError: print(path, False)\n"
    program = f"import os, sys\nfrom smspec.proof.sandbox import Sandbox\nbox = Sandbox(directory={str(tmp_path)!r}, "
    program += f"seconds=60, places={world.places_of_python()!r})\n"
    program += f"print(box.run([sys.executable, '-c', {code!r}], {{}}, box.directory).output)\n"
    (tmp_path / "above").mkdir()
    words = ["unshare", "--mount", "sh", "-c", OVERLAYS, "sh", str(tmp_path / "above"), sys.executable, "-c", program]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": MODULES}, capture_output=True, text=True)
    if "mount: " in done.stderr:
        pytest.skip("no overlay of this file system")
    assert done.stdout.split("\n")[:3] == ["/etc/shadow False", "/opt/key False", "/etc/passwd True"], (
        done.stdout + done.stderr
    )


def test_first_process_of_a_namespace_cannot_be_stopped(tmp_path):
    """A command that traces it would last until the time limit, however soon it ends."""
    needs("namespaces")
    sandbox = Sandbox(directory=str(tmp_path), seconds=60, places=world.places_of_python())
    code = "import ctypes\nfor kind in (16, 0x4206): print(ctypes.CDLL(None).ptrace(kind, 1, None, None))\n"
    code += "try: open('/proc/1/environ', 'rb').read()\nexcept OSError: print('refused')\n"
    ended = sandbox.run([sys.executable, "-c", code], {"PATH": os.environ["PATH"]}, sandbox.directory)
    assert (ended.is_late, ended.status, ended.output.split()) == (False, 0, ["-1", "-1", "refused"]), ended


def test_earlier_command_cannot_loosen_the_next(tmp_path):
    """A working directory that leads out, a mount point in the way, and a name where smspec writes."""
    needs("namespaces")
    box, outside = tmp_path / "box", tmp_path / "outside"
    for path in (box, outside, box / "code"):
        path.mkdir()
    sandbox = Sandbox(directory=str(box), seconds=60, places=world.places_of_python())
    variables = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(outside)}
    code = f"import os; os.rmdir('code'); os.symlink({str(outside)!r}, 'code'); os.mkfifo('confinement.json')"
    assert sandbox.run([sys.executable, "-c", code], variables, sandbox.directory).status == 0
    code = f"import os; print(os.path.exists({str(outside)!r}), os.getcwd() == {str(box)!r})"
    ended = sandbox.run([sys.executable, "-c", code], variables, str(box / "code"))
    assert (ended.status, ended.last_line) == (0, "False True")

"""Places of this machine that installed packages name, in runs and checks as root and as an ordinary user."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from smspec.local.engines.namespace.machine_paths import special_files
from smspec.source.real_file import remove_tree
from support.forked_command import start_command
from support.local.local_jobs import DEADLINE, IMAGE, LocalJob, script
from support.local.ordinary_user import OrdinaryJob, modules
from support.sampled_cases import left_out
from support.wheels import write_wheel

pytestmark = pytest.mark.needs_namespaces

TRYING = """
import json, os, socket, sys
facts = json.loads('FACTS')
found = []
for path in facts["secrets"]:
    try:
        with open(path) as file:
            found.append([path, file.read()])
    except OSError:
        pass
for path in facts["sockets"]:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
            found.append([path, "connected"])
        except OSError:
            pass
if facts["imported"]:
    import flat_module, nested_module
if found:
    raise SystemExit(f"found {found}")
print("FOUND NOTHING", flush=True)
"""
PARSER = "import argparse\nargparse.ArgumentParser().parse_args()\n"


class Machine:
    """An author with secrets, sockets, Python projects, and an environment, in a directory for every user."""

    def __init__(self, directory: Path, kind: type[LocalJob], opened: ExitStack) -> None:
        self.directory = directory
        self.job = kind(directory / "job", engine="namespace")
        self.secrets = []
        for name in ("secret/id", "home/id", "home/.ssh/id", "home/.ssh/pyproject.toml", "home/other/id", "id"):
            self._write(name, "of the author")
        for name in ("flat", "nested", "listening"):
            self._write(f"home/{name}/pyproject.toml", "")
        self._write("home/flat/flat_module.py", "")
        self._write("home/nested/src/nested_module.py", "")
        (directory / "linked").symlink_to(directory / "secret")
        self.python = directory / "environment/bin/python"
        words = [*self.job.words()[: self.job.words().index("-m")], "-m", "venv", "--without-pip"]
        os.chmod(directory, 0o777)
        subprocess.run([*words, str(directory / "environment")], check=True)
        os.chmod(directory, 0o755)
        self.sockets = []
        for name in ("secret/socket", "home/socket", "home/listening/deep/socket", "environment/share/socket"):
            place = directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            server = opened.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(str(place))
            server.listen()
            os.chmod(place, 0o777)
            self.sockets.append(str(place))

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if name.endswith("id"):
            self.secrets.append(str(path))

    @property
    def named(self) -> list[str]:
        at = str(self.directory)
        own = [
            f"{at}/{name}" for name in ("secret", "linked", "home", "home/.ssh", "home/listening", "job/../secret", "")
        ]
        return [*own, "/", "//", "/run", "/var/run", "/home", "/root", "/dev", "/proc", "/proc/1/root", "/sys", "/tmp"]

    def environment(self) -> dict[str, str]:
        cache = {"SMSPEC_CACHE_DIR": str(self.directory / "job/cache"), "UV_CACHE_DIR": str(self.directory / "job/uv")}
        index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.directory / "job/wheels")}
        return {"HOME": str(self.directory / "home"), **cache, **index}

    def spec(self, *, imported: bool, more: str = "") -> None:
        facts = {"secrets": self.secrets, "sockets": self.sockets, "imported": imported}
        script(self.job, TRYING.replace("FACTS", json.dumps(facts)) + PARSER, more)

    def ended(self, command: str, *options: str) -> subprocess.CompletedProcess[str]:
        if isinstance(self.job, OrdinaryJob):
            subprocess.run(["chown", "-R", "-h", "54321:54321", str(self.directory)], check=True)
        if command == "run":
            return self.job.run(self.environment(), **({"python": options[1]} if options else {}))
        words = self.job.words()
        words = [*words[: words.index("run")], "check", *options]
        own = {"PYTHONPATH": modules()} if isinstance(self.job, OrdinaryJob) else {}
        start = words.index("-m")
        process = start_command(
            words[start + 2 :],
            python=words[:start],
            cwd=self.job.directory,
            env={**os.environ, **self.environment(), **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        streams = process.communicate(timeout=DEADLINE)
        return subprocess.CompletedProcess(words, process.returncode, *streams)


@pytest.fixture(params=[LocalJob, OrdinaryJob], ids=["root", "user"])
def machine(request):
    kind = request.param
    if kind is OrdinaryJob and os.geteuid() != 0:
        pytest.skip("the other tests are of a user without rights")
    with tempfile.TemporaryDirectory(prefix="smspec-named-") as directory, ExitStack() as opened:
        os.chmod(directory, 0o755)
        yield Machine(Path(os.path.realpath(directory)), kind, opened)


def origin(place: str) -> bytes:
    return json.dumps({"url": f"file://{place}", "dir_info": {"editable": True}}).encode()


@pytest.mark.parametrize("command", ["run", "check"])
def test_installed_package_names_no_places(machine, command):
    """Its wheel puts what an author's own installer writes everywhere that a wheel can."""
    files = {"ctr_model.py": b""}
    for number, place in enumerate(machine.named):
        files["ctr_model-1.0.dist-info/direct_url.json"] = origin(machine.named[0])
        for above in ("data", "platlib", "scripts"):
            files[f"ctr_model-1.0.data/{above}/zz{number}-1.dist-info/direct_url.json"] = origin(place)
        files[f"zz{number}.pth"] = f"{place}\n".encode()
        files[f"zz{number}.egg-link"] = f"{place}\n.\n".encode()
    files["ctr_model-1.0.data/data/pyvenv.cfg"] = f"home = {machine.named[0]}\n".encode()
    (machine.job.directory / "wheels").mkdir()
    write_wheel(machine.job.directory / "wheels", files)
    machine.spec(imported=False, more=f'image: {{base: "{IMAGE}", python_packages: [ctr-model]}}\n')
    ended = machine.ended(command)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "found [" not in ended.stdout + ended.stderr
    assert command == "check" or "FOUND NOTHING" in machine.job.log()


SAMPLE = (("run", "absolute"), ("check", "relative"))
"""Of root; a user has the others. So each command meets both kinds of path and both users."""

LISTENING = """
import os, socket, sys, time
for path in sys.argv[2:]:
    os.chdir(os.path.dirname(path))
    server = socket.socket(socket.AF_UNIX)
    server.bind(path if sys.argv[1] == "absolute" else os.path.basename(path))
    server.listen()
    os.chmod(path, 0o777)
    globals().setdefault("kept", []).append(server)
print("listening", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write to directories of the system")
@pytest.mark.parametrize(
    ("machine", "command", "kind"),
    [
        (user, command, kind) if (user is LocalJob) == ((command, kind) in SAMPLE) else left_out(user, command, kind)
        for user in (LocalJob, OrdinaryJob)
        for command in ("run", "check")
        for kind in ("absolute", "relative")
    ],
    indirect=["machine"],
)
def test_sockets_in_directories_of_the_system_are_hidden(machine, command, kind):
    """The kernel lists neither those of other network namespaces nor where relative paths lead."""
    with ExitStack() as opened:
        for above in ("/etc", "/opt", "/usr/local"):
            place = opened.enter_context(tempfile.TemporaryDirectory(prefix="smspec-named-", dir=above))
            os.makedirs(f"{place}/deep/er")
            for path in (place, f"{place}/deep", f"{place}/deep/er"):
                os.chmod(path, 0o755)
            machine.sockets += [f"{place}/socket", f"{place}/deep/er/socket"]
        in_system = [path for path in machine.sockets if not path.startswith(str(machine.directory))]
        alone = ["unshare", "--net"] if kind == "absolute" else []
        server = subprocess.Popen(
            [*alone, sys.executable, "-c", LISTENING, kind, *in_system], stdout=subprocess.PIPE, text=True
        )
        opened.callback(server.wait)
        opened.callback(server.kill)
        assert server.stdout is not None and server.stdout.readline() == "listening\n"
        machine.spec(imported=False)
        ended = machine.ended(command)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "found [" not in ended.stdout + ended.stderr
    assert command == "check" or "FOUND NOTHING" in machine.job.log()


def test_search_for_sockets_is_bounded(tmp_path):
    """Beyond, the directory that has more is named; what is near the top is found first."""
    for above in ("many", "few"):
        for number in range(20):
            (tmp_path / above / str(number) / "deep").mkdir(parents=True)
    os.mkfifo(tmp_path / "many/pipe")
    os.mkfifo(tmp_path / "few/19/deep/pipe")
    tops = [str(tmp_path / "many"), str(tmp_path / "few")]
    assert special_files(tops) == ([f"{tops[0]}/pipe", f"{tops[1]}/19/deep/pipe"], [])
    here = os.open(tops[0], os.O_RDONLY)
    for _ in range(20):  # longer than the system takes: a host goes there step by step
        os.mkdir("d" * 240, dir_fd=here)
        here = os.open("d" * 240, os.O_RDONLY, dir_fd=here)
    assert special_files(tops) == ([f"{tops[0]}/pipe", f"{tops[1]}/19/deep/pipe"], [tops[0]])
    remove_tree(f"{tops[0]}/{'d' * 240}")
    assert special_files(tops, 82) == ([f"{tops[0]}/pipe", f"{tops[1]}/19/deep/pipe"], [])
    assert special_files(tops, 60) == ([f"{tops[0]}/pipe"], sorted(tops))
    assert special_files([*tops, "/missing"], 10) == ([f"{tops[0]}/pipe"], sorted([*tops, "/missing"]))


@pytest.mark.parametrize("command", ["run", "check"])
def test_environment_of_the_author_names_only_projects(machine, command):
    """Editable installs work, by a line of a `.pth` file and by PEP 610; what else packages name is not seen."""
    (packages,) = machine.directory.glob("environment/lib/python*/site-packages")
    projects = [str(machine.directory / "home/flat"), str(machine.directory / "home/nested")]
    for number, place in enumerate([*projects, *machine.named]):
        for above in (packages, machine.directory / "environment"):
            info = above / f"zz{number}-1.dist-info"
            info.mkdir()
            (info / "direct_url.json").write_bytes(origin(place))
        (packages / f"zz{number}.pth").write_text(f"{place}/src\n" if place == projects[1] else f"{place}\n")
        (packages / f"zz{number}.egg-link").write_text(f"{place}\n.\n")
    (packages / "linked").symlink_to(machine.directory / "secret")
    machine.spec(imported=True)
    ended = machine.ended(command, "--python", str(machine.python))
    assert ended.returncode == 0, ended.stderr + ended.stdout
    assert "found [" not in ended.stdout + ended.stderr
    if command == "run":
        assert "FOUND NOTHING" in machine.job.log()
        shown = [line for line in ended.stderr.splitlines() if "different from SageMaker: hosts do not see `" in line]
        assert [line for line in shown if str(machine.directory / "secret") + "`" in line], ended.stderr
        assert [line for line in shown if projects[0] in line or projects[1] in line] == []
